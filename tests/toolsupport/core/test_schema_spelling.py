"""Schemas that people and programs write in another way than JSON Schema does."""

from __future__ import annotations

import json
from typing import Any

from tests.tables import every
from toolsupport.core import remote_tools
from toolsupport.core.call_validation import unusable
from toolsupport.core.schema_spelling import in_json_schema, spelled
from toolsupport.core.types import JSON, ToolSpec
from toolsupport.gateway import parsed_request
from toolsupport.providers import ollama_request

TEXT: JSON = {"type": "string"}
# a property as it is written → as JSON Schema writes it
PARTS: list[tuple[Any, Any]] = [
    ({"type": "STRING"}, TEXT),
    ({"type": "int", "minimum": 1}, {"type": "integer", "minimum": 1}),
    (
        {"type": "dict", "properties": {"a": {"type": "float"}}},
        {"type": "object", "properties": {"a": {"type": "number"}}},
    ),
    ({"type": "any", "description": "x"}, {"description": "x"}),
    ({"type": None}, {}),
    ({"type": ["STRING", "NULL"]}, {"type": ["string", "null"]}),
    ({"type": "string", "enum": None, "items": None, "default": None}, {"type": "string", "default": None}),
    ({"type": "object", "properties": None, "required": None}, {"type": "object"}),
    (True, {}),
    ({"anyOf": [{"type": "str"}, True]}, {"anyOf": [TEXT, {}]}),
    ({"type": "array", "items": True}, {"type": "array", "items": {}}),
    ({"$id": "#/properties/x", "type": "string"}, TEXT),
    ({"type": "string", "required": False}, TEXT),
]
KEPT: list[Any] = [
    TEXT,
    {"type": "nonsense"},
    {"enum": [None, "STRING"], "default": {"type": "STRING", "required": True, "a": None}},
    {"type": "object", "properties": {"type": TEXT, "required": TEXT, "$id": TEXT, "enum": {"const": None}}},
    {"type": "object", "additionalProperties": False, "required": ["a"]},
    {"type": "object", "additionalProperties": True},
]


def tool(part: Any, **more: Any) -> ToolSpec:
    return ToolSpec("f", "", {"type": "object", "properties": {"x": part}, "required": [], **more})


@every("written, meant", PARTS)
def test_a_schema_is_rewritten_as_it_is_meant(written: Any, meant: Any) -> None:
    found = in_json_schema(tool(written))
    assert found.parameters == tool(meant).parameters
    assert unusable(found.parameters) == ""


@every("part", KEPT)
def test_a_schema_that_needs_nothing_stays_the_same_object(part: Any) -> None:
    given = tool(part)
    assert in_json_schema(given) is given


def test_a_property_that_calls_itself_required_is_listed() -> None:
    inner = {"type": "object", "properties": {"b": {"type": "string", "required": True}}}
    written = {"properties": {"a": inner | {"required": True}, "c": TEXT}, "required": ["c"]}
    assert spelled(written)["required"] == ["c", "a"]
    assert spelled(written)["properties"]["a"] == {"type": "object", "properties": {"b": TEXT}, "required": ["b"]}


def test_an_id_that_a_reference_means_stays() -> None:
    part = {"$id": "T0", "type": "object", "properties": {"next": {"$ref": "T0"}}}
    assert spelled(tool(part).parameters) == tool(part).parameters
    own = tool({"$id": "#a", "$ref": "#/$defs/d"}, **{"$id": "https://x.example/s", "$defs": {"d": TEXT}})
    assert spelled(own.parameters) == {**own.parameters, "properties": {"x": {"$ref": "#/$defs/d"}}}


@every("draft, kept", [("http://json-schema.org/draft-07/schema#", True), ("https://spec.openapis.org/oas/3.1", False)])
def test_an_unknown_draft_is_not_named(draft: str, kept: bool) -> None:
    found = in_json_schema(tool(TEXT, **{"$schema": draft})).parameters
    assert ("$schema" in found) is kept
    assert unusable(found) == ""


def test_a_schema_of_many_levels_is_read() -> None:
    deep: JSON = {"$id": "a"}
    for _ in range(5_000):
        deep = {"items": deep}
    assert spelled({"properties": {"x": deep}}) == {"properties": {"x": deep}}


def test_a_schema_of_many_levels_with_an_id_near_its_root_is_read() -> None:
    deep: JSON = {"type": "string"}
    for _ in range(2_000):
        deep = {"items": deep}
    found = spelled({"properties": {"x": {"$id": "a", **deep}}})
    assert "$id" not in found["properties"]["x"]
    assert unusable(found)


def test_programs_and_tool_servers_may_write_so() -> None:
    odd = {"type": "object", "properties": {"x": {"type": "STRING", "required": True}, "y": True}}
    [usable] = parsed_request.usable((ToolSpec("f", "", odd).completed(),))
    meant = {"type": "object", "properties": {"x": TEXT, "y": {}}, "required": ["x"]}
    assert usable.parameters == meant
    definition = {"name": "f", "inputSchema": odd}
    assert remote_tools.why_not(definition) == ""
    assert remote_tools.spec_of("s", definition).parameters == meant
    [sent] = json.loads(ollama_request.written_tools((usable,)))
    assert sent["function"]["parameters"] == meant
