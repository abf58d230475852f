"""Converts a program's values to JSON, bounded: they can be endless, deep or shared a billion times."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from toolsupport.core import sanitize

DEPTH = 64
PARTS = 20_000
CHARACTERS = 1024 * 1024
# The range that programs of other projects can read as a number.
LARGEST = 2**63 - 1
SHOWN_CHARACTERS = 1000


class UnsupportedValue(ValueError):
    """A value that cannot leave the program, with the reason."""


def plain(value: object) -> Any:
    """Return a copy of JSON types only (tuples become lists). Raises UnsupportedValue for others, and for too much."""
    return _PlainCopy(strict=True).of(value, DEPTH)


def readable_copy(value: object) -> Any:
    """Return a copy for reading: other types are shown as Python's repr. Raises UnsupportedValue for too much."""
    return _PlainCopy(strict=False).of(value, DEPTH)


class _PlainCopy:
    """One copy, with its remaining budget of parts and characters."""

    def __init__(self, strict: bool) -> None:
        self._strict = strict
        self._parts, self._characters = PARTS, CHARACTERS

    def of(self, value: object, depth: int) -> Any:
        self._parts -= 1
        if self._parts < 0:
            raise UnsupportedValue(f"it has more than {PARTS:,} parts")
        if depth < 0:
            raise UnsupportedValue(f"it is nested more than {DEPTH} levels deep")
        copy: Copier = KINDS.get(type(value), _PlainCopy._other)
        return copy(self, value, depth)

    def _same(self, value: object, _: int) -> object:
        return value

    def _whole(self, value: int, _: int) -> object:
        if abs(value) <= LARGEST:
            return value
        if self._strict:
            raise UnsupportedValue("a whole number in it has more than 63 bits: pass it as text")
        # Python itself refuses to write out the longest ones.
        return self._text(str(value), 0) if value.bit_length() < 10_000 else f"a number of {value.bit_length():,} bits"

    def _real(self, value: float, _: int) -> object:
        if math.isfinite(value):
            return value
        if self._strict:
            raise UnsupportedValue(f"JSON has no {value}")
        return str(value)

    def _text(self, value: str, _: int) -> str:
        self._characters -= len(value)
        if self._characters < 0:
            raise UnsupportedValue(f"it has more than {CHARACTERS:,} characters")
        if self._strict and sanitize.UNTAKEN.search(value):
            raise UnsupportedValue(
                "a text in it has a NUL character (U+0000) or half of a character, which cannot be stored: omit it"
            )
        return sanitize.text(value)

    def _list(self, value: list[object] | tuple[object, ...], depth: int) -> list[Any]:
        return [self.of(one, depth - 1) for one in value]

    def _mapping(self, value: dict[object, object], depth: int) -> dict[str, Any]:
        return {self._key(key, depth - 1): self.of(one, depth - 1) for key, one in value.items()}

    def _key(self, key: object, depth: int) -> str:
        if isinstance(key, str):
            return self._text(key, 0)
        if self._strict:
            raise UnsupportedValue(f"a key in it is {_kind(key)}: keys must be text")
        found = self.of(key, depth)
        return found if isinstance(found, str) else str(found)

    def _other(self, value: object, depth: int) -> Any:
        if self._strict:
            raise UnsupportedValue(f"{_kind(value)} is not JSON: pass text, numbers, True, False, None, lists or dicts")
        if isinstance(value, set | frozenset):
            return self._list(list(value), depth)
        return self._text(str(value)[:SHOWN_CHARACTERS], 0)


Copier = Callable[[_PlainCopy, Any, int], Any]
KINDS: Mapping[type, Copier] = MappingProxyType(
    {
        type(None): _PlainCopy._same,
        bool: _PlainCopy._same,
        int: _PlainCopy._whole,
        float: _PlainCopy._real,
        str: _PlainCopy._text,
        list: _PlainCopy._list,
        tuple: _PlainCopy._list,
        dict: _PlainCopy._mapping,
    }
)


def _kind(value: object) -> str:
    return f"a value of type {type(value).__name__}"
