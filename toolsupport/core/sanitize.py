"""Finds or replaces what no database and no socket takes in a text: NUL, and halves of characters."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

UNTAKEN = re.compile("[\0\ud800-\udfff]")


def replaced(value: Any) -> Any:
    """A text, or texts in lists and mappings, with U+FFFD for each of them; anything else as it is."""
    return _with_texts(value, text)


def joined(value: Any) -> Any:
    """The same value; two halves of a character that belong together become that character."""
    return _with_texts(value, _joined_text)


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
    """What is wrong with the arguments of a call that hold such a character, "" where none does.

    To replace it would be to run something else than what was asked for.
    """
    waiting: list[tuple[str, Any]] = [("", arguments)]
    while waiting:
        key, value = waiting.pop()
        found = UNTAKEN.search(value) if isinstance(value, str) else None
        if found:
            return _sentence(key, found)
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
    return f"{place} holds {name}, which cannot be kept: leave it out"


def text(value: str) -> str:
    """The same for a text; two halves that belong together become their character."""
    if UNTAKEN.search(value) is None:
        return value
    return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").replace("\0", "\ufffd")
