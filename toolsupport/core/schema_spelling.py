"""Writes the schema of a tool as JSON Schema does, where people and programs write the same in another way.

Without this a request with one such tool would be refused, by this site or by its model server. Only what can mean one
thing is rewritten; a schema that needs nothing stays the same object.

- `"required": true` in a property, as in draft 3 and many hand-written tools, is a name in the list beside it.
- Types have names of programming languages, or capital letters as in Google's API; `any` is none.
- Libraries write each keyword that is not set as null.
- Generators give each property an `$id`, which makes it a document of its own even where nothing refers to it.
- `true` as the schema of a property is right, but Ollama's and llama.cpp's readers expect an object.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from toolsupport.core.schema_keywords import DATA, LISTS, MAPPINGS, SINGLE, all_same
from toolsupport.core.types import JSON, ToolSpec

DEEPEST = 100
STANDARD_NAMES = frozenset({"null", "boolean", "integer", "number", "array", "object", "string"})
# Other names that people use for the types of JSON Schema.
OTHER_NAMES = {
    "int": "integer", "long": "integer", "float": "number", "double": "number", "bool": "boolean", "str": "string",
    "text": "string", "list": "array", "tuple": "array", "dict": "object", "none": "null",
}  # fmt: skip
NO_TYPES = frozenset({"", "any", "type_unspecified"})
NULLABLE = frozenset({"default", "const", "example"})
DRAFTS = re.compile(r"https?://json-schema\.org/(?:draft-0[467]/|draft/20(?:19-09|20-12)/)?schema#?")


def in_json_schema(tool: ToolSpec) -> ToolSpec:
    """Return the tool with its schema in the spelling of JSON Schema; the same tool if nothing changes."""
    parameters = spelled(tool.parameters)
    return tool if parameters is tool.parameters else replace(tool, parameters=parameters).completed()


def all_in_json_schema(tools: tuple[ToolSpec, ...]) -> tuple[ToolSpec, ...]:
    """Return the tools with their schemas in the spelling of JSON Schema; the same object if nothing changes."""
    found = tuple(map(in_json_schema, tools))
    return tools if all_same(found, tools) else found


def spelled(schema: JSON) -> JSON:
    """Return the schema of a tool's arguments in the spelling of JSON Schema; one of an unknown draft names none."""
    draft = schema.get("$schema")
    if isinstance(draft, str) and not DRAFTS.fullmatch(draft):
        schema = {keyword: value for keyword, value in schema.items() if keyword != "$schema"}
    found: JSON = _spelled(_without_ids(schema), 0)
    return found


def _without_ids(schema: JSON) -> JSON:
    """Return the schema without the `$id` of its parts if no reference could mean one of them."""
    found = {id_ for node in _nodes(schema) if node is not schema and isinstance(id_ := node.get("$id"), str)}
    if not found:
        return schema
    references = {node["$ref"] for node in _nodes(schema) if isinstance(node.get("$ref"), str)}
    if references and (found & references or not all(id_.startswith("#") for id_ in found)):
        return schema
    own = {"$id": schema["$id"]} if "$id" in schema else {}
    return {**_dropped(schema, 0), **own}


def _dropped(node: Any, depth: int) -> Any:
    if isinstance(node, list) and depth <= DEEPEST:
        return [_dropped(one, depth + 1) for one in node]
    if not isinstance(node, dict) or depth > DEEPEST:
        return node
    kept = {keyword: one for keyword, one in node.items() if keyword != "$id" or not isinstance(one, str)}
    return {keyword: one if keyword in DATA else _dropped(one, depth + 1) for keyword, one in kept.items()}


def _nodes(schema: Any) -> Iterator[JSON]:
    """Yield all objects of a schema that are no data."""
    waiting = [(schema, 0)]
    while waiting:
        node, depth = waiting.pop()
        if isinstance(node, dict):
            yield node
            node = [one for keyword, one in node.items() if keyword not in DATA]
        if isinstance(node, list) and depth <= DEEPEST:
            waiting += [(one, depth + 1) for one in node if isinstance(one, dict | list)]


def _spelled(node: Any, depth: int) -> Any:
    """Return a schema, the same object if nothing changes."""
    if not isinstance(node, dict) or depth > DEEPEST:
        return node
    given = {keyword: _part(keyword, value, depth) for keyword, value in node.items() if _is_set(keyword, value)}
    if isinstance(given.get("required"), bool):
        del given["required"]
    kind = _type(given.get("type"))
    if kind is None:
        given.pop("type", None)
    elif "type" in given:
        given["type"] = kind
    if needed := _needed(node.get("properties")):
        listed = given["required"] if isinstance(given.get("required"), list) else []
        given["required"] = [*listed, *(name for name in needed if name not in listed)]
    same = given.keys() == node.keys() and all(given[keyword] is node[keyword] for keyword in node)
    return node if same else given


def _is_set(keyword: str, value: Any) -> bool:
    return value is not None or keyword in NULLABLE


def _part(keyword: str, value: Any, depth: int) -> Any:
    if keyword in MAPPINGS and isinstance(value, dict):
        parts = {name: _schema(one, depth + 1) for name, one in value.items() if one is not None}
        return value if parts.keys() == value.keys() and all_same(parts.values(), value.values()) else parts
    if isinstance(value, list) and (keyword in LISTS or keyword == "items"):
        listed = [_schema(one, depth + 1) for one in value]
        return value if all_same(listed, value) else listed
    if keyword == "items":
        return _schema(value, depth + 1)
    return _spelled(value, depth + 1) if keyword in SINGLE else value


def _schema(node: Any, depth: int) -> Any:
    return {} if node is True else _spelled(node, depth)


def _type(kind: Any) -> Any:
    """Return the name of a type, None for any; a list of them; anything else as it is."""
    if isinstance(kind, list):
        kinds = [_type(one) for one in kind]
        if None in kinds:
            return None
        return kind if all_same(kinds, kind) else list(dict.fromkeys(filter(_is_text, kinds)))
    if not isinstance(kind, str) or kind in STANDARD_NAMES:
        return kind
    name = kind.strip().lower()
    return None if name in NO_TYPES else OTHER_NAMES.get(name, name if name in STANDARD_NAMES else kind)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _needed(properties: Any) -> list[str]:
    """Return the names of the properties that call themselves required."""
    parts = properties.items() if isinstance(properties, Mapping) else ()
    return [name for name, part in parts if isinstance(part, dict) and part.get("required") is True]
