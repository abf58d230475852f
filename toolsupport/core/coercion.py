"""Converts a value to the type that its schema requires, if only one reading is possible."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from toolsupport.core.json_pointers import pointed_at
from toolsupport.core.json_repair import read_json
from toolsupport.core.schema_spelling import OTHER_NAMES
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
MOST_PARTS = 50  # of an `allOf`
# Parts of a value that are compared with alternatives, to find the one that is meant.
MOST_COMPARED = 20_000
_NO = object()


def resolved(schema: Any, root: JSON) -> JSON:
    """Follow `$ref`s within the same document; return {} if the target does not exist."""
    for _ in range(MOST_STEPS):
        if not isinstance(schema, Mapping):
            return {}
        reference = schema.get("$ref")
        if not isinstance(reference, str):
            return schema if isinstance(schema, dict) else dict(schema)
        schema = pointed_at(root, reference)
    return {}


def whole(schema: Any, root: JSON) -> JSON:
    """Return the schema with the keywords of its `allOf`, as which Pydantic 1 writes a class with a default."""
    found, parts, seen = resolved(schema, root), [], set[int]()
    if not isinstance(found.get("allOf"), list):
        return found
    waiting = [found]
    while waiting and len(seen) < MOST_PARTS:
        part = waiting.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        parts.append(part)
        inner = part.get("allOf")
        waiting += [resolved(one, root) for one in inner[:MOST_PARTS]] if isinstance(inner, list) else []
    return _joined(parts)


def _joined(parts: Sequence[JSON]) -> JSON:
    """Return one schema with the keywords of all, those of the first ones before others, and all properties."""
    joined: JSON = {}
    for part in reversed(parts):
        joined |= part
    names = [part["properties"] for part in reversed(parts) if isinstance(part.get("properties"), Mapping)]
    needed = sorted({name for part in parts for name in required(part)})
    joined |= {"required": needed} if needed else {}
    return joined | ({"properties": {name: one for part in names for name, one in part.items()}} if names else {})


def required(schema: JSON) -> set[str]:
    """Return the names of the properties that an object must have."""
    given = schema.get("required")
    return {name for name in given if isinstance(name, str)} if isinstance(given, list) else set()


def properties(schema: JSON) -> Mapping[str, Any]:
    """Return the schemas of the parameters by name, also those that only alternatives of the whole declare."""
    found = whole(schema, schema)
    declared = found.get("properties")
    declared = declared if isinstance(declared, Mapping) else {}
    choices = _choices(found)
    if not choices:
        return declared
    others: dict[str, list[Any]] = {}
    for choice in choices[:MOST_ALTERNATIVES]:
        inner = whole(choice, schema).get("properties")
        for name, one in inner.items() if isinstance(inner, Mapping) else ():
            others.setdefault(name, []).append(one)
    return {name: given[0] if len(given) == 1 else {"anyOf": given} for name, given in others.items()} | dict(declared)


def _choices(schema: JSON) -> list[Any]:
    found = schema.get("anyOf") or schema.get("oneOf")
    return found if isinstance(found, list) else []


def types(schema: Any, root: JSON) -> frozenset[str]:
    """Return all types that the schema allows; every type if it names none, or has too many alternatives to look at."""
    found: set[str] = set()
    waiting, left = [schema], MOST_ALTERNATIVES
    while waiting:
        given = waiting.pop()
        schema = whole(given, root)
        choices = _choices(schema)
        values = [schema["const"]] if "const" in schema else schema.get("enum")
        left -= 1 + sum(len(one) for one in (values, schema.get("allOf")) if isinstance(one, list))
        if left < 0:
            return ALL_TYPES
        found |= {"null"} if _is_nullable(given) or _is_nullable(schema) else set()
        if isinstance(schema.get("type"), str | list):
            found |= _named_types(schema["type"])
        elif choices:
            waiting += choices[: left + 1]
        else:
            found |= {type_of(value) for value in values} if isinstance(values, list) and values else ALL_TYPES
    return frozenset(found)


def _is_nullable(schema: Any) -> bool:
    """Return whether a schema allows null in the way of OpenAPI 3.0, also beside a reference."""
    return isinstance(schema, Mapping) and schema.get("nullable") is True


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
        self._whole: dict[int, JSON] = {}
        self._fitting: dict[tuple[int, str], list[Any]] = {}
        self._left = MOST_COMPARED

    def value(self, value: Any, schema: Any) -> Any:
        allowed = self._allowed(schema)
        if not fits(value, allowed):
            value = _converted(value, allowed)
        if isinstance(value, str) and not fits(value, allowed) and "array" in allowed:
            value = self._listed(value, schema)
        if isinstance(value, dict):
            return self._object(value, self._choice(value, schema))
        return self._list(value, self._choice(value, schema)) if isinstance(value, list) else value

    def _object(self, value: JSON, schema: JSON) -> JSON:
        declared, others = schema.get("properties"), schema.get("additionalProperties")
        inner = declared if isinstance(declared, Mapping) else {}
        needed = required(schema)
        if not inner and not isinstance(others, Mapping):
            return value
        parts = ((key, self.value(part, inner.get(key, others))) for key, part in value.items())
        return {
            key: part
            for key, part in parts
            if key not in inner or key in needed or not is_left_out(part, self._allowed(inner[key]))
        }

    def _list(self, value: list[Any], schema: JSON) -> list[Any]:
        items = schema.get("items")
        first = schema["prefixItems"] if isinstance(schema.get("prefixItems"), list) else []
        if isinstance(items, list):  # as older drafts write the first items
            first, items = items, schema.get("additionalItems")
        rest = [self.value(part, items) for part in value[len(first) :]] if isinstance(items, Mapping) else None
        return [*map(self.value, value, first), *(value[len(first) :] if rest is None else rest)]

    def _allowed(self, schema: Any) -> frozenset[str]:
        if id(schema) not in self._types:
            self._types[id(schema)] = types(schema, self._root)
        return self._types[id(schema)]

    def _read(self, schema: Any) -> JSON:
        if id(schema) not in self._whole:
            self._whole[id(schema)] = whole(schema, self._root)
        return self._whole[id(schema)]

    def _listed(self, text: str, schema: Any) -> Any:
        """Return a list of the one item that a text stands for; the text if that is not clear."""
        if text[:1] == "[":
            return text
        items = self._choice([], schema).get("items")
        if not isinstance(items, Mapping):
            return text
        allowed = self._allowed(items)
        item = text if allowed == TEXT else from_text(text, allowed)
        return [item] if allowed == TEXT or (allowed != ALL_TYPES and not isinstance(item, str)) else text

    def _choice(self, value: Any, schema: Any, steps: int = MOST_STEPS) -> JSON:
        """Return the schema with the keywords of the alternative that the value is one of."""
        found = self._read(schema)
        choices = _choices(found)
        if not choices or not steps:
            return found
        key = (id(schema), type_of(value))
        if key not in self._fitting:
            self._fitting[key] = [one for one in choices[:MOST_ALTERNATIVES] if fits(value, self._allowed(one))]
        chosen = self._likeliest(value, self._fitting[key])
        return found if chosen is None else _joined([found, self._choice(value, chosen, steps - 1)])

    def _likeliest(self, value: Any, choices: list[Any]) -> Any:
        """Return the first alternative that a value fits as it is; else the first that it does not contradict."""
        if len(choices) > 1 and isinstance(value, dict | list):
            if self._left < 0:
                return None
            possible = [one for one in choices if not self._contradicts(value, self._read(one))]
            choices = [one for one in possible if self._fits_inside(value, self._read(one))] or possible or choices
        return choices[0] if choices else None

    def _contradicts(self, value: Any, schema: JSON) -> bool:
        """Return whether an object lacks a property, or has the wrong one of those that name its kind."""
        if not isinstance(value, dict):
            return False
        inner, needed = schema.get("properties"), required(schema)
        inner = inner if isinstance(inner, Mapping) else {}
        self._left -= len(value) + len(needed)
        if self._left < 0:
            return False
        if not needed <= value.keys() or (schema.get("additionalProperties") is False and value.keys() - inner.keys()):
            return True
        return any(key in inner and not self._is_listed(part, self._read(inner[key])) for key, part in value.items())

    def _is_listed(self, value: Any, schema: JSON) -> bool:
        """Return whether a value is one of those that a schema lists, if it lists any, also as a text."""
        values = [schema["const"]] if "const" in schema else schema.get("enum")
        if not isinstance(values, list) or isinstance(value, dict | list):
            return True
        self._left -= len(values)
        return self._left < 0 or value in values or (isinstance(value, str) and value in map(_as_text, values))

    def _fits_inside(self, value: Any, schema: JSON) -> bool:
        """Return whether the parts of a value have the types of a schema."""
        self._left -= len(value) if isinstance(value, dict | list) else 0
        if self._left < 0:
            return False
        if isinstance(value, dict) and isinstance(inner := schema.get("properties"), Mapping):
            return all(key not in inner or fits(part, self._allowed(inner[key])) for key, part in value.items())
        items = schema.get("items")
        if isinstance(value, list) and isinstance(items, Mapping):
            return all(fits(part, self._allowed(items)) for part in value)
        return True


def is_left_out(value: Any, allowed: frozenset[str]) -> bool:
    """Return whether a value means that an optional argument is not given: null, or the word, for one of neither."""
    if value is None:
        return "null" not in allowed
    return isinstance(value, str) and not allowed & {"null", "string"} and value.strip().lower() in NOTHING


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


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
    """Parse a string as one of the allowed types; return it unchanged if it is none of them.

    Where a string is allowed too, only what is written as JSON or Python writes it is another type: `007` and `1.10`
    are no numbers then, and `none` is a word.
    """
    for kind in ORDER:
        if kind in allowed:
            value = READINGS[kind](text)
            if value is not _NO and not ("string" in allowed and kind in WRITTEN and not WRITTEN[kind](text.strip())):
                return value
    return text


def _is_canonical(text: str) -> bool:
    try:
        return json.dumps(json.loads(text)) == text
    except ValueError:
        return False


WRITTEN: Mapping[str, Callable[[str], bool]] = {
    "null": lambda text: text in ("null", "None"),
    "boolean": lambda text: text in ("true", "false", "True", "False"),
    "integer": _is_canonical,
    "number": _is_canonical,
}


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
