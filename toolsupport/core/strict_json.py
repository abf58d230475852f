"""Reads JSON from outside, and rejects whatever JSON readers interpret differently."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import orjson

SMALLEST, LARGEST = -(2**63), 2**64 - 1
# A number this long may be too wide: only then each whole number is looked at, which takes as long as all the rest.
MANY_DIGITS = re.compile(r"[0-9]{19}")


def _refused(number: str) -> int:
    raise ValueError(f"the number {number[:20]}… has more than 64 bits")


def read(data: str | bytes, wide: Callable[[str], Any] = _refused) -> Any:
    """Return the parsed value. `wide` accepts whole numbers of more than 64 bits.

    Raises ValueError with the reason: duplicate keys, NaN, numbers beyond a double, unpaired surrogates, deep nesting.
    """
    # orjson is strict about everything but double keys, of which it keeps the last without a word.
    orjson.loads(data)
    text = data if isinstance(data, str) else data.decode()
    whole = (lambda found: _whole(found, wide)) if MANY_DIGITS.search(text) else None
    try:
        return json.loads(text, object_pairs_hook=_without_duplicates, parse_int=whole)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


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
