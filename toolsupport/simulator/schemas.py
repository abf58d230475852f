"""Schemas of the two chat requests, as Go types."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from toolsupport.simulator import duration
from toolsupport.simulator.go_json_writer import text
from toolsupport.simulator.go_types import (
    ANY_MAP,
    BOOL,
    FLOAT,
    INT,
    STRING,
    GoCustom,
    GoMap,
    GoScalar,
    GoSlice,
    GoStringOrList,
    GoStruct,
)

LEVELS = ("high", "medium", "low")


def think_fault(value: Any) -> str:
    if isinstance(value, bool) or value in LEVELS:
        return ""
    choices = '"high", "medium", "low", true, or false'
    if isinstance(value, str):
        return f"invalid think value: {text(value)} (must be {choices})"
    return f"think must be a boolean or string ({choices})"


def image_fault(value: Any) -> str:
    try:
        base64.b64decode(value, validate=True)
    except (binascii.Error, TypeError, ValueError):
        return "illegal base64 data at input byte 0"
    return ""


PROPERTY = GoStruct("api.ToolProperty", "ToolProperty", {"type": GoStringOrList(), "description": STRING})
PARAMETERS = GoStruct(
    "api.ToolFunctionParameters",
    "ToolFunctionParameters",
    {
        "type": STRING,
        "required": GoSlice(STRING, "[]string"),
        "properties": GoMap("map[string]api.ToolProperty", PROPERTY),
    },
)
FUNCTION = GoStruct(
    "api.ToolFunction", "ToolFunction", {"name": STRING, "description": STRING, "parameters": PARAMETERS}
)
TOOL = GoStruct("api.Tool", "Tool", {"type": STRING, "function": FUNCTION})

NATIVE_FUNCTION = GoStruct(
    "api.ToolCallFunction", None, {"name": STRING, "arguments": GoMap("api.ToolCallFunctionArguments")}
)
NATIVE_CALL = GoStruct("api.ToolCall", None, {"id": STRING, "function": NATIVE_FUNCTION})
NATIVE_MESSAGE = GoStruct(
    "api.Alias",
    None,
    {
        "role": STRING,
        "content": STRING,
        "thinking": STRING,
        "images": GoSlice(GoCustom(image_fault), "[]api.ImageData"),
        "tool_calls": GoSlice(NATIVE_CALL, "[]api.ToolCall"),
        "tool_name": STRING,
        "tool_call_id": STRING,
    },
)
NATIVE = GoStruct(
    "api.ChatRequest",
    "ChatRequest",
    {
        "model": STRING,
        "messages": GoSlice(NATIVE_MESSAGE, "[]api.Message"),
        "stream": BOOL,
        "keep_alive": GoCustom(duration.fault),
        "tools": GoSlice(TOOL, "api.Tools"),
        "options": ANY_MAP,
        "think": GoCustom(think_fault),
        "truncate": BOOL,
        "_debug_render_only": BOOL,
    },
)
SHOW = GoStruct("api.ShowRequest", "ShowRequest", {"model": STRING, "name": STRING, "verbose": BOOL})
EMBED = GoStruct("api.EmbedRequest", "EmbedRequest", {"model": STRING, "truncate": BOOL, "dimensions": INT})
OPENAI_EMBED = GoStruct("openai.EmbedRequest", "EmbedRequest", {"model": STRING, "dimensions": INT})
DELETE = GoStruct("api.DeleteRequest", "DeleteRequest", {"model": STRING, "name": STRING})
PULL = GoStruct("api.PullRequest", "PullRequest", {"model": STRING, "name": STRING, "insecure": BOOL, "stream": BOOL})

OPENAI_FUNCTION = GoStruct("struct { Name string; Arguments string }", "", {"name": STRING, "arguments": STRING})
OPENAI_CALL = GoStruct("openai.ToolCall", "ToolCall", {"id": STRING, "type": STRING, "function": OPENAI_FUNCTION})
OPENAI_MESSAGE = GoStruct(
    "openai.Message",
    "Message",
    {
        "role": STRING,
        "reasoning": STRING,
        "tool_calls": GoSlice(OPENAI_CALL, "[]openai.ToolCall"),
        "name": STRING,
        "tool_call_id": STRING,
    },
)
STREAM_OPTIONS = GoStruct("openai.StreamOptions", "StreamOptions", {"include_usage": BOOL})
OPENAI = GoStruct(
    "openai.ChatCompletionRequest",
    "ChatCompletionRequest",
    {
        "model": STRING,
        "messages": GoSlice(OPENAI_MESSAGE, "[]openai.Message"),
        "stream": BOOL,
        "stream_options": STREAM_OPTIONS,
        "max_tokens": INT,
        "seed": INT,
        "temperature": FLOAT,
        "top_p": FLOAT,
        "tools": GoSlice(TOOL, "[]api.Tool"),
        "reasoning_effort": STRING,
    },
)

# The options a model is loaded or run with, and the Go type each must have.
WHOLE = GoScalar("integer", (int, float))
NUMBER = GoScalar("float32", (int, float))
OPTIONS = {"num_ctx": WHOLE, "num_predict": WHOLE, "seed": WHOLE, "top_k": WHOLE, "num_keep": WHOLE, "num_gpu": WHOLE}
OPTIONS |= {"temperature": NUMBER, "top_p": NUMBER, "min_p": NUMBER, "repeat_penalty": NUMBER}
