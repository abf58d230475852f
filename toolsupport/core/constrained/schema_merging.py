"""Joins schemas that all apply (`allOf`) into one, if that is simple."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toolsupport.core.types import JSON

ANNOTATIONS = frozenset(
    {"title", "description", "default", "examples", "deprecated", "$schema", "$id", "$comment", "$defs", "definitions"}
)
OF_OBJECTS = frozenset({"type", "properties", "required", "additionalProperties"})


def merged(parts: Sequence[JSON]) -> JSON | None:
    """Return one schema for all of these; None if they are not only objects, or one alone decides.

    The result may allow more than all of them together, never less.
    """
    meant = [_without_annotations(part) for part in parts]
    meant = [part for part in meant if part]
    if len(meant) < 2:
        return meant[0] if meant else {}
    if not all(OF_OBJECTS.issuperset(part) and part.get("type", "object") == "object" for part in meant):
        return _of_one_type(meant)
    properties: JSON = {}
    for part in meant:
        for name, schema in _mapping(part.get("properties")).items():
            properties[name] = schema if properties.get(name, schema) == schema else {}
    required = [name for part in meant for name in part.get("required") or () if isinstance(name, str)]
    others = _others([part["additionalProperties"] for part in meant if "additionalProperties" in part])
    return {"type": "object", "properties": properties, "required": list(dict.fromkeys(required)), **others}


def _others(given: Sequence[Any]) -> JSON:
    """Return the rule for undeclared properties: one part that forbids them is enough."""
    if any(one is False for one in given):
        return {"additionalProperties": False}
    return {"additionalProperties": True} if given else {}


def _of_one_type(parts: Sequence[JSON]) -> JSON | None:
    """Return the keywords of all parts if none of them has one of another part with another value."""
    joined: JSON = {}
    for part in parts:
        if any(joined.get(keyword, value) != value for keyword, value in part.items()):
            return None
        joined |= part
    nested = {"allOf", "anyOf", "oneOf", "$ref", "properties"}
    return None if sum(keyword in part for part in parts for keyword in nested) > 1 else joined


def _without_annotations(part: JSON) -> JSON:
    return {keyword: value for keyword, value in part.items() if keyword not in ANNOTATIONS}


def _mapping(value: Any) -> JSON:
    return value if isinstance(value, dict) else {}
