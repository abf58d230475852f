"""Decides when arguments may be sent while the model writes them, since sent data cannot be undone."""

from __future__ import annotations

import json
import re
from typing import Any

from toolsupport.core.coercion import TEXT, properties, resolved, types
from toolsupport.core.types import JSON, ToolSpec

# Keywords that limit nothing.
ANNOTATIONS = frozenset({"title", "description", "default", "examples", "deprecated", "$comment"})
# Keywords of a schema that limit no text.
UNLIMITED = ANNOTATIONS | {"type"}
# Keywords of a whole schema that arguments cannot break if all are declared and no required one is missing.
PLAIN = UNLIMITED | {"$defs", "$id", "$schema", "additionalProperties", "definitions", "properties", "required"}
LONGEST = 4000  # characters in which all required arguments have to begin
STRING = r'"[^"\\]*(?:\\.[^"\\]*)*"'
OBJECT = re.compile(r"\s*\{")
# A name, and its whole text with the comma after it, or the mark that opens its text.
PAIR = re.compile(rf'\s*({STRING})\s*:\s*(?:({STRING})\s*,|")', re.DOTALL)


def take_any_text(tool: ToolSpec) -> bool:
    """Return whether each argument of a tool is a text, without a rule for it or for all: then none needs a repair."""
    root = tool.parameters
    arguments = properties(root).values()
    return PLAIN.issuperset(root) and all(types(one, root) == TEXT and _is_unlimited(one, root) for one in arguments)


def _is_unlimited(schema: Any, root: JSON) -> bool:
    return not set(resolved(schema, root)) - UNLIMITED


def are_sure(begun: str, tool: ToolSpec) -> bool:
    """Return whether arguments with this beginning fit: all are declared texts, and every required one has begun."""
    if len(begun) > LONGEST or (names := _names(begun)) is None:
        return False
    return set(tool.parameters.get("required") or ()) <= names <= set(properties(tool.parameters))


def _names(begun: str) -> set[str] | None:
    """Return the names of arguments that are texts up to one whose text begins; None if there is no such."""
    found, names = OBJECT.match(begun), set[str]()
    while found and (found := PAIR.match(begun, found.end())):
        names.add(json.loads(found[1], strict=False))
        if found[2] is None:
            return names
    return None
