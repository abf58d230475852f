"""Reads JSON from outside, and rejects text that JSON readers interpret differently."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import orjson

SMALLEST, LARGEST = -(2**63), 2**64 - 1
# A number this long may be too wide: only then each whole number is looked at, which takes as long as all the rest.
# Objects and lists of one text, and values: the collector of garbage stops every thread while it looks at them.
MOST_CONTAINERS, MOST_VALUES = 200_000, 600_000
# A string, also one without an end: what begins one is then read once, not once for each quotation mark in it.
STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)', re.S)
MANY_DIGITS = re.compile(r"[0-9]{19}")


class OversizedJson(ValueError):
    """The text is not read: its parts would take too long."""


def _refused(number: str) -> int:
    raise ValueError(f"the number {number[:20]}… has more than 64 bits")


def read(data: str | bytes, wide: Callable[[str], Any] = _refused) -> Any:
    """Return the parsed value. `wide` accepts whole numbers of more than 64 bits.

    Raises ValueError with the reason: duplicate keys, NaN, numbers beyond a double, unpaired surrogates, deep nesting,
    too many parts.
    """
    if len(data) > MOST_CONTAINERS and (why := too_many(data.encode() if isinstance(data, str) else data)):
        raise OversizedJson(why)
    # orjson is strict about everything except double keys, of which it silently keeps the last.
    orjson.loads(data)
    text = data if isinstance(data, str) else data.decode()
    whole = (lambda found: _whole(found, wide)) if MANY_DIGITS.search(text) else None
    try:
        return json.loads(text, object_pairs_hook=_without_duplicates, parse_int=whole)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def too_many(data: bytes) -> str:
    """Return why a text has too many parts to be read; "" if it has not. Marks within strings do not count."""
    if not _beyond(data) or not _beyond(b"".join(_between_strings(data))):
        return ""
    return f"it has more than {MOST_CONTAINERS:,} objects and lists, or more than {MOST_VALUES:,} values"


def _beyond(data: bytes) -> bool:
    containers = data.count(b"{") + data.count(b"[")
    return containers > MOST_CONTAINERS or containers + data.count(b",") > MOST_VALUES


def _between_strings(data: bytes) -> Iterator[bytes]:
    """Yield the text between strings, one piece at a time, so that other threads continue."""
    at = 0
    for found in STRING.finditer(data):
        yield data[at : found.start()]
        at = found.end()
    yield data[at:]


def _whole(found: str, wide: Callable[[str], Any]) -> Any:
    # 20 characters hold every number of 64 bits.
    number = int(found) if len(found) <= 20 else LARGEST + 1
    return number if SMALLEST <= number <= LARGEST else wide(found)


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"the key {twice[:80]!r} stands there twice")
    return found
