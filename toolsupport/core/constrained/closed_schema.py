"""Rewrites a schema for servers with OpenAI's rules: an object outside, no open objects, every property required.

An optional property may be null instead. An object of any kind is a text that holds it as JSON, since these servers
have no other form for it; such arguments are read from the text. A tool that declares no parameters takes none.
"""

from __future__ import annotations

from typing import Any

from toolsupport.core.types import JSON

REPLY = "reply"
BOUNDS = frozenset({"minLength", "maxLength", "minItems", "maxItems", "pattern", "multipleOf"})
SCALARS = ["string", "number", "boolean", "null"]


def closed(schema: JSON) -> JSON:
    """Return the schema under one key of an object, with its definitions beside it."""
    definitions = {name: _closed(part) for name, part in schema.get("$defs", {}).items()}
    reply = _closed({keyword: value for keyword, value in schema.items() if keyword != "$defs"})
    whole = strict_object({REPLY: reply})
    return whole | ({"$defs": definitions} if definitions else {})


def _closed(node: Any) -> Any:
    if not isinstance(node, dict) or "$ref" in node or "enum" in node:
        return node
    if "anyOf" in node:
        return {"anyOf": [_closed(branch) for branch in node["anyOf"]]}
    kind = node.get("type")
    if isinstance(kind, list):
        return {"type": [one for one in kind if one in SCALARS]}
    if kind == "object":
        return _closed_object(node)
    if kind == "array":
        return {"type": "array", "items": _closed(node.get("items", {"type": SCALARS}))}
    return {keyword: value for keyword, value in node.items() if keyword not in BOUNDS}


def _closed_object(node: JSON) -> JSON:
    if node.get("additionalProperties") is not False and node.get("properties") != {}:
        return {"type": "string"}
    properties = {
        name: _closed(part) if name in node.get("required", ()) else {"anyOf": [_closed(part), {"type": "null"}]}
        for name, part in node["properties"].items()
    }
    return strict_object(properties)


def strict_object(properties: JSON) -> JSON:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
