"""Converts a value to the type that its schema requires, if only one reading is possible."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from toolsupport.core.json_repair import read_json
from toolsupport.core.types import JSON

INTEGER = re.compile(r"[+-]?\d{1,400}\Z")
NUMBER = re.compile(r"[+-]?(?:\d{1,400}(?:\.\d{0,400})?|\.\d{1,400})(?:[eE][+-]?\d{1,3})?\Z")
BOOLEANS = {"true": True, "false": False}
NOTHING = frozenset({"null", "none"})
# The order in which the types of a schema are tried on a text: what is most particular first.
ORDER = ("null", "boolean", "integer", "number", "array", "object", "string")
TEXT = frozenset({"string"})
ALL_TYPES = frozenset(ORDER)
MOST_STEPS = 16
# What people write for the types of JSON Schema.
OTHER_NAMES = {
    "int": "integer", "long": "integer", "float": "number", "double": "number", "bool": "boolean", "str": "string",
    "text": "string", "list": "array", "tuple": "array", "dict": "object", "none": "null",
}  # fmt: skip
_NO = object()


def resolved(schema: Any, root: JSON) -> JSON:
    """Follow `$ref`s within the same document; return {} if the target does not exist."""
    for _ in range(MOST_STEPS):
        if not isinstance(schema, Mapping):
            return {}
        reference = schema.get("$ref")
        if not isinstance(reference, str):
            return dict(schema)
        schema = _follow(reference, root)
    return {}


def _follow(reference: str, root: JSON) -> Any:
    found: Any = root
    for step in reference.removeprefix("#").strip("/").split("/"):
        found = found.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(found, Mapping) else None
    return found


def properties(schema: JSON) -> Mapping[str, Any]:
    """Return the schemas of the parameters by name."""
    found = resolved(schema, schema).get("properties")
    return found if isinstance(found, Mapping) else {}


def types(schema: Any, root: JSON, steps: int = MOST_STEPS) -> frozenset[str]:
    """Return all types that the schema allows; every type if it names none."""
    schema = resolved(schema, root)
    named = schema.get("type")
    if isinstance(named, str | list):
        names = [named] if isinstance(named, str) else named
        return frozenset(OTHER_NAMES.get(one.lower(), one) for one in names if isinstance(one, str))
    choices = schema.get("anyOf") or schema.get("oneOf")
    if isinstance(choices, list) and steps:
        return frozenset().union(*(types(one, root, steps - 1) for one in choices))
    values = schema["enum"] if isinstance(schema.get("enum"), list) else None
    values = [schema["const"]] if "const" in schema else values
    return frozenset(type_of(value) for value in values) if values else ALL_TYPES


def type_of(value: Any) -> str:
    """Return the JSON type of a value; whole numbers are integers."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
        return "integer"
    named = {str: "string", float: "number", list: "array", dict: "object"}
    return "null" if value is None else named[type(value)]


def fits(value: Any, allowed: frozenset[str]) -> bool:
    kind = type_of(value)
    return kind in allowed or (kind == "integer" and "number" in allowed)


def coerce(value: Any, schema: Any, root: JSON) -> Any:
    """Convert the value to its schema's type if the meaning is clear; else return it unchanged."""
    allowed = types(schema, root)
    if not fits(value, allowed):
        value = _converted(value, allowed)
    if isinstance(value, str) and value[:1] != "[" and _wants_texts(schema, allowed, root):
        return [value]
    schema = _chosen(value, resolved(schema, root), root)
    if isinstance(value, dict) and isinstance(schema.get("properties"), Mapping):
        inner = schema["properties"]
        return {key: coerce(part, inner[key], root) if key in inner else part for key, part in value.items()}
    if isinstance(value, list) and isinstance(schema.get("items"), Mapping):
        return [coerce(part, schema["items"], root) for part in value]
    return value


def _wants_texts(schema: Any, allowed: frozenset[str], root: JSON) -> bool:
    """Return whether the schema allows only a list of strings: a single string then becomes a list of one."""
    return "array" in allowed and "string" not in allowed and types(resolved(schema, root).get("items"), root) == TEXT


def _chosen(value: Any, schema: JSON, root: JSON) -> JSON:
    """Return the first of several schemas that accepts values of this type."""
    choices = schema.get("anyOf") or schema.get("oneOf")
    if not isinstance(choices, list):
        return schema
    fitting = [choice for choice in choices if fits(value, types(choice, root))]
    return resolved(fitting[0], root) if fitting else {}


def _converted(value: Any, allowed: frozenset[str]) -> Any:
    if isinstance(value, str):
        return from_text(value, allowed - {"string"})
    if "string" in allowed and value is not None:
        return json.dumps(value, ensure_ascii=False)
    if "array" in allowed and value is not None and not isinstance(value, list):
        return [value]
    if "boolean" in allowed and value in (0, 1) and not isinstance(value, bool | float):
        return bool(value)
    return value


def from_text(text: str, allowed: frozenset[str]) -> Any:
    """Parse a string as one of the allowed types; return it unchanged if it is none of them."""
    for kind in ORDER:
        if kind in allowed:
            value = READINGS[kind](text)
            if value is not _NO:
                return value
    return text


def _null(text: str) -> Any:
    return None if text.strip().lower() in NOTHING else _NO


def _boolean(text: str) -> Any:
    return BOOLEANS.get(text.strip().lower(), _NO)


def _integer(text: str) -> Any:
    text = text.strip()
    if INTEGER.match(text):
        return int(text)
    number = _number(text)
    return int(number) if isinstance(number, float) and number.is_integer() and abs(number) < 2**53 else _NO


def _number(text: str) -> Any:
    text = text.strip()
    if INTEGER.match(text):
        return int(text)
    value = float(text) if NUMBER.match(text) else float("inf")
    return value if abs(value) != float("inf") else _NO


def _json_of(kind: type) -> Callable[[str], Any]:
    def read(text: str) -> Any:
        text = text.strip()
        value = read_json(text) if text[:1] == ("{" if kind is dict else "[") else None
        return value.value if value and isinstance(value.value, kind) else _NO

    return read


READINGS: Mapping[str, Callable[[str], Any]] = {
    "null": _null,
    "boolean": _boolean,
    "integer": _integer,
    "number": _number,
    "array": _json_of(list),
    "object": _json_of(dict),
    "string": str,
}
