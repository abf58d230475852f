"""Converts a value to the type that its schema requires, if only one reading is possible."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from toolsupport.core.identity_cache import IdentityCache
from toolsupport.core.json_pointers import pointed_at
from toolsupport.core.schema_spelling import OTHER_NAMES
from toolsupport.core.text_values import NOTHING, ORDER, from_text
from toolsupport.core.types import JSON

TEXT = frozenset({"string"})
ALL_TYPES = frozenset(ORDER)
MOST_STEPS = 16
# Alternatives and values of a schema that are looked at for its types: a tool's schema may have thousands for one key.
MOST_ALTERNATIVES = 200
MOST_PARTS = 50  # of an `allOf`
# Properties that all alternatives together declare.
MOST_NAMED = 20_000
COMPOSING = frozenset({"allOf", "anyOf", "oneOf", "$ref"})
# Parts of the values that are compared with alternatives, to find the one that is meant.
MOST_COMPARED = 20_000
# Parts of schemas that are looked at for the types of the values of one call.
MOST_READ = 6_000


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
    return _named(schema) if COMPOSING.isdisjoint(schema) else _composed.of(schema)


def _all_named(schema: JSON) -> Mapping[str, Any]:
    """Return the properties of a schema with `allOf` or alternatives: each has a list of those that differ."""
    found = whole(schema, schema)
    others: dict[str, dict[int, Any]] = {}
    seen: dict[int, Mapping[str, Any]] = {}  # with what is seen: an id is free again after its object
    left = MOST_NAMED
    for choice in _choices(found)[:MOST_ALTERNATIVES]:
        inner = _named(whole(choice, schema))
        if id(inner) in seen:
            continue
        seen[id(inner)] = inner
        left -= len(inner)
        if left < 0:
            break
        for name, one in inner.items():
            others.setdefault(name, {})[id(one)] = one
    given = {name: list(ones.values()) for name, ones in others.items()}
    return {name: ones[0] if len(ones) == 1 else {"anyOf": ones} for name, ones in given.items()} | dict(_named(found))


_composed: IdentityCache[JSON, Mapping[str, Any]] = IdentityCache(_all_named, most=128)


def _named(schema: JSON) -> Mapping[str, Any]:
    declared = schema.get("properties")
    return declared if isinstance(declared, Mapping) else {}


def _choices(schema: JSON) -> list[Any]:
    found = schema.get("anyOf") or schema.get("oneOf")
    return found if isinstance(found, list) else []


def types(schema: Any, root: JSON) -> frozenset[str]:
    """Return all types that the schema allows; every type if it names none, or has too many alternatives to look at."""
    return _types_and_steps(schema, root, MOST_ALTERNATIVES)[0]


def _types_and_steps(schema: Any, root: JSON, most: int) -> tuple[frozenset[str], int]:
    found: set[str] = set()
    waiting, left = [schema], most
    while waiting:
        given = waiting.pop()
        schema = whole(given, root)
        choices = _choices(schema)
        values = [schema["const"]] if "const" in schema else schema.get("enum")
        left -= 1 + sum(len(one) for one in (values, schema.get("allOf")) if isinstance(one, list))
        if left < 0:
            return ALL_TYPES, most
        found |= {"null"} if _is_nullable(given) or _is_nullable(schema) else set()
        if isinstance(schema.get("type"), str | list):
            found |= _named_types(schema["type"])
        elif choices:
            waiting += choices[: left + 1]
        else:
            found |= {type_of(value) for value in values} if isinstance(values, list) and values else ALL_TYPES
    return frozenset(found), most - left


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
    return Coercion(root).value(value, schema)


class Coercion:
    """Converts the values of one call. Each part of the schema is read once, for any number of parts of the values."""

    def __init__(self, root: JSON) -> None:
        self._root = root
        self._types: dict[int, frozenset[str]] = {}
        self._whole: dict[int, JSON] = {}
        self._fitting: dict[tuple[int, str], list[Any]] = {}
        self._targets: dict[int, JSON] = {}
        self._chosen: dict[tuple[int, int], JSON] = {}
        self._left, self._unread = MOST_COMPARED, MOST_READ

    def value(self, value: Any, schema: Any) -> Any:
        schema = self._shared(schema)
        allowed = self.allowed(schema)
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
            if key not in inner or key in needed or not is_left_out(part, self.allowed(inner[key]))
        }

    def _list(self, value: list[Any], schema: JSON) -> list[Any]:
        items = schema.get("items")
        first = schema["prefixItems"] if isinstance(schema.get("prefixItems"), list) else []
        if isinstance(items, list):  # as older drafts write the first items
            first, items = items, schema.get("additionalItems")
        rest = [self.value(part, items) for part in value[len(first) :]] if isinstance(items, Mapping) else None
        return [*map(self.value, value, first), *(value[len(first) :] if rest is None else rest)]

    def allowed(self, schema: Any) -> frozenset[str]:
        """Return the types that a schema allows; all if those before had too many alternatives."""
        schema = self._shared(schema)
        if id(schema) not in self._types:
            most = min(MOST_ALTERNATIVES, self._unread)
            self._types[id(schema)], used = _types_and_steps(schema, self._root, most)
            self._unread -= used
        return self._types[id(schema)]

    def _shared(self, schema: Any) -> Any:
        """Return what a schema refers to, so that it is read once for all that refer to it."""
        if not isinstance(schema, dict) or "$ref" not in schema or _is_nullable(schema):
            return schema
        if id(schema) not in self._targets:
            self._targets[id(schema)] = resolved(schema, self._root)
        return self._targets[id(schema)]

    def _read(self, schema: Any) -> JSON:
        if id(schema) not in self._whole:
            self._whole[id(schema)] = whole(schema, self._root)
        return self._whole[id(schema)]

    def _listed(self, text: str, schema: Any) -> Any:
        """Return a list with a text as its only item; the text itself if that is not clear."""
        if text[:1] == "[":
            return text
        items = self._choice([], schema).get("items")
        if not isinstance(items, Mapping):
            return text
        allowed = self.allowed(items)
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
            self._fitting[key] = [one for one in choices[:MOST_ALTERNATIVES] if fits(value, self.allowed(one))]
        chosen = self._likeliest(value, self._fitting[key])
        if chosen is None:
            return found
        inner = self._choice(value, chosen, steps - 1)
        both = (id(found), id(inner))
        if both not in self._chosen:
            self._chosen[both] = _joined([found, inner])
        return self._chosen[both]

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
        self._left -= 1 + len(value) + len(needed)
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
        self._left -= 1 + (len(value) if isinstance(value, dict | list) else 0)
        if self._left < 0:
            return False
        if isinstance(value, dict) and isinstance(inner := schema.get("properties"), Mapping):
            return all(key not in inner or fits(part, self.allowed(inner[key])) for key, part in value.items())
        items = schema.get("items")
        if isinstance(value, list) and isinstance(items, Mapping):
            return all(fits(part, self.allowed(items)) for part in value)
        return True


def is_left_out(value: Any, allowed: frozenset[str]) -> bool:
    """Return whether a value means that an optional argument is not given: null, or the word, for one of neither."""
    if value is None:
        return "null" not in allowed
    return not allowed & {"null", "string"} and is_nothing(value)


def is_nothing(value: Any) -> bool:
    """Return whether a value is null or the word for it."""
    return value is None or (isinstance(value, str) and value.strip().lower() in NOTHING)


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
