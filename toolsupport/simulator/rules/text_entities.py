"""Finds paths, quotations and topics in a person's text."""

from __future__ import annotations

import re

QUOTED = re.compile(r"`([^`\n]+)`|\"([^\"\n]+)\"|“([^”\n]+)”|(?<!\w)'([^'\n]+)'(?!\w)")
FILE = re.compile(
    r"(?<![\w@:])(?:[\w.~-]{0,80}/){0,20}(?:[\w-][\w.-]*\.[a-z][a-z0-9]{0,7}|\.[a-z][\w.-]+"
    r"|README|LICENSE|CHANGELOG|Makefile|Dockerfile)(?![\w/])",
    re.IGNORECASE,
)
ENDING = re.compile(r"\.[a-z][a-z0-9]{0,7}$", re.IGNORECASE)
FOLDER = re.compile(r"(?<![\w:])(?:\.{1,2}/[\w./-]*|[\w.-]+/(?:[\w.-]+/)*|/[\w./-]*)(?!\w)")
NAMED_FOLDER = re.compile(
    r"\b(?:in|of|inside|under|list|ls|dir)\s+(?:-\w+\s+)?(?:the\s+)?(?!the\s)(?P<a>[\w.-]+)\s+(?:folder|directory|dir)\b"
    r"|\b(?:folder|directory)\s+(?:called|named)?\s*(?P<b>[\w.-]+)"
    r"|^\s*(?:ls|dir)\s+(?:-\w+\s+)*(?P<c>[\w./-]+)\s*$"
    r"|\b(?:in|of|inside|under)\s+(?P<d>[\w.-]+)\s*[?.!]*\s*$",
    re.IGNORECASE,
)
# Words in the place of a folder's name that mean the current folder, or no folder.
HERE = {"this", "the", "my", "current", "working", "your", "that", "here", "workspace", "project", "a", "it", "there"}
HERE |= {"files", "contains", "contents", "have", "has", "hold", "holds", "is", "and", "please", "which", "root", "me"}

TOPICS = (
    re.compile(
        r"\b(?:tell me|what(?:'s| is| are)|give me|find|say|report|extract|return|get|which)\s+"
        r"(?:me\s+)?(?:what\s+)?(?:the|its|their)\s+(?P<topic>[\w -]{2,40}?)"
        r"(?:\s+(?:is|are|of|in|from|it|inside|says?)\b.*)?\s*[?.!]*\s*$",
        re.IGNORECASE,
    ),
    re.compile(r"\b(?:which|what)\s+(?P<topic>[\w-]{2,40})\s+(?:does|do|has|is)\b", re.IGNORECASE),
)
DULL = {"file", "folder", "directory", "content", "contents", "result", "output", "text", "files"}


def quotations(text: str) -> list[str]:
    """Return the texts in quotes or backticks, in order."""
    return [quoted for quoted in ("".join(match.groups("")).strip() for match in QUOTED.finditer(text)) if quoted]


RUN = re.compile(
    r"\b(?:run|execute)\s+(?:the\s+command\s+)?(?P<what>\S.*?)"
    r"(?:\s+(?:with|in|using|through)\s+(?:the\s+|a\s+)?(?:bash|shell|sh|terminal))?[.?!]*$",
    re.IGNORECASE,
)
TESTS = re.compile(r"(?:all\s+)?(?:the\s+|my\s+|its\s+)?(?:unit\s+)?tests?", re.IGNORECASE)


def command(text: str) -> str:
    """Return the shell command in a text, quoted or not; "" if there is none. "Tests" means Python's."""
    quoted, response = quotations(text), RUN.search(text.strip())
    what = response.group("what").removeprefix("the ") if response else ""
    return quoted[0] if quoted else "python3 -m unittest discover -v" if TESTS.fullmatch(what) else what


def files(text: str) -> list[str]:
    """Return everything that looks like a file path: with an extension, or a well-known name."""
    quoted = [part for part in quotations(text) if ENDING.search(part) or FILE.fullmatch(part)]
    bare = [match.group().rstrip(".") for match in FILE.finditer(QUOTED.sub(" ", text))]
    return quoted + bare


def folder(text: str) -> str:
    """Return the folder in a text; "." if none is named."""
    quoted = next((part for part in quotations(text) if re.fullmatch(r"[\w./ -]+", part)), "")
    path = FOLDER.search(text)
    named = NAMED_FOLDER.search(text)
    name = next(filter(None, named.groups()), "") if named else ""
    plain = "" if name.lower() in HERE else name.rstrip(".")
    return quoted or (path.group() if path else "") or plain or "."


def topic(text: str) -> str:
    """Return the topic of a question: "version" for `tell me the version`; "" if there is none."""
    match = next(filter(None, (pattern.search(text) for pattern in TOPICS)), None)
    words = match.group("topic").strip() if match else ""
    return "" if words.lower() in DULL else words
