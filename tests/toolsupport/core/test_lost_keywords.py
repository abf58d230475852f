"""Keywords that a server drops from a tool's schema are in its descriptions, with each value."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.tables import every
from toolsupport.core.lost_keywords import LONGEST, KeptKeywords, in_words
from toolsupport.core.types import ToolSpec

OF_PROPERTIES = frozenset({"type", "description", "items", "properties"})
KEPT = KeptKeywords(frozenset({"type", "properties", "required"}), OF_PROPERTIES)


def described(part: Any, **around: Any) -> Any:
    tool = ToolSpec("f", "Does it.", {"type": "object", "properties": {"a": part}, "required": [], **around})
    return in_words(tool, KEPT).parameters["properties"]["a"]


WORDS: list[tuple[dict[str, Any], str]] = [
    ({"minimum": 1037}, "At least 1037"),
    ({"minimum": 0.5, "maximum": -2}, "At least 0.5; at most -2"),
    ({"exclusiveMinimum": 3, "exclusiveMaximum": 9}, "More than 3; less than 9"),
    ({"multipleOf": 25}, "A multiple of 25"),
    ({"minLength": 2, "maxLength": 8}, "At least 2 characters; at most 8 characters"),
    ({"pattern": "^[A-Z]{3}$"}, "Matches the regular expression ^[A-Z]{3}$"),
    ({"format": "date-time"}, "Format: date-time"),
    ({"nullable": True}, "Null is allowed"),
    ({"minItems": 1, "maxItems": 3, "uniqueItems": True}, "At least 1 items; at most 3 items; no item twice"),
    ({"const": "ä"}, 'Always "ä"'),
    ({"default": None}, "Default: null"),
    ({"additionalProperties": False}, "No other properties"),
    ({"additionalProperties": {"minimum": 2}}, 'Other properties as JSON Schema: {"minimum": 2}'),
    (
        {"patternProperties": {"^x": {"minLength": 3}}},
        'Properties by regular expression, as JSON Schema: {"^x": {"minLength": 3}}',
    ),
    ({"propertyNames": {"maxLength": 4}}, 'Names of properties as JSON Schema: {"maxLength": 4}'),
    (
        {"contains": {"const": 1}, "minContains": 2},
        'Contains an item of this JSON Schema: {"const": 1}; at least 2 such items',
    ),
    (
        {"if": {"minimum": 5}, "then": {"maximum": 9}},
        'If this JSON Schema fits: {"minimum": 5}; then this one: {"maximum": 9}',
    ),
    ({"minimum": 4, "exclusiveMinimum": True}, "At least 4; not the lower bound itself"),
    ({"maximum": 4, "exclusiveMaximum": False}, "At most 4"),
    ({"unevaluatedProperties": False}, "No other properties"),
    ({"oneOf": [{"type": "integer"}]}, 'One of these JSON Schemas: [{"type": "integer"}]'),
    ({"$ref": "#/$defs/node"}, "As defined at #/$defs/node"),
    ({"enum": ["a", 2]}, 'One of ["a", 2]'),
    ({"enum": list(range(100, 400))}, f"One of {list(range(100, 220))} and 180 more"),
    ({"enum": ["é" * 700, "b"]}, f'One of ["{"é" * 598}… and 1 more'),
    ({"const": "x" * 700}, f'Always "{"x" * 599}… (cut here)'),
    (
        {"not": {"title": "A", "properties": {"title": {"type": "null", "description": "d" * 700}}}},
        'Not this JSON Schema: {"properties": {"title": {"type": "null"}}}',
    ),
]


@every(("lost", "words"), WORDS)
def test_each_dropped_keyword_is_written_with_its_value(lost: dict[str, Any], words: str) -> None:  # K7
    assert described({"type": "string", **lost}) == {"type": "string", **lost, "description": words}


def test_words_follow_a_description_and_are_not_repeated() -> None:
    part = {"type": "integer", "minimum": 1037, "description": "The year."}
    assert described(part)["description"] == "The year. (at least 1037)"
    assert described({**part, "description": "A year, at least 1037."})["description"] == "A year, at least 1037."
    later = described({**part, "description": "Often at least 10370."})
    assert later["description"] == "Often at least 10370. (at least 1037)"


def test_parts_of_parts_and_the_whole_are_described_too() -> None:
    inner = {"type": "object", "properties": {"b": {"type": "integer", "maximum": 5}}}
    assert described(inner)["properties"]["b"]["description"] == "At most 5"
    parameters = {"type": "object", "properties": {}, "additionalProperties": False, "minProperties": 1}
    said = in_words(ToolSpec("f", "Does it.", parameters), KEPT).description
    assert said == "Does it. (no other properties; at least 1 properties)"


def test_alternatives_are_described_where_they_are_kept() -> None:
    kept = KeptKeywords(OF_PROPERTIES, OF_PROPERTIES | {"anyOf"})
    part = {"anyOf": [{"type": "integer", "minimum": 7}, {"type": "null"}]}
    tool = in_words(ToolSpec("f", "", {"properties": {"a": part}}), kept)
    assert tool.parameters["properties"]["a"]["anyOf"][0]["description"] == "At least 7"
    assert "Any of these" in described(part)["description"]


def test_a_tool_that_loses_nothing_stays_the_same() -> None:
    tool = ToolSpec("f", "", {"type": "object", "properties": {"a": {"type": "string", "title": "A"}}, "required": []})
    assert in_words(tool, KEPT) is tool


HOSTILE: list[Any] = [
    {"properties": []},
    {"properties": {"a": 3, "b": None, "c": {"description": 7, "minimum": [1], "additionalProperties": {}}}},
    {"properties": {"a": {"enum": ["x" * 5000], "default": {"k": "y" * 5000}}}},
]


@pytest.mark.parametrize("parameters", HOSTILE)
def test_any_schema_can_be_described(parameters: Any) -> None:
    assert (
        len(json.dumps(in_words(ToolSpec("f", "", parameters), KEPT).parameters))
        < len(json.dumps(parameters)) + 2 * LONGEST + 200
    )


def test_a_schema_without_an_end_is_described_to_some_depth() -> None:
    schema: dict[str, Any] = {"type": "integer", "minimum": 3}
    for _ in range(40):
        schema = {"type": "object", "properties": {"a": schema}}
    assert in_words(ToolSpec("f", "", schema), KEPT).parameters == schema
