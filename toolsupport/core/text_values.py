"""Reads a text as a value of one of several types, if only one reading is possible."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from toolsupport.core.json_repair import read_json

INTEGER = re.compile(r"[+-]?\d{1,400}\Z")
NUMBER = re.compile(r"[+-]?(?:\d{1,400}(?:\.\d{0,400})?|\.\d{1,400})(?:[eE][+-]?\d{1,3})?\Z")
BOOLEANS = {"true": True, "false": False}
NOTHING = frozenset({"null", "none"})
# The order in which the types of a schema are tried on a text: the most specific first.
ORDER = ("null", "boolean", "integer", "number", "array", "object", "string")
_NO = object()


def from_text(text: str, allowed: frozenset[str]) -> Any:
    """Parse a string as one of the allowed types; return it unchanged if it is none of them.

    Where a string is allowed too, only what is written as JSON or Python writes it is another type: `007` and `1.10`
    are no numbers then, and `none` is a word.
    """
    for kind in ORDER:
        if kind in allowed:
            value = READINGS[kind](text)
            if value is not _NO and not ("string" in allowed and kind in WRITTEN and not WRITTEN[kind](text.strip())):
                return value
    return text


def _is_canonical(text: str) -> bool:
    try:
        return json.dumps(json.loads(text)) == text
    except ValueError:
        return False


WRITTEN: Mapping[str, Callable[[str], bool]] = {
    "null": lambda text: text in ("null", "None"),
    "boolean": lambda text: text in ("true", "false", "True", "False"),
    "integer": _is_canonical,
    "number": _is_canonical,
}


def _null(text: str) -> Any:
    return None if text.strip().lower() in NOTHING else _NO


def _boolean(text: str) -> Any:
    return BOOLEANS.get(text.strip().lower(), _NO)


def _integer(text: str) -> Any:
    text = text.strip()
    if INTEGER.match(text):
        return int(text)
    number = _number(text)
    return int(number) if isinstance(number, float) and number.is_integer() and abs(number) < 2**53 else _NO


def _number(text: str) -> Any:
    text = text.strip()
    if INTEGER.match(text):
        return int(text)
    value = float(text) if NUMBER.match(text) else float("inf")
    return value if abs(value) != float("inf") else _NO


def _json_of(kind: type) -> Callable[[str], Any]:
    def read(text: str) -> Any:
        text = text.strip()
        value = read_json(text) if text[:1] == ("{" if kind is dict else "[") else None
        return value.value if value and isinstance(value.value, kind) else _NO

    return read


READINGS: Mapping[str, Callable[[str], Any]] = {
    "null": _null,
    "boolean": _boolean,
    "integer": _integer,
    "number": _number,
    "array": _json_of(list),
    "object": _json_of(dict),
    "string": str,
}
