"""Reads the body of a request for a chat completion; what we have no word for is left unread."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import orjson

from toolsupport.core.types import JSON, ChatMessage, ToolSpec
from toolsupport.gateway.conversation import read_messages
from toolsupport.gateway.field_errors import InvalidField

MOST_TOOLS = 256
MOST_STOPS = 16
CHOICES = ("auto", "none", "required")


@dataclass(frozen=True, slots=True)
class ChatCompletionRequest:
    """What a program wants. `choice` is one of CHOICES; a tool that was named is the only one in `tools`."""

    model: str
    log: tuple[ChatMessage, ...]
    tools: tuple[ToolSpec, ...] = ()
    choice: str = "auto"
    parallel: bool | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    stream: bool = False
    include_usage: bool = False


@dataclass(frozen=True, slots=True)
class SamplingOption:
    """An option of sampling: our word for it, what it may be, and that in words."""

    name: str
    fits: Callable[[Any], bool]
    words: str


def _number(least: float, most: float) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, int | float) and not isinstance(value, bool) and least <= value <= most


def _whole(least: int) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and value >= least


def _stops(value: Any) -> bool:
    texts = value if isinstance(value, list) else [value]
    return len(texts) <= MOST_STOPS and all(isinstance(text, str) for text in texts)


OPTIONS: Mapping[str, SamplingOption] = MappingProxyType(
    {
        "temperature": SamplingOption("temperature", _number(0, 2), "a number from 0 to 2"),
        "top_p": SamplingOption("top_p", _number(0, 1), "a number from 0 to 1"),
        "seed": SamplingOption("seed", _whole(-(2**63)), "a whole number"),
        "stop": SamplingOption("stop", _stops, f"a text, or a list of at most {MOST_STOPS}"),
        "max_tokens": SamplingOption("num_predict", _whole(1), "a whole number of 1 or more"),
        "max_completion_tokens": SamplingOption("num_predict", _whole(1), "a whole number of 1 or more"),
        "presence_penalty": SamplingOption("presence_penalty", _number(-2, 2), "a number from -2 to 2"),
        "frequency_penalty": SamplingOption("frequency_penalty", _number(-2, 2), "a number from -2 to 2"),
        "response_format": SamplingOption("response_format", lambda value: isinstance(value, dict), "an object"),
    }
)


def read(body: bytes) -> ChatCompletionRequest:
    """Raises InvalidField, which names the field that is wrong."""
    try:
        said = orjson.loads(body)
    except ValueError as error:
        raise InvalidField(f"The body is not JSON: {error}.") from error
    if not isinstance(said, dict):
        raise InvalidField("The body has to be a JSON object.")
    if said.get("n") not in (None, 1):
        raise InvalidField("Only one answer at a time can be given: leave n out, or send 1.", "n")
    tools, choice = _tools(said)
    return ChatCompletionRequest(
        model=_model(said.get("model")),
        log=read_messages(said.get("messages")),
        tools=tools,
        choice=choice,
        parallel=_switch(said, "parallel_tool_calls"),
        options=_options(said),
        stream=_switch(said, "stream") or False,
        include_usage=_include_usage(said.get("stream_options")),
    )


def _model(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InvalidField("Name a model: `server/name`, or a name that only one server has.", "model")
    return value


def _switch(said: JSON, name: str) -> bool | None:
    value = said.get(name)
    if value is not None and not isinstance(value, bool):
        raise InvalidField(f"{name} has to be true or false.", name)
    return value


def _include_usage(value: Any) -> bool:
    if value is not None and not isinstance(value, dict):
        raise InvalidField("stream_options has to be an object.", "stream_options")
    return bool(value and value.get("include_usage"))


def _options(said: JSON) -> dict[str, Any]:
    given = {name: said[name] for name in OPTIONS if said.get(name) is not None}
    for name, value in given.items():
        if not OPTIONS[name].fits(value):
            raise InvalidField(f"{name} has to be {OPTIONS[name].words}.", name)
    if isinstance(given.get("stop"), str):
        given["stop"] = [given["stop"]]
    return {OPTIONS[name].name: value for name, value in given.items()}


def _tools(said: JSON) -> tuple[tuple[ToolSpec, ...], str]:
    """The tools with how they may be called."""
    offered = [] if said.get("tools") is None else said["tools"]
    if not isinstance(offered, list) or len(offered) > MOST_TOOLS:
        raise InvalidField(f"tools has to be a list of at most {MOST_TOOLS}.", "tools")
    tools = tuple(_tool(tool, f"tools[{number}]") for number, tool in enumerate(offered))
    if len({tool.name for tool in tools}) < len(tools):
        raise InvalidField("Two tools have the same name.", "tools")
    return _chosen(tools, said.get("tool_choice"))


def _tool(tool: Any, place: str) -> ToolSpec:
    if not isinstance(tool, dict) or tool.get("type", "function") != "function":
        raise InvalidField("Only tools of the type function can be offered.", place)
    try:
        return ToolSpec.from_openai(tool)
    except (ValueError, TypeError, AttributeError) as error:
        raise InvalidField(f"This is not a tool that can be offered: {error}.", place) from error


def _chosen(tools: tuple[ToolSpec, ...], choice: Any) -> tuple[tuple[ToolSpec, ...], str]:
    if choice is None or choice in CHOICES:
        if choice == "required" and not tools:
            raise InvalidField("A call is required, but no tool is offered.", "tool_choice")
        return tools, choice or "auto"
    function = choice.get("function") if isinstance(choice, dict) else None
    name = function.get("name") if isinstance(function, dict) else None
    named = tuple(tool for tool in tools if tool.name == name)
    if not named:
        raise InvalidField("tool_choice has to be auto, none, required, or name one of the tools.", "tool_choice")
    return named, "required"
