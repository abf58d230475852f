"""Takes the words out of an error body, however many envelopes they were put in.

A server's error may be JSON in a string in JSON, a top-level array, an SSE or NDJSON line, a Python repr, HTML or plain
text. Only fields that a server writes for people are read: what it echoes of the request (`input`,
`failed_generation`, `url` …) is never entered, since a user could have put any phrase there.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

LONGEST = 65_536
LONGEST_REPR = 8_192
DEEPEST = 8

# Keys whose values are written for people, or hold something that is; in the order in which they are read.
WORDS = ("error", "errors", "message", "detail", "msg", "metadata", "raw", "data")
CODES = ("code", "status_code", "status", "type")
TAGS = re.compile(r"<(script|style)\b.*?</\1\s*>|<[^>]*>", re.S | re.I)


@dataclass(frozen=True, slots=True)
class Envelope:
    """`texts` are the innermost words in order, `codes` the codes and types around them (as text, lower case)."""

    texts: tuple[str, ...]
    codes: frozenset[str]

    @property
    def message(self) -> str:
        """One line for people, at most 500 characters, "" where the server said nothing."""
        unique = dict.fromkeys(" ".join(text.split()) for text in self.texts)
        return "; ".join(text for text in unique if text)[:500]


def unwrap(body: str) -> Envelope:
    """The words and codes of an error body."""
    codes: set[str] = set()
    texts = list(_body(body[:LONGEST].strip(), codes))
    return Envelope(tuple(texts), frozenset(codes))


def _body(text: str, codes: set[str]) -> Iterator[str]:
    found, value = _read_json(text)
    if found:
        yield from _walk(value, codes, 0)
        return
    lines = [line.removeprefix("data:").strip() for line in text.splitlines()]
    read = [_read_json(line) for line in lines if line[:1] in ("{", "[")]
    if read and all(found for found, _ in read):
        for _, value in read:
            yield from _walk(value, codes, 0)
    elif text:
        yield from _text(TAGS.sub(" ", text) if text.startswith("<") else text, codes, 0)


def _walk(value: Any, codes: set[str], depth: int) -> Iterator[str]:
    if depth > DEEPEST:
        return
    if isinstance(value, str):
        yield from _text(value, codes, depth + 1)
    elif isinstance(value, list | tuple):
        for entry in value[:20]:
            yield from _walk(entry, codes, depth + 1)
    elif isinstance(value, dict):
        yield from _object(value, codes, depth)


def _object(value: dict[Any, Any], codes: set[str], depth: int) -> Iterator[str]:
    codes.update(str(value[key]).lower() for key in CODES if isinstance(value.get(key), str | int))
    if "loc" in value and "msg" in value:  # one complaint of a validator: where is as telling as what
        yield f"{_place(value['loc'])}: {value['msg']}"
        return
    for key in WORDS:
        if value.get(key):
            yield from _walk(value[key], codes, depth + 1)
    for key, told in value.items():  # {"error parsing tool call": "…"}: the key itself is the message
        if isinstance(key, str) and key.startswith("error ") and isinstance(told, str):
            yield f"{key}: {told}"


def _place(loc: Any) -> str:
    return ".".join(str(part) for part in loc) if isinstance(loc, list | tuple) else str(loc)


def _text(text: str, codes: set[str], depth: int) -> Iterator[str]:
    """The words inside the first JSON object or Python repr of a text; the text itself where that holds none."""
    inner = list(_nested(text, codes, depth)) if depth < DEEPEST else []
    yield from inner or [text]


def _nested(text: str, codes: set[str], depth: int) -> Iterator[str]:
    opened = re.search(r"[\[{]\s*[\"'{]", text)
    if opened is None:
        return
    for read in READERS:
        found, value = read(text[opened.start() :])
        if found and not isinstance(value, str):
            yield from _walk(value, codes, depth + 1)
            return


def _read_json(text: str) -> tuple[bool, Any]:
    try:
        return True, json.loads(text)
    except (ValueError, RecursionError):
        return False, None


def _read_json_prefix(text: str) -> tuple[bool, Any]:
    try:
        return True, json.JSONDecoder().raw_decode(text)[0]
    except (ValueError, RecursionError):
        return False, None


def _read_repr(text: str) -> tuple[bool, Any]:
    end = max(text.rfind("}"), text.rfind("]")) + 1
    if not 0 < end <= LONGEST_REPR:
        return False, None
    try:
        return True, ast.literal_eval(text[:end])
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return False, None


READERS: tuple[Callable[[str], tuple[bool, Any]], ...] = (_read_json_prefix, _read_repr)
