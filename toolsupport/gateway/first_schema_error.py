"""Finds the first error of a large body without one error for each of its wrong items.

A schema with alternatives collects the errors of all of them: 100,000 wrong items of a list took 14 s. Whether a body
is valid at all is decided in milliseconds. So a place where it is not is looked for first, by halves, and only lists of
SMALL items are described. Indices within a list are the same for lists inside each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jsonschema_rs

SMALL = 64
# More than any list may have ("at most 2048"), so that a list which is too long stays too long.
LONG = 2_100

Place = list[str | int]
Found = tuple[jsonschema_rs.ValidationError, Place]


def first_error(validator: Any, body: Any) -> Found | None:
    """Return an error with its place in the body; None if it fits. Raises LookupError if none is found in its parts."""
    if validator.is_valid(body):
        return None
    for begin, end in _windows(validator, body):
        part = _part(body, begin, end)
        error = next(validator.iter_errors(part), None)
        if error is not None:
            return error, _moved(error.instance_path, body, begin)
    raise LookupError("an error that no part has")


def _windows(validator: Any, body: Any) -> Iterator[tuple[int, int]]:
    """Yield ranges of indices that hold an error: a small one, else the beginnings of all lists."""
    begin, size, longest = 0, SMALL, _longest(body)
    while begin < longest:
        if not validator.is_valid(_part(body, begin, begin + size)):
            while size > SMALL:
                size //= 2
                if validator.is_valid(_part(body, begin, begin + size)):
                    begin += size
            yield begin, begin + size
            break
        begin, size = begin + size, begin + size
    yield 0, LONG


def _longest(value: Any) -> int:
    """Return the length of the longest list."""
    if isinstance(value, list):
        return max(len(value), max(map(_longest, value), default=0))
    return max(map(_longest, value.values()), default=1) if isinstance(value, dict) else 1


def _part(value: Any, begin: int, end: int) -> Any:
    """Return the value with these items of each list; shorter lists keep their beginning."""
    if isinstance(value, list):
        first = begin if len(value) > begin else 0
        return [_part(item, begin, end) for item in value[first : first + end - begin]]
    if isinstance(value, dict):
        return {name: _part(item, begin, end) for name, item in value.items()}
    return value


def _moved(path: Place, body: Any, begin: int) -> Place:
    """Return a place in a part as one of the body."""
    place: Place = []
    for step in path:
        moved = step + begin if isinstance(step, int) and len(body) > begin else step
        place.append(moved)
        body = body[moved]
    return place
