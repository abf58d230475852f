"""Reads the body of a chat completion request; fields that are not in its schema are ignored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from toolsupport.core import strict_json
from toolsupport.core.types import JSON, ChatMessage, ToolSpec
from toolsupport.gateway.conversation import read_messages
from toolsupport.gateway.field_errors import InvalidField
from toolsupport.gateway.request_schemas import CHOICES, OPTIONS, QUESTIONS

# The options of sampling that have another name in our requests.
OTHER_NAMES: Mapping[str, str] = MappingProxyType({"max_tokens": "num_predict", "max_completion_tokens": "num_predict"})


@dataclass(frozen=True, slots=True)
class ChatCompletionRequest:
    """A parsed request. `choice` is one of CHOICES; if a tool is named, `tools` contains only that one."""

    model: str
    log: tuple[ChatMessage, ...]
    tools: tuple[ToolSpec, ...] = ()
    choice: str = "auto"
    parallel: bool | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    stream: bool = False
    include_usage: bool = False


def read(body: bytes) -> ChatCompletionRequest:
    """Parse the body. Raises InvalidField with the name of the wrong field."""
    try:
        # Schemas of tools hold limits beyond 64 bits (the uint64 of JavaScript), which servers read as floats.
        given = strict_json.read(body, wide=float)
    except ValueError as error:
        raise InvalidField(f"The body is not JSON: {error}.") from error
    QUESTIONS.check(given)
    return asked(given)


def asked(given: JSON) -> ChatCompletionRequest:
    """Parse a body that fits QUESTION. Raises InvalidField if two of its fields contradict each other."""
    tools, choice = _tools(given)
    return ChatCompletionRequest(
        model=given["model"],
        log=read_messages(given["messages"]),
        tools=tools,
        choice=choice,
        parallel=given.get("parallel_tool_calls"),
        options=_options(given),
        stream=bool(given.get("stream")),
        include_usage=bool((given.get("stream_options") or {}).get("include_usage")),
    )


def _options(given: JSON) -> dict[str, Any]:
    options = {name: given.get(name) for name in OPTIONS}
    if isinstance(options["stop"], str):
        options["stop"] = [options["stop"]]
    return {OTHER_NAMES.get(name, name): _value(name, value) for name, value in options.items() if value is not None}


def _value(name: str, value: Any) -> Any:
    # `5.0` is a whole number in JSON, and not every server takes it so.
    return int(value) if "integer" in OPTIONS[name].get("type", ()) else value


def _tools(given: JSON) -> tuple[tuple[ToolSpec, ...], str]:
    """Return the tools and the tool choice."""
    tools = tuple(ToolSpec.from_openai(tool) for tool in given.get("tools") or [])
    if len({tool.name for tool in tools}) < len(tools):
        raise InvalidField("Two tools have the same name.", "tools")
    return _chosen(tools, given.get("tool_choice"))


def _chosen(tools: tuple[ToolSpec, ...], choice: Any) -> tuple[tuple[ToolSpec, ...], str]:
    if choice is None or choice in CHOICES:
        if choice == "required" and not tools:
            raise InvalidField("A call is required, but no tool is offered.", "tool_choice")
        return tools, choice or "auto"
    named = tuple(tool for tool in tools if tool.name == choice["function"]["name"])
    if not named:
        raise InvalidField("tool_choice has to be auto, none, required, or name one of the tools.", "tool_choice")
    return named, "required"
