"""Writes the body of a request to Ollama's native /api/chat."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from typing import Any

import orjson

from toolsupport.core import exact_json
from toolsupport.core.errors import ToolsupportError
from toolsupport.core.identity_cache import IdentityCache
from toolsupport.core.lost_keywords import KeptKeywords, in_words
from toolsupport.core.types import JSON, ChatMessage, Request, Role, ToolCall, ToolSpec

# The keywords with a field in Ollama's types of a tool; it drops all others before the model sees the tool.
KEPT = KeptKeywords(
    parameters=frozenset({"type", "$defs", "items", "required", "properties"}),
    properties=frozenset({"anyOf", "type", "items", "description", "enum", "properties", "required"}),
)
# Choices for which this protocol has no field, or one that is not an option.
NO_OPTIONS = ("tool_choice", "parallel_tool_calls", "response_format")


def encode(request: Request) -> bytes:
    """Return the JSON body.

    Raises ToolsupportError for forbidden tools, ValueError for values JSON cannot represent.
    """
    if why := request.forbidden():
        raise ToolsupportError(why)
    body: JSON = {
        "model": request.model,
        "messages": [WRITERS[message.role](message) for message in request.messages],
        "stream": request.stream,
    }
    options = {name: value for name, value in request.options.items() if name not in NO_OPTIONS}
    if options:
        body["options"] = options
    shape = request.schema or _format(request.options.get("response_format"))
    if shape and not request.tools:  # it would apply to the calls too
        body["format"] = shape
    if request.think is not None:
        body["think"] = request.think
    if request.keep_alive:
        body["keep_alive"] = _keep_alive(request.keep_alive)
    try:
        if request.tools:
            body["tools"] = orjson.Fragment(written_tools(request.tools))
        return orjson.dumps(body)
    except orjson.JSONEncodeError as error:
        raise ValueError(f"The request cannot be written as JSON: {error}.") from error


def written_tools(tools: tuple[ToolSpec, ...]) -> bytes:
    """Return the JSON of these tools, b"" without any."""
    return _written_tools.of(tools) if tools else b""


def _write_tools(tools: tuple[ToolSpec, ...]) -> bytes:
    return orjson.dumps([in_words(tool, KEPT).to_openai() for tool in tools])


# A chat offers the same tools in each request.
_written_tools = IdentityCache(_write_tools, most=64)


def _format(wanted: Any) -> Any:
    """Return `json`, a schema, or nothing, for OpenAI's response format."""
    if not isinstance(wanted, dict) or wanted.get("type") not in ("json_object", "json_schema"):
        return None
    named = wanted.get("json_schema")
    return (named.get("schema") if isinstance(named, dict) else None) or "json"


def _keep_alive(value: str) -> str | int:
    """Convert the value: a bare number is seconds (-1: for ever); only a number may have no unit."""
    return int(value) if value.removeprefix("-").isdecimal() else value


def _spoken(message: ChatMessage) -> JSON:
    written: JSON = {"role": message.role.value, "content": message.content}
    if message.images:
        written["images"] = [b64encode(image).decode() for image in message.images]
    return written


def _assistant(message: ChatMessage) -> JSON:
    written = _spoken(message)
    if message.thinking:
        written["thinking"] = message.thinking
    if message.calls:
        written["tool_calls"] = [_call(call) for call in message.calls]
    return written


def _call(call: ToolCall) -> JSON:
    arguments = orjson.Fragment(exact_json.dumps(call.arguments))
    return {"id": call.id, "function": {"name": call.name, "arguments": arguments}}


def _result(message: ChatMessage) -> JSON:
    return _spoken(message) | {"tool_name": message.name, "tool_call_id": message.call_id}


def _notice(message: ChatMessage) -> JSON:
    raise ToolsupportError("A notice is for people: it must not reach a model.")


WRITERS: dict[Role, Callable[[ChatMessage], JSON]] = {
    Role.SYSTEM: _spoken,
    Role.USER: _spoken,
    Role.ASSISTANT: _assistant,
    Role.TOOL: _result,
    Role.NOTICE: _notice,
}
