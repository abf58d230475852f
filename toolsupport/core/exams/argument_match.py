"""Compares the arguments of a call with the expected ones, value by value.

Types count: `"3"` is not 3, and `true` is not 1. Differences without meaning do not count: 3 and 3.0, white space
at the ends of a text, runs of it inside, upper and lower case, and the mark at the end of a sentence. An argument that
was left out and one that holds the default of its schema are the same.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from toolsupport.core.coercion import properties
from toolsupport.core.exams.cases import ExpectedCall
from toolsupport.core.types import JSON, ToolSpec

MISSING = object()


def wrong_argument(made: JSON, expected: ExpectedCall, tool: ToolSpec) -> str:
    """Return the name of the first argument that is wrong, missing or not expected; "" if all are right.

    `made` is normalised: a model's text may be long, and is compared with each expected one.
    """
    schemas = properties(tool.parameters)
    for name in (*expected.arguments, *(one for one in made if one not in expected.arguments)):
        schema = schemas.get(name, {})
        default = schema.get("default", MISSING) if isinstance(schema, Mapping) else MISSING
        if not _right(name, made.get(name, MISSING), expected, default):
            return name
    return ""


def _right(name: str, value: Any, expected: ExpectedCall, default: Any) -> bool:
    wanted = expected.arguments.get(name, MISSING)
    accepted = [normalised(one) for one in (wanted, *expected.accepts.get(name, ())) if one is not MISSING]
    if value is MISSING:
        return name in expected.optional or (default is not MISSING and _any_equal(normalised(default), accepted))
    if not accepted:
        return name in expected.optional or (default is not MISSING and _equal(value, normalised(default)))
    return _any_equal(value, accepted)


def _any_equal(value: Any, accepted: Sequence[Any]) -> bool:
    return any(_equal(value, one) for one in accepted)


def same(left: Any, right: Any) -> bool:
    """Return whether two JSON values mean the same."""
    return _equal(normalised(left), normalised(right))


def _equal(left: Any, right: Any) -> bool:
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, int | float) and isinstance(right, int | float):
        return left == right or math.isclose(left, right, rel_tol=1e-9)
    if isinstance(left, str) and isinstance(right, str):
        return left == right
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(_equal(value, right[name]) for name, value in left.items())
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_equal, left, right))
    return left is None and right is None


def normalised(value: Any) -> Any:
    """Return a JSON value whose texts are plain."""
    if isinstance(value, str):
        return plain(value)
    if isinstance(value, Mapping):
        return {name: normalised(one) for name, one in value.items()}
    return [normalised(one) for one in value] if isinstance(value, list) else value


def plain(text: str) -> str:
    """Return a text without the parts that have no meaning."""
    return " ".join(text.split()).rstrip(".!?").casefold()
