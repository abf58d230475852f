"""Describes in words the parts of a tool's JSON Schema that a server drops before the model sees it.

Ollama parses each tool into types of its own, which have fields for a few keywords: the others never reach a model,
which then sends 3 where at least 1037 is needed. What such a server keeps is a `KeptKeywords`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, TypeGuard

from toolsupport.core.schema_keywords import MAPPINGS
from toolsupport.core.types import JSON, ToolSpec

DEEPEST = 12
LONGEST = 600  # characters of a keyword that is written as JSON
ANNOTATIONS = frozenset({"title", "description", "examples", "$comment", "default", "deprecated"})


@dataclass(frozen=True, slots=True)
class KeptKeywords:
    """The keywords that a server keeps: of the parameters as a whole, and of each property. It keeps `items` whole."""

    parameters: frozenset[str]
    properties: frozenset[str]


def in_words(tool: ToolSpec, kept: KeptKeywords) -> ToolSpec:
    """Return the tool with the lost keywords in its descriptions; the same tool if none is lost."""
    parameters = _with_words(tool.parameters, kept.properties, 0)
    lost = list(_lost(tool.parameters, kept.parameters))
    if parameters == tool.parameters and not lost:
        return tool
    return replace(tool, parameters=parameters, description=joined(tool.description, lost))


def _with_words(schema: JSON, kept: frozenset[str], depth: int) -> JSON:
    """Return the schema whose properties and alternatives describe what each of them loses."""
    properties, branches = schema.get("properties"), schema.get("anyOf") if "anyOf" in kept else None
    if depth > DEEPEST:
        return schema
    if isinstance(properties, dict):
        named = {name: _described(part, kept, depth) for name, part in properties.items()}
        schema = {**schema, "properties": named}
    return {**schema, "anyOf": [_described(part, kept, depth) for part in branches]} if _is_list(branches) else schema


def _is_list(value: Any) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


def _described(part: Any, kept: frozenset[str], depth: int) -> Any:
    if not isinstance(part, dict):
        return part
    nested, lost = _with_words(part, kept, depth + 1), list(_lost(part, kept))
    said = part.get("description")
    return {**nested, "description": joined(said if isinstance(said, str) else "", lost)} if lost else nested


def _lost(schema: JSON, kept: frozenset[str]) -> Iterator[str]:
    for keyword, value in schema.items():
        if keyword not in kept and keyword in WORDS and (words := WORDS[keyword](value)):
            yield words


def joined(said: str, lost: list[str]) -> str:
    """Return a description with the words for what is lost, where it does not have them already."""
    new = [words for words in lost if not re.search(rf"{re.escape(words)}(?!\w|\.\d)", said)]
    if not new:
        return said
    sentence = "; ".join(new)
    return f"{said.rstrip()} ({sentence})" if said.strip() else sentence[0].upper() + sentence[1:]


def _with_value(words: str) -> Callable[[Any], str]:
    return lambda value: words.format(_written(value))


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _as_json(words: str) -> Callable[[Any], str]:
    return lambda value: words.format(_shortened(value))


def _shortened(value: Any) -> str:
    """Return a value as JSON. A long one loses its descriptions, then its end, with a mark."""
    if len(text := json.dumps(value, ensure_ascii=False)) > LONGEST:
        text = json.dumps(_bare(value), ensure_ascii=False)
    if len(text) <= LONGEST:
        return text
    return _first_values(value) if isinstance(value, list) else f"{text[:LONGEST]}… (cut here)"


def _bare(schema: Any, names: bool = False, depth: int = 0) -> Any:
    """Return a schema without descriptions; `names`: its keys are names of properties."""
    if depth > 2 * DEEPEST:
        return schema
    if isinstance(schema, list):
        return [_bare(one, depth=depth + 1) for one in schema]
    if not isinstance(schema, dict):
        return schema
    kept = schema if names else {key: value for key, value in schema.items() if key not in ANNOTATIONS}
    return {key: _bare(value, not names and key in MAPPINGS, depth + 1) for key, value in kept.items()}


def _first_values(values: list[Any]) -> str:
    """Return the first values that have room, at least a part of one, and how many follow."""
    room, shown = LONGEST, 0
    for one in values:
        room -= len(json.dumps(one, ensure_ascii=False)) + 2
        if room < 0:
            break
        shown += 1
    text = (
        json.dumps(values[:shown], ensure_ascii=False)
        if shown
        else f"{json.dumps(values, ensure_ascii=False)[:LONGEST]}…"
    )
    return f"{text} and {len(values) - max(shown, 1)} more"


def _only_if(wanted: bool, words: str) -> Callable[[Any], str]:
    return lambda value: words if value is wanted else ""


def _exclusive(words: str, words_of_switch: str) -> Callable[[Any], str]:
    """Return the words for a bound, which draft 4 of JSON Schema has as a switch beside the bound."""
    return lambda value: (words_of_switch if value else "") if isinstance(value, bool) else words.format(value)


def _others(words: str) -> Callable[[Any], str]:
    as_json = _as_json(words)
    return lambda value: "no other properties" if value is False else as_json(value) if isinstance(value, dict) else ""


# The words for each keyword that limits a value. Those without words (`title`, `examples` …) limit nothing.
WORDS: Mapping[str, Callable[[Any], str]] = MappingProxyType(
    {
        "minimum": _with_value("at least {}"),
        "maximum": _with_value("at most {}"),
        "exclusiveMinimum": _exclusive("more than {}", "not the lower bound itself"),
        "exclusiveMaximum": _exclusive("less than {}", "not the upper bound itself"),
        "multipleOf": _with_value("a multiple of {}"),
        "minLength": _with_value("at least {} characters"),
        "maxLength": _with_value("at most {} characters"),
        "pattern": _with_value("matches the regular expression {}"),
        "format": _with_value("format: {}"),
        "minItems": _with_value("at least {} items"),
        "maxItems": _with_value("at most {} items"),
        "uniqueItems": _only_if(True, "no item twice"),
        "minProperties": _with_value("at least {} properties"),
        "maxProperties": _with_value("at most {} properties"),
        "additionalProperties": _others("other properties as JSON Schema: {}"),
        "unevaluatedProperties": _others("other properties as JSON Schema: {}"),
        "patternProperties": _as_json("properties by regular expression, as JSON Schema: {}"),
        "propertyNames": _as_json("names of properties as JSON Schema: {}"),
        "contains": _as_json("contains an item of this JSON Schema: {}"),
        "minContains": _with_value("at least {} such items"),
        "maxContains": _with_value("at most {} such items"),
        "nullable": _only_if(True, "null is allowed"),
        "const": _as_json("always {}"),
        "enum": _as_json("one of {}"),
        "default": _as_json("default: {}"),
        "items": _as_json("items as JSON Schema: {}"),
        "prefixItems": _as_json("items in this order, as JSON Schema: {}"),
        "anyOf": _as_json("any of these JSON Schemas: {}"),
        "oneOf": _as_json("one of these JSON Schemas: {}"),
        "allOf": _as_json("all of these JSON Schemas: {}"),
        "if": _as_json("if this JSON Schema fits: {}"),
        "then": _as_json("then this one: {}"),
        "else": _as_json("else this one: {}"),
        "not": _as_json("not this JSON Schema: {}"),
        "required": _as_json("required: {}"),
        "dependentRequired": _as_json("required beside others: {}"),
        "dependentSchemas": _as_json("this JSON Schema beside others: {}"),
        "definitions": _as_json("definitions: {}"),
        "$ref": _with_value("as defined at {}"),
    }
)
