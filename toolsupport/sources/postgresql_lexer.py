"""Finds the names in a statement by PostgreSQL's lexical rules, so that no spelling hides a function from its check."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from toolsupport.sources.types import SourceError

LONGEST_NAME = 63  # bytes; PostgreSQL cuts longer ones
# Every character beyond ASCII is a letter for PostgreSQL, so `€$$` is a name and begins no text.
# Alternatives begin with different characters and repeat single characters, so that matching takes linear time.
TOKEN = re.compile(
    r"""
    (?P<space>[ \t\n\r\f\v]+|--[^\n\r]*)
    |(?P<comment>/\*)
    |(?P<unicode>[uU]&["'])
    |(?P<escaped>[eE]'(?:[^'\\]|\\.|'')*')
    |(?P<text>'(?:[^']|'')*')
    |(?P<dollar>\$(?:[A-Za-z_\x80-\U0010ffff][A-Za-z0-9_\x80-\U0010ffff]*)?\$)
    |(?P<quoted>"(?:[^"]|"")*")
    |(?P<name>[A-Za-z_\x80-\U0010ffff][A-Za-z0-9_$\x80-\U0010ffff]*)
    |(?P<other>[0-9]+|.)
    """,
    re.VERBOSE | re.DOTALL,
)
COMMENT_MARK = re.compile(r"/\*|\*/")
# PostgreSQL continues a string in the next line, with the rules of its first piece.
CONTINUED = re.compile(r"(?:\s|--[^\n\r]*)*'")


@dataclass(frozen=True, slots=True)
class Name:
    """A name as PostgreSQL reads it. `called`: a parenthesis follows, as after every function that is called."""

    text: str
    called: bool


def names(statement: str) -> list[Name]:
    """Return every name and keyword. Raises SourceError for spellings that are refused."""
    found: list[Name] = []
    pending = ""
    for kind, text in _tokens(statement):
        if pending:
            found.append(Name(pending, called=text == "("))
        pending = _read(kind, text)
    return [*found, Name(pending, called=False)] if pending else found


def _read(kind: str, text: str) -> str:
    """Return the name that a token stands for, "" if it is none."""
    if kind == "quoted":
        return _cut(text[1:-1].replace('""', '"'))
    # Upper and lower case are the same outside quotes.
    return _cut(text.lower()) if kind == "name" else ""


def _cut(name: str) -> str:
    return name.encode()[:LONGEST_NAME].decode(errors="ignore")


def _tokens(statement: str) -> Iterator[tuple[str, str]]:
    """Yield (kind, text) of what is neither space nor comment."""
    place = 0
    while found := TOKEN.match(statement, place):
        kind, place = str(found.lastgroup), found.end()
        if kind == "unicode":
            raise SourceError("Names and texts with Unicode escapes (U&) are refused: write the characters themselves.")
        if kind == "escaped" and CONTINUED.match(statement, place):
            raise SourceError("Write a text with escapes (E'…') in one piece.")
        if kind == "comment":
            place = _end_of_comment(statement, place)
        elif kind == "dollar":
            place = _end_of_text(statement, place, found[0])
        if kind not in ("space", "comment"):
            yield kind, found[0]


def _end_of_comment(statement: str, place: int) -> int:
    """Comments contain comments."""
    depth = 1
    for mark in COMMENT_MARK.finditer(statement, place):
        depth += 1 if mark[0] == "/*" else -1
        if not depth:
            return mark.end()
    raise SourceError("A comment in the query does not end.")


def _end_of_text(statement: str, place: int, mark: str) -> int:
    end = statement.find(mark, place)
    if end < 0:
        raise SourceError("A text in the query does not end.")
    return end + len(mark)
