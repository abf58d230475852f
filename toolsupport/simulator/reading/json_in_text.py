"""Finds JSON values within a text."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator
from typing import Any

# A text with more opening braces than this is not a description of tools.
MOST = 2000
DECODER = json.JSONDecoder()


def objects(text: str) -> Iterator[tuple[int, Any]]:
    """Yield every outermost JSON object in a text, with its position."""
    place = 0
    for _ in range(MOST):
        place = text.find("{", place)
        if place < 0:
            return
        value, end = at(text, place)
        if end > place:
            yield place, value
        place = max(end, place + 1)


def at(text: str, place: int) -> tuple[Any, int]:
    """Return the JSON value at a position and its end; the end equals the position if there is none."""
    try:
        return DECODER.raw_decode(text, place)
    except (ValueError, RecursionError):
        return None, place


def inside(value: Any) -> Iterator[Any]:
    """Yield the value and every value in it, outermost first."""
    waiting = deque([value])
    while waiting:
        here = waiting.popleft()
        yield here
        inner = here.values() if isinstance(here, dict) else here if isinstance(here, list) else ()
        waiting.extend(inner)
