"""Draws texts and numbers within the bounds of a JSON schema; an intended value that fits is kept."""

from __future__ import annotations

import math
import re
from random import Random
from typing import Any

from toolsupport.simulator.fitting import patterns
from toolsupport.simulator.types import JSON

# Noise contains everything that could be mistaken for a marker.
SCRAPS = ("qu", "zub", " ", "{", "}", '"', "\n", "</tool_call>", "[TOOL_CALLS]", "ß", "💡", "1037", "\\", "```", "null")
FORMATS = {
    "date": "2026-02-17",
    "date-time": "2026-02-17T09:30:00Z",
    "time": "09:30:00Z",
    "email": "ann@example.org",
    "uuid": "6f1c1f8a-6d0a-4b68-9d0e-0c1a2b3c4d5e",
    "uri": "https://example.org/a",
    "ipv4": "192.0.2.7",
    "ipv6": "2001:db8::7",
}
SPREAD = 1000
NOISE_PIECES = 6


def noise(chance: Random, pieces: int = NOISE_PIECES) -> str:
    return "".join(chance.choice(SCRAPS) for _ in range(chance.randint(1, pieces)))


def text(schema: JSON, wish: Any, chance: Random) -> str:
    """Return a text with the schema's pattern, format and length."""
    pattern, shape = schema.get("pattern"), schema.get("format")
    if isinstance(wish, str) and _fits(wish, schema):
        return wish
    if isinstance(pattern, str):
        return patterns.drawn(pattern, chance) or ""
    if shape in FORMATS:
        return FORMATS[shape]
    least = int(schema.get("minLength") or 0)
    most = int(schema.get("maxLength", max(least, SPREAD)))
    made = wish if isinstance(wish, str) else noise(chance)
    while len(made) < least:
        made += chance.choice("abcdefgh ")
    return made[:most]


def _fits(wish: str, schema: JSON) -> bool:
    pattern = schema.get("pattern")
    if schema.get("format") in FORMATS or not schema.get("minLength", 0) <= len(wish) <= schema.get("maxLength", 10**9):
        return False
    try:
        return not isinstance(pattern, str) or bool(re.search(pattern, wish))
    except re.error:
        return False


def integer(schema: JSON, wish: Any, chance: Random) -> int:
    """Return a whole number within the bounds."""
    low, high = _bounds(schema, 1)
    step = int(schema.get("multipleOf") or 1) or 1
    if isinstance(wish, int) and not isinstance(wish, bool) and low <= wish <= high and wish % step == 0:
        return wish
    first, last = math.ceil(low / step), math.floor(high / step)
    return step * chance.randint(first, max(first, last))


def number(schema: JSON, wish: Any, chance: Random) -> float:
    """Return a number within the bounds."""
    low, high = _bounds(schema, 1e-6)
    if isinstance(wish, int | float) and not isinstance(wish, bool) and low <= wish <= high:
        return wish
    step = schema.get("multipleOf")
    if step:
        return float(step) * chance.randint(math.ceil(low / step), math.floor(high / step))
    return min(high, max(low, round(chance.uniform(low, high), 3)))


def _bounds(schema: JSON, least_step: float) -> tuple[float, float]:
    """Return the lowest and the highest value; an exclusive bound is moved by the smallest step."""
    lowest = [*_numbers(schema, "minimum"), *(value + least_step for value in _numbers(schema, "exclusiveMinimum"))]
    highest = [*_numbers(schema, "maximum"), *(value - least_step for value in _numbers(schema, "exclusiveMaximum"))]
    low = max(lowest, default=min(highest, default=0.0) - SPREAD)
    return low, min(highest, default=low + 2 * SPREAD)


def _numbers(schema: JSON, keyword: str) -> list[float]:
    value = schema.get(keyword)
    return [value] if isinstance(value, int | float) and not isinstance(value, bool) else []
