"""Go's complaints about types; the texts were printed by Go with Ollama's own structs."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tables import every
from toolsupport.simulator.go_types import GoPath
from toolsupport.simulator.schemas import NATIVE, OPENAI

FIELD = "json: cannot unmarshal {} into Go struct field {} of type {}"
PARAMETERS = "ToolFunctionParameters.tools.function.parameters"
PROPERTY = "ToolProperty.tools.function.parameters.properties"


def function(**fields: Any) -> dict[str, Any]:
    return {"tools": [{"function": {"name": "a", **fields}}]}


def message(**fields: Any) -> dict[str, Any]:
    return {"messages": [fields]}


def prop(**fields: Any) -> dict[str, Any]:
    return function(parameters={"properties": {"a": fields}})


THINK = 'think must be a boolean or string ("high", "medium", "low", true, or false)'
CALL = "ChatRequest.messages.tool_calls"

NATIVE_FAULTS: list[tuple[Any, str]] = [
    ([], "json: cannot unmarshal array into Go value of type api.ChatRequest"),
    ("x", "json: cannot unmarshal string into Go value of type api.ChatRequest"),
    ({"model": 1}, FIELD.format("number", "ChatRequest.model", "string")),
    ({"model": True}, FIELD.format("bool", "ChatRequest.model", "string")),
    ({"messages": {}}, FIELD.format("object", "ChatRequest.messages", "[]api.Message")),
    ({"messages": [1]}, FIELD.format("number", "ChatRequest.messages", "api.Alias")),
    (message(content=1), FIELD.format("number", "ChatRequest.messages.content", "string")),
    (message(content=[{}]), FIELD.format("array", "ChatRequest.messages.content", "string")),
    (message(content=None, role=7), FIELD.format("number", "ChatRequest.messages.role", "string")),
    (message(tool_calls={}), FIELD.format("object", CALL, "[]api.ToolCall")),
    (message(tool_calls=[1]), FIELD.format("number", CALL, "api.ToolCall")),
    (message(tool_calls=[{"function": 1}]), FIELD.format("number", f"{CALL}.function", "api.ToolCallFunction")),
    (
        message(tool_calls=[{"function": {"arguments": "x"}}]),
        FIELD.format("string", f"{CALL}.function.arguments", "api.ToolCallFunctionArguments"),
    ),
    (
        message(tool_calls=[{"function": {"arguments": [1]}}]),
        FIELD.format("array", f"{CALL}.function.arguments", "api.ToolCallFunctionArguments"),
    ),
    (message(images="x"), FIELD.format("string", "ChatRequest.messages.images", "[]api.ImageData")),
    (message(images=["%%"]), "illegal base64 data at input byte 0"),
    ({"stream": "yes"}, FIELD.format("string", "ChatRequest.stream", "bool")),
    ({"options": []}, FIELD.format("array", "ChatRequest.options", "map[string]interface {}")),
    ({"think": 3}, THINK),
    ({"think": {}}, THINK),
    ({"think": "huge"}, 'invalid think value: "huge" (must be "high", "medium", "low", true, or false)'),
    ({"keep_alive": True}, "Unsupported type: 'bool'"),
    ({"keep_alive": {}}, "Unsupported type: 'map[string]interface {}'"),
    ({"keep_alive": "5q"}, 'time: unknown unit "q" in duration "5q"'),
    ({"keep_alive": "5"}, 'time: missing unit in duration "5"'),
    ({"keep_alive": "-1"}, 'time: missing unit in duration "-1"'),
    ({"keep_alive": "abc"}, 'time: invalid duration "abc"'),
    ({"keep_alive": ""}, 'time: invalid duration ""'),
    ({"tools": {}}, FIELD.format("object", "ChatRequest.tools", "api.Tools")),
    ({"tools": [1]}, FIELD.format("number", "ChatRequest.tools", "api.Tool")),
    ({"tools": [{"type": 3}]}, FIELD.format("number", "Tool.tools.type", "string")),
    ({"tools": [{"function": "x"}]}, FIELD.format("string", "Tool.tools.function", "api.ToolFunction")),
    (function(name=1), FIELD.format("number", "ToolFunction.tools.function.name", "string")),
    (
        function(parameters=[]),
        FIELD.format("array", "ToolFunction.tools.function.parameters", "api.ToolFunctionParameters"),
    ),
    (function(parameters={"type": ["a"]}), FIELD.format("array", f"{PARAMETERS}.type", "string")),
    (function(parameters={"required": "a"}), FIELD.format("string", f"{PARAMETERS}.required", "[]string")),
    (
        function(parameters={"properties": []}),
        FIELD.format("array", f"{PARAMETERS}.properties", "map[string]api.ToolProperty"),
    ),
    (
        function(parameters={"properties": {"a": 1}}),
        FIELD.format("number", f"{PARAMETERS}.properties", "api.ToolProperty"),
    ),
    (prop(type=3), FIELD.format("number", f"{PROPERTY}.type", "[]string")),
    (prop(type=[3]), FIELD.format("number", f"{PROPERTY}.type", "string")),
    (prop(description=3), FIELD.format("number", f"{PROPERTY}.description", "string")),
]

OPENAI_FAULTS: list[tuple[Any, str]] = [
    ([], "json: cannot unmarshal array into Go value of type openai.ChatCompletionRequest"),
    ({"model": 1}, FIELD.format("number", "ChatCompletionRequest.model", "string")),
    ({"messages": {}}, FIELD.format("object", "ChatCompletionRequest.messages", "[]openai.Message")),
    ({"messages": [1]}, FIELD.format("number", "ChatCompletionRequest.messages", "openai.Message")),
    (message(role=1), FIELD.format("number", "Message.messages.role", "string")),
    (message(tool_calls=[{"id": 1}]), FIELD.format("number", "ToolCall.messages.tool_calls.id", "string")),
    (
        message(tool_calls=[{"function": {"arguments": {}}}]),
        FIELD.format("object", ".messages.tool_calls.function.arguments", "string"),
    ),
    ({"stream": "x"}, FIELD.format("string", "ChatCompletionRequest.stream", "bool")),
    ({"stream_options": 1}, FIELD.format("number", "ChatCompletionRequest.stream_options", "openai.StreamOptions")),
    (
        {"stream_options": {"include_usage": 1}},
        FIELD.format("number", "StreamOptions.stream_options.include_usage", "bool"),
    ),
    ({"max_tokens": "a"}, FIELD.format("string", "ChatCompletionRequest.max_tokens", "int")),
    ({"max_tokens": 1.5}, FIELD.format("number 1.5", "ChatCompletionRequest.max_tokens", "int")),
    ({"temperature": "x"}, FIELD.format("string", "ChatCompletionRequest.temperature", "float64")),
    (function(name=1), FIELD.format("number", "ToolFunction.tools.function.name", "string")),
]

GOOD = [
    None,
    {},
    {"model": None, "messages": None, "tools": None, "think": None, "keep_alive": None, "options": None},
    {"think": True, "keep_alive": "1h30m", "options": {"num_ctx": "checked later"}, "unknown": [1]},
    {"think": "low", "keep_alive": -1, "messages": [None, {"role": "User", "images": ["aGk="]}], "tools": [None]},
    {"keep_alive": "0", "tools": [{"function": {"name": "a", "parameters": {"properties": {"a": {"type": ["x"]}}}}}]},
]


@every(("value", "fault"), NATIVE_FAULTS)
def test_native_faults(value: Any, fault: str) -> None:
    assert NATIVE.fault(value, GoPath()) == fault


@every(("value", "fault"), OPENAI_FAULTS)
def test_openai_faults(value: Any, fault: str) -> None:
    assert OPENAI.fault(value, GoPath()) == fault


@pytest.mark.parametrize("value", GOOD)
def test_what_go_accepts_is_accepted(value: Any) -> None:
    assert NATIVE.fault(value, GoPath()) == ""


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from([*NATIVE.fields, *OPENAI.fields]), JSON_VALUES))
def test_any_json_fits_or_is_complained_about(value: Any) -> None:
    value = json.loads(json.dumps(value))
    assert isinstance(NATIVE.fault(value, GoPath()), str)
    assert isinstance(OPENAI.fault(value, GoPath()), str)
