"""Writes Python programs that serve a request with the tools as functions."""

from __future__ import annotations

import re

from toolsupport.simulator.rules import text_entities

ASKED = r"\b(?:with|in|using|use|by|through)\s+(?:a\s+)?python\b|\b(?:sum|add up|total)\b.*\bcolumn\b"
COLUMN = re.compile(
    r"\b(?:sum|add up|total)(?: up)?\s+(?:of\s+)?(?:the\s+)?(?:column\s+)?[`\"']?(?P<name>\w[\w -]{0,40}?)[`\"']?"
    r"(?:\s+column)?\s+(?:of|in|from)\s",
    re.IGNORECASE,
)
SUM = """import csv

rows = csv.DictReader(read_file({path!r}).splitlines())
total = sum(float(row[{column!r}]) for row in rows)
print(int(total) if total == int(total) else total)"""
WRITE = "print(write_file({path!r}, {content!r}))"
READ = "print(read_file({path!r}))"
LIST = "print(list_directory('.'))"


def values(clause: str) -> dict[str, str] | None:
    """Return the program for a clause, with its subject; None if no known program fits."""
    paths = text_entities.files(clause)
    column = COLUMN.search(clause)
    if column and paths:
        found = {"path": paths[-1], "column": column["name"]}
        return found | {"code": SUM.format(**found)}
    if paths and re.search(r"\b(?:write|save|put|store)\b", clause, re.IGNORECASE):
        quoted = [text for text in text_entities.quotations(clause) if text != paths[-1]]
        found = {"path": paths[-1], "content": quoted[0] if quoted else ""}
        return found | {"code": WRITE.format(**found)}
    if paths:
        return {"path": paths[-1], "code": READ.format(path=paths[-1])}
    return {"code": LIST} if re.search(r"\b(?:folder|directory|files)\b", clause, re.IGNORECASE) else None
