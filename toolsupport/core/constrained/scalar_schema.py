"""Reduces the schema of a text or a number, with the further keywords that a server enforces."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor
from typing import Any

from toolsupport.core.constrained.plain_patterns import plain
from toolsupport.core.constrained.plain_values import bounds
from toolsupport.core.types import JSON

LONGEST_TEXT = 256
MOST_MULTIPLES = 100
SMALLEST, LARGEST = 1e-4, 1e9  # of `multipleOf`


@dataclass(frozen=True, slots=True)
class SchemaRules:
    """How a schema is written for one request.

    `keywords` are those of `pattern` and `multipleOf` that the server enforces. `narrow`: calls with values that broke
    them were rejected, so that the schema may now leave out rare values that fit. `plain`: a schema with the arguments
    was refused, so that they are left out.
    """

    keywords: frozenset[str] = frozenset()
    narrow: bool = False
    plain: bool = False


BASIC = SchemaRules()


def text(node: JSON, rules: SchemaRules) -> JSON:
    """Return the schema of a text; a pattern that is not sent still gives its lengths, or the few texts it allows."""
    own = bounds(node, ("minLength", "maxLength"), LONGEST_TEXT)
    if not isinstance(node.get("pattern"), str):
        return {"type": "string", **own}
    found = plain(node["pattern"])
    if not found.text and rules.narrow:
        found = plain(node["pattern"], lossy=True)
    within = [value for value in found.values if _is_within(value, own)]
    if within:
        return {"type": "string", "enum": within}
    shortest = max(own.get("minLength", 0), found.least)
    longest = min(own.get("maxLength", LONGEST_TEXT + 1), LONGEST_TEXT + 1 if found.most is None else found.most)
    if shortest > longest:  # nothing would fit
        return {"type": "string", **own}
    if found.text and "pattern" in rules.keywords:
        own = {} if _implied(own, found.least, found.most) else own
        return {"type": "string", **own, "pattern": found.text}
    lengths = {"minLength": shortest, "maxLength": longest}
    return {"type": "string", **bounds(lengths, ("minLength", "maxLength"), LONGEST_TEXT)}


def _is_within(value: str, own: JSON) -> bool:
    return bool(own.get("minLength", 0) <= len(value) <= own.get("maxLength", len(value)))


def _implied(own: JSON, least: int, most: int | None) -> bool:
    """Return whether a pattern allows only texts of these lengths."""
    return own.get("minLength", 0) <= least and (most is not None and most <= own.get("maxLength", most))


def number(node: JSON, rules: SchemaRules) -> JSON:
    """Return the schema of a number. One that must be a multiple of a whole number is whole itself."""
    step = _step(node)
    if step and step == int(step):
        return integer(node, rules)
    if step and rules.narrow and "multipleOf" not in rules.keywords and (1 / step).is_integer():
        return {"type": "integer", **bounds(node, ("minimum", "maximum"), whole=True)}
    return _with_step({"type": "number", **bounds(node, ("minimum", "maximum"))}, step, rules)


def integer(node: JSON, rules: SchemaRules) -> JSON:
    """Return the schema of a whole number: a list of the multiples within its bounds if they are few."""
    step = _step(node)
    found = {"type": "integer", **bounds(node, ("minimum", "maximum"), whole=True)}
    if not step or (1 / step).is_integer():
        return found
    if step == int(step) and {"minimum", "maximum"} <= found.keys():
        first, last = ceil(found["minimum"] / step), floor(found["maximum"] / step)
        if 0 <= last - first < MOST_MULTIPLES:
            return {"enum": [int(step) * count for count in range(first, last + 1)]}
    return _with_step(found, step, rules)


def _with_step(found: JSON, step: float, rules: SchemaRules) -> JSON:
    """Add `multipleOf` where the server enforces it, and a multiple lies within the bounds."""
    if not step or "multipleOf" not in rules.keywords:
        return found
    if "minimum" in found and "maximum" in found and floor(found["maximum"] / step) < ceil(found["minimum"] / step):
        return found
    return {**found, "multipleOf": step}


def _step(node: JSON) -> float:
    """Return the number of which values must be multiples, 0 for any value."""
    step: Any = node.get("multipleOf")
    if isinstance(step, bool) or not isinstance(step, int | float) or not SMALLEST <= step <= LARGEST:
        return 0
    return step
