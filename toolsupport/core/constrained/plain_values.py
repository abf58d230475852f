"""Reads the values and bounds of a schema that every server can compare with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import ceil, floor, isfinite
from typing import Any

import orjson

from toolsupport.core.types import JSON

MOST_VALUES = 500
LONGEST = 20_000  # characters of all values
LARGEST = 2**53
MATCHES: Mapping[str, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "integer": lambda value: not isinstance(value, bool) and isinstance(value, int | float) and value == int(value),
    "number": lambda value: not isinstance(value, bool) and isinstance(value, int | float),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}


def is_plain(value: Any) -> bool:
    """Return whether a value can be sent unchanged: no half of a character, no infinity, no number beyond 64 bits."""
    try:
        return bool(orjson.loads(orjson.dumps(value)) == value)
    except (ValueError, RecursionError):
        return False


def plain_values(given: Any, kind: Any) -> list[Any]:
    """Return the values of an `enum` that fit the type, each once; [] if they are too many to be listed."""
    values = [value for value in given if is_plain(value)] if isinstance(given, list) else []
    fitting = [value for value in values if _fits(value, kind)] or values
    written = {orjson.dumps(value): value for value in fitting}
    if len(written) > MOST_VALUES or sum(map(len, written)) > LONGEST or len(values) != len(given or ()):
        return []
    return list(written.values())


def _fits(value: Any, kind: Any) -> bool:
    kinds: Iterable[Any] = [kind] if isinstance(kind, str) else kind if isinstance(kind, list) else ()
    tests = [MATCHES[one] for one in kinds if isinstance(one, str) and one in MATCHES]
    return not tests or any(test(value) for test in tests)


def bounds(node: JSON, names: tuple[str, str], most: int = 0, *, whole: bool = False) -> JSON:
    """Return the lower and the upper bound of a schema under their names; `most` is the largest allowed one.

    Bounds that contradict each other are left out, since servers refuse a schema that nothing fits.
    """
    low, high = (_number(node.get(name)) for name in names)
    if not most:
        low, high = _inclusive(node, low, high, whole=whole)
    elif high is not None and high > most:
        high = None
    if most and low is not None and (low <= 0 or low > most):
        low = None
    if low is not None and high is not None and low > high:
        return {}
    return {name: value for name, value in zip(names, (low, high), strict=True) if value is not None}


def _inclusive(node: JSON, low: float | None, high: float | None, *, whole: bool) -> tuple[float | None, float | None]:
    """Return the bounds with the exclusive ones in them: as the next whole numbers, or loosened to inclusive ones."""
    above, below = _number(node.get("exclusiveMinimum")), _number(node.get("exclusiveMaximum"))
    if whole:
        low = _largest(None if low is None else ceil(low), None if above is None else floor(above) + 1)
        highest = _largest(*(None if one is None else -one for one in (_floor(high), _next_below(below))))
        return low, None if highest is None else -highest
    lowest = _largest(low, above)
    highest = _largest(None if high is None else -high, None if below is None else -below)
    return lowest, None if highest is None else -highest


def _floor(value: float | None) -> int | None:
    return None if value is None else floor(value)


def _next_below(value: float | None) -> int | None:
    return None if value is None else ceil(value) - 1


def _largest(one: float | None, other: float | None) -> float | None:
    given = [value for value in (one, other) if value is not None]
    return max(given) if given else None


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value) or abs(value) >= LARGEST:
        return None
    return value
