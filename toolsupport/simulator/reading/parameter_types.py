"""Builds JSON schemas from the notations that people use for parameter types."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from toolsupport.simulator.types import JSON

TYPES = {
    "string": "str string",
    "integer": "int integer long",
    "number": "float number double decimal",
    "boolean": "bool boolean",
    "array": "list array tuple set sequence",
    "object": "dict object map mapping record",
}
MEANT = {word: kind for kind, words in TYPES.items() for word in words.split()}
QUOTED = re.compile(r"\"([^\"]*)\"|'([^']*)'")
WRAPPED = re.compile(r"(?:typing\.)?(?:Optional|Annotated|Required)\[(.*)\]", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter with its description."""

    name: str
    schema: JSON
    required: bool


def of_type(words: str) -> JSON:
    """Return the schema of a written type: `str`, `list[int]`, `Literal["a", "b"]`, `string | null`, `number[]`."""
    words = words.strip()
    wrapped = WRAPPED.fullmatch(words)
    if wrapped:
        return of_type(wrapped.group(1))
    options = ["".join(pair) for pair in QUOTED.findall(words)]
    if options and (words.startswith("Literal") or words[0] in "\"'"):
        return {"type": "string", "enum": options}
    if words.endswith("[]"):
        return {"type": "array"}
    kinds = [MEANT[word] for word in re.findall(r"[a-z]+", words.lower()) if word in MEANT]
    return {"type": kinds[0]} if kinds else {}


def is_type(words: Any) -> bool:
    """Return whether these words are nothing but a type."""
    return isinstance(words, str) and bool(re.fullmatch(r"\w+(?:\[.*\]|\s*\|\s*\w+)?", words)) and bool(of_type(words))


def of_parameters(given: Iterable[Parameter]) -> JSON:
    """Return the schema of a tool with these parameters."""
    known = {parameter.name: parameter for parameter in given}
    properties = {name: parameter.schema for name, parameter in known.items()}
    required = [name for name, parameter in known.items() if parameter.required]
    return {"type": "object", "properties": properties, "required": required}


def of_object(value: Any) -> JSON | None:
    """Return the object if it is a schema, or a schema of the types it gives for names; None if it is neither."""
    if not isinstance(value, dict):
        return None
    if isinstance(value.get("properties"), dict) or (value.get("type") == "object" and "properties" not in value):
        return value
    if value and all(isinstance(inner, dict) and is_type(inner.get("type")) for inner in value.values()):
        return of_parameters(
            Parameter(name, inner, inner.get("required") is not False) for name, inner in value.items()
        )
    if value and all(is_type(inner) for inner in value.values()):
        return of_parameters(Parameter(name, of_type(inner), True) for name, inner in value.items())
    return None
