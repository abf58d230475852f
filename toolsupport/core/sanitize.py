"""Finds what databases and sockets reject: NUL and unpaired surrogates in a text, and numbers that JSON has not."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import orjson

UNTAKEN = re.compile("[\0\ud800-\udfff]")


def replaced(value: Any) -> Any:
    """Replace each of them by U+FFFD in a text, or in the texts of lists and mappings; return others unchanged."""
    return _with_texts(value, text)


def is_storable(value: Any) -> bool:
    """Return whether no text in a JSON value holds one of them."""
    return bool(replaced(value) == value)


def joined(value: Any) -> Any:
    """Return the same value with the two halves of a surrogate pair joined into one character."""
    if isinstance(value, dict | list) and not _holds_halves(value):
        return value
    return _with_texts(value, _joined_text)


def _holds_halves(value: Any) -> bool:
    """Return whether a JSON value may hold halves of characters: orjson refuses to write them, in no time."""
    try:
        orjson.dumps(value)
    except orjson.JSONEncodeError:
        return True
    return False


def _with_texts(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {_with_texts(key, change): _with_texts(inner, change) for key, inner in value.items()}
    return [_with_texts(inner, change) for inner in value] if isinstance(value, list) else value


def _joined_text(value: str) -> str:
    if UNTAKEN.search(value) is None:
        return value
    return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def complaint(arguments: Any) -> str:
    """Return the error for a call whose arguments contain such a character, NaN or an infinity, "" if none does.

    It is not replaced: then another call would run than the model requested.
    """
    waiting: list[tuple[str, Any]] = [("", arguments)]
    while waiting:
        key, value = waiting.pop()
        found = UNTAKEN.search(value) if isinstance(value, str) else None
        if found:
            return _sentence(key, found)
        if isinstance(value, float) and not math.isfinite(value):
            return f"the argument {key!r} holds {value}, a number that JSON has not: send another one, or a text"
        if isinstance(value, dict):
            waiting += [(key, name) for name in value]
            waiting += [(key or text(name), inner) for name, inner in value.items()]
        elif isinstance(value, list):
            waiting += [(key, inner) for inner in value]
    return ""


def _sentence(key: str, found: re.Match[str]) -> str:
    code = f"U+{ord(found.group()):04X}"
    name = f"a NUL character ({code})" if found.group() == "\0" else f"half of a character (the surrogate {code})"
    place = f"the argument {key!r}" if key else "the name of an argument"
    return f"{place} holds {name}, which cannot be stored: leave it out"


def text(value: str) -> str:
    """Replace them in one text; two halves that belong together become their character."""
    # Of most texts this is known without looking at each character.
    if (value.isascii() and "\0" not in value) or UNTAKEN.search(value) is None:
        return value
    return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").replace("\0", "\ufffd")
