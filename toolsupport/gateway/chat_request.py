"""Reads the body of a chat completion request; fields that are not in its schema are ignored."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from toolsupport.core.types import JSON, ToolSpec
from toolsupport.gateway.conversation import read_messages
from toolsupport.gateway.parsed_request import GatewayRequest, integers, only, parsed, required, usable
from toolsupport.gateway.request_errors import InvalidField
from toolsupport.gateway.request_schemas import CHOICES, OPTIONS, QUESTIONS

# Sampling options with another name in our requests.
OTHER_NAMES: Mapping[str, str] = MappingProxyType({"max_tokens": "num_predict", "max_completion_tokens": "num_predict"})


def read(body: bytes) -> GatewayRequest:
    """Parse the body. Raises InvalidField with the name of the wrong field."""
    given = parsed(body)
    QUESTIONS.check(given)
    return asked(given)


def asked(given: JSON) -> GatewayRequest:
    """Parse a body that fits QUESTION. Raises InvalidField if two of its fields contradict each other."""
    tools, choice, skipped = _tools(given)
    return GatewayRequest(
        model=given["model"],
        log=read_messages(given["messages"]),
        tools=tools,
        choice=choice,
        parallel=given.get("parallel_tool_calls"),
        options=_options(given),
        stream=bool(given.get("stream")),
        include_usage=bool((given.get("stream_options") or {}).get("include_usage")),
        skipped=skipped,
    )


def _options(given: JSON) -> dict[str, Any]:
    options = {name: given.get(name) for name in OPTIONS}
    if isinstance(options["stop"], str):
        options["stop"] = [options["stop"]]
    return integers({OTHER_NAMES.get(name, name): value for name, value in options.items() if value is not None})


def _tools(given: JSON) -> tuple[tuple[ToolSpec, ...], str, tuple[str, ...]]:
    """Return the tools, the tool choice, and the types of the tools that only hosted services have."""
    own: list[JSON] = []
    others = {"functions"} if given.get("functions") else set[str]()
    for tool in given.get("tools") or []:
        kind = tool.get("type") or "function"
        if kind == "function":
            own.append(tool)
        else:
            others.add(kind)
    tools, choice = _chosen(usable(tuple(map(_spec, own))), given.get("tool_choice"))
    return tools, choice, tuple(sorted(others))


def _spec(tool: JSON) -> ToolSpec:
    """Return a function, also one in the form of Responses or Messages."""
    if "function" in tool:
        return ToolSpec.from_openai(tool)
    schema = tool.get("parameters") or tool.get("input_schema")
    fields = {name: tool.get(name) for name in ("name", "description", "strict")}
    return ToolSpec.from_openai({"function": fields | {"parameters": schema}})


def _chosen(tools: tuple[ToolSpec, ...], choice: Any) -> tuple[tuple[ToolSpec, ...], str]:
    if choice == "required":
        return required(tools)
    if choice is None or choice in CHOICES:
        return tools, choice or "auto"
    if "allowed_tools" in choice:
        allowed = choice["allowed_tools"]
        named_ones = [one for one in allowed["tools"] if one.get("type", "function") == "function"]
        tools = only(tools, {one["function"]["name"] for one in named_ones})
        return required(tools) if allowed["mode"] == "required" else (tools, "auto")
    named = tuple(tool for tool in tools if tool.name == choice["function"]["name"])
    if not named:
        raise InvalidField("tool_choice must be auto, none, required, or name one of the tools.", "tool_choice")
    return named, "required"
