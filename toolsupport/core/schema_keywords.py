"""Names keywords of JSON Schema by what their values hold, for all that walks through schemas."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

# The value holds a schema for each name.
MAPPINGS = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
# The value is a list of schemas, or one schema (`items` can be either).
LISTS = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
SINGLE = frozenset({"items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"})
# The value is data, in which the name of a keyword has no meaning; `example` is OpenAPI's.
DATA = frozenset({"default", "const", "enum", "examples", "example"})


def all_same(parts: Iterable[Any], others: Iterable[Any]) -> bool:
    """Return whether a walk left every part as the object that it was."""
    return all(one is other for one, other in zip(parts, others, strict=True))
