"""What the two chat requests must look like, as Go types."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from toolsupport.simulator import duration
from toolsupport.simulator.gojson import text
from toolsupport.simulator.gotypes import (
    ANY_MAP,
    BOOL,
    FLOAT,
    INT,
    STRING,
    Custom,
    Leaf,
    Many,
    Map,
    OneOrMany,
    Struct,
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


PROPERTY = Struct("api.ToolProperty", "ToolProperty", {"type": OneOrMany(), "description": STRING})
PARAMETERS = Struct(
    "api.ToolFunctionParameters",
    "ToolFunctionParameters",
    {
        "type": STRING,
        "required": Many(STRING, "[]string"),
        "properties": Map("map[string]api.ToolProperty", PROPERTY),
    },
)
FUNCTION = Struct("api.ToolFunction", "ToolFunction", {"name": STRING, "description": STRING, "parameters": PARAMETERS})
TOOL = Struct("api.Tool", "Tool", {"type": STRING, "function": FUNCTION})

NATIVE_FUNCTION = Struct(
    "api.ToolCallFunction", None, {"name": STRING, "arguments": Map("api.ToolCallFunctionArguments")}
)
NATIVE_CALL = Struct("api.ToolCall", None, {"id": STRING, "function": NATIVE_FUNCTION})
NATIVE_MESSAGE = Struct(
    "api.Alias",
    None,
    {
        "role": STRING,
        "content": STRING,
        "thinking": STRING,
        "images": Many(Custom(image_fault), "[]api.ImageData"),
        "tool_calls": Many(NATIVE_CALL, "[]api.ToolCall"),
        "tool_name": STRING,
        "tool_call_id": STRING,
    },
)
NATIVE = Struct(
    "api.ChatRequest",
    "ChatRequest",
    {
        "model": STRING,
        "messages": Many(NATIVE_MESSAGE, "[]api.Message"),
        "stream": BOOL,
        "keep_alive": Custom(duration.fault),
        "tools": Many(TOOL, "api.Tools"),
        "options": ANY_MAP,
        "think": Custom(think_fault),
        "truncate": BOOL,
        "_debug_render_only": BOOL,
    },
)
SHOW = Struct("api.ShowRequest", "ShowRequest", {"model": STRING, "name": STRING, "verbose": BOOL})
PULL = Struct("api.PullRequest", "PullRequest", {"model": STRING, "name": STRING, "insecure": BOOL, "stream": BOOL})

OPENAI_FUNCTION = Struct("struct { Name string; Arguments string }", "", {"name": STRING, "arguments": STRING})
OPENAI_CALL = Struct("openai.ToolCall", "ToolCall", {"id": STRING, "type": STRING, "function": OPENAI_FUNCTION})
OPENAI_MESSAGE = Struct(
    "openai.Message",
    "Message",
    {
        "role": STRING,
        "reasoning": STRING,
        "tool_calls": Many(OPENAI_CALL, "[]openai.ToolCall"),
        "name": STRING,
        "tool_call_id": STRING,
    },
)
STREAM_OPTIONS = Struct("openai.StreamOptions", "StreamOptions", {"include_usage": BOOL})
OPENAI = Struct(
    "openai.ChatCompletionRequest",
    "ChatCompletionRequest",
    {
        "model": STRING,
        "messages": Many(OPENAI_MESSAGE, "[]openai.Message"),
        "stream": BOOL,
        "stream_options": STREAM_OPTIONS,
        "max_tokens": INT,
        "seed": INT,
        "temperature": FLOAT,
        "top_p": FLOAT,
        "tools": Many(TOOL, "[]api.Tool"),
        "reasoning_effort": STRING,
    },
)

# The options a model is loaded or run with, and the Go type each must have.
WHOLE = Leaf("integer", (int, float))
NUMBER = Leaf("float32", (int, float))
OPTIONS = {"num_ctx": WHOLE, "num_predict": WHOLE, "seed": WHOLE, "top_k": WHOLE, "num_keep": WHOLE, "num_gpu": WHOLE}
OPTIONS |= {"temperature": NUMBER, "top_p": NUMBER, "min_p": NUMBER, "repeat_penalty": NUMBER}
