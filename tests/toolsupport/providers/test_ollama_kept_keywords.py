"""The parts of a tool that reach a model through Ollama: the table was measured with the types of Ollama's own code."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import orjson

from tests.tables import every
from toolsupport.core.types import ChatMessage, Permit, Request, Role, ToolSpec
from toolsupport.providers import ollama_request

# Each keyword with a value, in a property of type string: Ollama's `api.Tool` drops it (August 2026).
DROPPED: dict[str, Any] = {
    "minimum": 1037,
    "maximum": 4000,
    "exclusiveMinimum": 11,
    "exclusiveMaximum": 13,
    "multipleOf": 17,
    "minLength": 19,
    "maxLength": 23,
    "pattern": "^qzx$",
    "format": "date-time",
    "minItems": 29,
    "maxItems": 31,
    "const": "qzx7",
    "default": "qzx8",
    "minProperties": 37,
    "maxProperties": 41,
    "oneOf": [{"const": "qzx9"}],
    "allOf": [{"const": "qzx9"}],
    "not": {"const": "qzx9"},
    "$ref": "#/$defs/qzx",
    "prefixItems": [{"const": "qzx9"}],
}
KEPT = ("type", "description", "enum", "anyOf", "items", "properties", "required")


def seen_by_model(tool: ToolSpec) -> dict[str, Any]:
    """What is left of the first property in the request once Ollama has parsed it."""
    request = Request("m", (ChatMessage(Role.USER, "hi"),), (tool,), permit=Permit.PROBE)
    sent = orjson.loads(ollama_request.encode(request))["tools"][0]["function"]["parameters"]["properties"]["a"]
    return {keyword: value for keyword, value in sent.items() if keyword in KEPT}


@every("keyword", DROPPED)
def test_a_dropped_keyword_reaches_the_model_in_words_with_its_value(keyword: str) -> None:  # K7
    value = DROPPED[keyword]
    part = {"type": "string", keyword: value, "description": "Anything."}
    tool = ToolSpec("f", "Does it.", {"type": "object", "properties": {"a": part}, "required": []})
    value_in_words = value if isinstance(value, str) else orjson.dumps(value).decode()
    said = seen_by_model(tool)["description"]
    assert said.startswith("Anything. (") and value_in_words.replace(" ", "") in said.replace(" ", "")
    bare = replace(tool, parameters={"type": "object", "properties": {"a": {"type": "string"}}})
    assert seen_by_model(bare) == {"type": "string"}


def test_what_ollama_keeps_is_not_repeated() -> None:
    part = {"type": "array", "items": {"type": "integer", "minimum": 3}, "description": "Years.", "enum": [[3]]}
    tool = ToolSpec("f", "", {"type": "object", "properties": {"a": part}, "required": ["a"]})
    assert seen_by_model(tool) == part
