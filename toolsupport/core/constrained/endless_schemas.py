"""Finds the definitions that some finite value fits: servers refuse a schema that only an endless one would fit."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

from toolsupport.core.types import JSON

REFERENCE = "#/$defs/"


def finite_definitions(definitions: Mapping[str, JSON]) -> Set[str]:
    """Return the names of the definitions that have a finite value."""
    finite: set[str] = set()
    while True:
        more = {name for name, schema in definitions.items() if name not in finite and _ends(schema, finite)}
        if not more:
            return finite
        finite |= more


def _ends(schema: Any, finite: Set[str]) -> bool:
    if not isinstance(schema, dict):
        return True
    if "$ref" in schema:
        return schema["$ref"].removeprefix(REFERENCE) in finite
    if "anyOf" in schema:
        return any(_ends(branch, finite) for branch in schema["anyOf"])
    if schema.get("type") == "array":
        return not schema.get("minItems") or _ends(schema.get("items"), finite)
    properties = schema.get("properties", {})
    return all(_ends(properties[name], finite) for name in schema.get("required", ()))
