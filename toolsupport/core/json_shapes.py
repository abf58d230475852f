"""Defines the kinds of JSON objects that are written, once for their writers and for the API description."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from toolsupport.core.types import JSON

NOTHING: Mapping[str, Any] = MappingProxyType({})
TEXT: JSON = {"type": "string"}
WHOLE: JSON = {"type": "integer", "minimum": 0}
TEXT_OR_NULL: JSON = {"type": ["string", "null"]}


@dataclass(frozen=True, slots=True)
class Shape:
    """One kind of object: `fields` with their schemas, `fixed` ones that have one value, `optional` ones.

    Calling it returns such an object, so that no writer can leave a field out or add one.
    """

    name: str
    fields: Mapping[str, JSON] = field(default_factory=lambda: NOTHING)
    fixed: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    optional: Mapping[str, JSON] = field(default_factory=lambda: NOTHING)

    def __call__(self, /, **values: Any) -> JSON:
        """Return the object with these values. Raises TypeError where a field is missing or unknown."""
        if values.keys() != self.fields.keys():
            wrong = (self.fields.keys() - values.keys()) | (values.keys() - self.fields.keys() - self.optional.keys())
            if wrong:
                raise TypeError(f"{self.name}: {', '.join(sorted(wrong))}")
        return {**self.fixed, **values}

    @property
    def ref(self) -> JSON:
        """The reference to its schema."""
        return {"$ref": f"#/components/schemas/{self.name}"}

    @property
    def schema(self) -> JSON:
        """The JSON Schema, which allows no other fields."""
        fixed = {name: {"const": value} for name, value in self.fixed.items()}
        return {
            "type": "object",
            "properties": {**fixed, **self.fields, **self.optional},
            "required": [*fixed, *self.fields],
            "additionalProperties": False,
        }


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several kinds of objects, such as the events of a stream."""

    name: str
    shapes: tuple[Shape, ...]

    @property
    def ref(self) -> JSON:
        """The reference to its schema."""
        return {"$ref": f"#/components/schemas/{self.name}"}

    @property
    def schema(self) -> JSON:
        """The JSON Schema."""
        return {"anyOf": [shape.ref for shape in self.shapes]}


def list_of(schema: JSON) -> JSON:
    """Return the schema of a list."""
    return {"type": "array", "items": schema}


def or_null(schema: JSON) -> JSON:
    """Return the schema of a value that may be null."""
    return {"anyOf": [schema, {"type": "null"}]}
