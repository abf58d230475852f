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
# The order in which the types of a schema are tried on a text: the most specific first.
ORDER = ("null", "boolean", "integer", "number", "array", "object", "string")
TEXT = frozenset({"string"})
ALL_TYPES = frozenset(ORDER)
MOST_STEPS = 16
# Alternatives and values of a schema that are looked at for its types: a tool's schema may have thousands for one key.
MOST_ALTERNATIVES = 200
# Other names that people use for the types of JSON Schema.
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
            return schema if isinstance(schema, dict) else dict(schema)
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


def types(schema: Any, root: JSON) -> frozenset[str]:
    """Return all types that the schema allows; every type if it names none, or has too many alternatives to look at."""
    found: set[str] = set()
    waiting, left = [schema], MOST_ALTERNATIVES
    while waiting:
        schema = resolved(waiting.pop(), root)
        choices = schema.get("anyOf") or schema.get("oneOf")
        values = [schema["const"]] if "const" in schema else schema.get("enum")
        left -= 1 + (len(values) if isinstance(values, list) else 0)
        if left < 0:
            return ALL_TYPES
        if isinstance(schema.get("type"), str | list):
            found |= _named_types(schema["type"])
        elif isinstance(choices, list):
            waiting += choices[: left + 1]
        else:
            found |= {type_of(value) for value in values} if isinstance(values, list) and values else ALL_TYPES
    return frozenset(found)


def _named_types(named: str | list[Any]) -> set[str]:
    names = [named] if isinstance(named, str) else named
    return {OTHER_NAMES.get(one.lower(), one) for one in names if isinstance(one, str)}


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
    return _Coercion(root).value(value, schema)


class _Coercion:
    """Converts one value. Each part of the schema is read once, for any number of parts of the value."""

    def __init__(self, root: JSON) -> None:
        self._root = root
        self._types: dict[int, frozenset[str]] = {}
        self._chosen: dict[tuple[int, str], JSON] = {}

    def value(self, value: Any, schema: Any) -> Any:
        allowed = self._allowed(schema)
        if not fits(value, allowed):
            value = _converted(value, allowed)
        if isinstance(value, str) and value[:1] != "[" and self._wants_texts(schema, allowed):
            return [value]
        schema = self._choice(value, schema)
        if isinstance(value, dict) and isinstance(schema.get("properties"), Mapping):
            inner = schema["properties"]
            return {key: self.value(part, inner[key]) if key in inner else part for key, part in value.items()}
        if isinstance(value, list) and isinstance(schema.get("items"), Mapping):
            return [self.value(part, schema["items"]) for part in value]
        return value

    def _allowed(self, schema: Any) -> frozenset[str]:
        if id(schema) not in self._types:
            self._types[id(schema)] = types(schema, self._root)
        return self._types[id(schema)]

    def _wants_texts(self, schema: Any, allowed: frozenset[str]) -> bool:
        """Return whether the schema allows only a list of strings: a single string then becomes a list of one."""
        if "array" not in allowed or "string" in allowed:
            return False
        return types(resolved(schema, self._root).get("items"), self._root) == TEXT

    def _choice(self, value: Any, schema: Any) -> JSON:
        """Return the schema, or the first of its alternatives that accepts values of this type."""
        key = (id(schema), type_of(value))
        if key not in self._chosen:
            found = resolved(schema, self._root)
            choices = found.get("anyOf") or found.get("oneOf")
            if isinstance(choices, list):
                fitting = (choice for choice in choices[:MOST_ALTERNATIVES] if fits(value, self._allowed(choice)))
                found = resolved(next(fitting, {}), self._root)
            self._chosen[key] = found
        return self._chosen[key]


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
