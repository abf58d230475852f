"""Finds the JSON schema that a request requires, and decides whether a simulated server can enforce it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import Any

from toolsupport.simulator.types import JSON

# `"json"` and `json_object` require any object.
ANY_OBJECT: JSON = {"type": "object"}
# Real servers limit how often a rule repeats, and support few escapes in a pattern.
MOST_REPEATS = 2000
REPEATS = ("minLength", "maxLength", "minItems", "maxItems")
ODD_PATTERN = re.compile(r"\(\?|\\[^dDwWsS.\[\]{}()|^$\"\\/+*?-]")


class SchemaSupport(StrEnum):
    """How a server treats the schema of a request. FAILS_OPEN: it ignores a schema that it cannot parse."""

    IGNORED = "ignored"
    ENFORCED = "enforced"
    REFUSED = "refused"
    FAILS_OPEN = "fails open"


def of_native(demanded: Any) -> JSON | None:
    """Return the schema in Ollama's `format`; None without any. Raises ValueError for another value."""
    if demanded in (None, ""):
        return None
    if demanded == "json":
        return ANY_OBJECT
    if isinstance(demanded, dict):
        return demanded
    raise ValueError(demanded)


def of_openai(given: JSON) -> JSON | None:
    """Return the schema in `response_format`, or in llama.cpp's `json_schema`; None without any."""
    asked = given.get("response_format")
    if not isinstance(asked, dict):
        alone = given.get("json_schema")
        return alone if isinstance(alone, dict) else None
    if asked.get("type") == "json_object":
        schema = asked.get("schema")
        return schema if isinstance(schema, dict) else ANY_OBJECT
    inner = asked.get("json_schema") if asked.get("type") == "json_schema" else None
    schema = inner.get("schema") if isinstance(inner, dict) else None
    return schema if isinstance(schema, dict) else None


def can_be_parsed(schema: JSON) -> bool:
    """Return whether a server with a simple grammar parser can parse the grammar made from a schema."""
    return not any(_odd(part) for part in _parts(schema))


def _parts(value: Any) -> Iterator[JSON]:
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            yield part
        waiting += part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()


def _odd(part: JSON) -> bool:
    pattern = part.get("pattern")
    repeats = [part[name] for name in REPEATS if isinstance(part.get(name), int)]
    odd_pattern = isinstance(pattern, str) and bool(ODD_PATTERN.search(pattern))
    return odd_pattern or part.get("maxItems") == 0 or any(count > MOST_REPEATS for count in repeats)
