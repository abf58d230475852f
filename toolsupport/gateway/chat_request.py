"""Reads the body of a chat completion request; fields that are not in its schema are ignored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from toolsupport.core.types import JSON, ToolSpec
from toolsupport.gateway import custom_tools
from toolsupport.gateway.chat_schemas import ITEM_QUESTIONS, QUESTIONS
from toolsupport.gateway.conversation import read_messages
from toolsupport.gateway.custom_tools import CALLED, CUSTOM, FUNCTION
from toolsupport.gateway.parsed_request import GatewayRequest, integers, only, parsed, required, usable
from toolsupport.gateway.request_errors import InvalidField
from toolsupport.gateway.request_schemas import CHOICES, OPTIONS
from toolsupport.gateway.responses import request as responses_request

# Sampling options with another name in our requests.
OTHER_NAMES: Mapping[str, str] = MappingProxyType({"max_tokens": "num_predict", "max_completion_tokens": "num_predict"})
# Types of a choice in the other APIs: those with a name, and all others.
NAMING = (*CALLED, "tool")
WORDS = {"auto": "auto", "none": "none", "required": "required", "any": "required"}


def read(body: bytes) -> GatewayRequest:
    """Parse the body. Raises InvalidField with the name of the wrong field."""
    given = parsed(body)
    if _is_of_items(given):
        ITEM_QUESTIONS.check(given)
        return asked_by_items(given)
    QUESTIONS.check(given)
    return asked(given)


def _is_of_items(given: Any) -> bool:
    return isinstance(given, dict) and given.get("messages") is None and given.get("input") is not None


def asked_by_items(given: JSON) -> GatewayRequest:
    """Parse a body that fits ITEMS: Cursor sends requests of the Responses API here, and reads chat completions."""
    return replace(responses_request.asked(given), include_usage=_includes_usage(given), echo={})


def asked(given: JSON) -> GatewayRequest:
    """Parse a body that fits QUESTION. Raises InvalidField if two of its fields contradict each other."""
    tools, custom, skipped = _tools(given)
    tools, choice = _chosen(tools, given.get("tool_choice"))
    return GatewayRequest(
        model=given["model"],
        log=read_messages(given),
        tools=tools,
        choice=choice,
        parallel=_parallel(given),
        options=_options(given),
        stream=bool(given.get("stream")),
        include_usage=_includes_usage(given),
        skipped=skipped,
        custom=custom,
    )


def _includes_usage(given: JSON) -> bool:
    return bool((given.get("stream_options") or {}).get("include_usage"))


def _parallel(given: JSON) -> bool | None:
    """Return whether several calls at once are allowed, None if that is left open; Messages has it in the choice."""
    parallel, choice = given.get("parallel_tool_calls"), given.get("tool_choice")
    if parallel is None and isinstance(choice, dict) and choice.get("disable_parallel_tool_use"):
        return False
    return parallel


def _options(given: JSON) -> dict[str, Any]:
    options = {name: given.get(name) for name in OPTIONS}
    if isinstance(options["stop"], str):
        options["stop"] = [options["stop"]]
    return integers({OTHER_NAMES.get(name, name): value for name, value in options.items() if value is not None})


def _tools(given: JSON) -> tuple[tuple[ToolSpec, ...], frozenset[str], tuple[str, ...]]:
    """Return the tools, the names of the custom ones, and what was left out."""
    specs, custom = list[ToolSpec](), dict[str, JSON]()
    others = {"functions"} if given.get("functions") else set[str]()
    for tool in given.get("tools") or []:
        kind = _kind(tool)
        if kind == CUSTOM:
            flat = _flat(tool)
            custom[flat["name"]] = flat
            specs.append(custom_tools.spec(flat, flat["name"]))
        elif kind == FUNCTION:
            specs.append(_spec(tool))
        else:
            others.add(kind)
    others |= custom_tools.left_out(custom.values())
    return usable(tuple(specs)), frozenset(custom), tuple(sorted(others))


def _kind(tool: JSON) -> str:
    """Return the type of a tool. The functions of Messages may have the type custom."""
    kind = tool.get("type") or FUNCTION
    of_messages = kind == CUSTOM and CUSTOM not in tool and tool.get("input_schema") is not None
    return FUNCTION if of_messages else kind


def _flat(tool: JSON) -> JSON:
    """Return a custom tool in the form of Responses, in which Cursor sends it."""
    if CUSTOM not in tool:
        return tool
    inner, form = tool[CUSTOM], tool[CUSTOM].get("format")
    if form and form["type"] == "grammar":
        form = {"type": "grammar"} | {name: form["grammar"][name] for name in ("syntax", "definition")}
    return {"name": inner["name"], "description": inner.get("description"), "format": form}


def _spec(tool: JSON) -> ToolSpec:
    """Return a function, also one in the form of Responses or Messages."""
    of_messages = tool.get("type") == CUSTOM
    if FUNCTION in tool and not of_messages:
        return ToolSpec.from_openai(tool)
    schema = (not of_messages and tool.get("parameters")) or tool.get("input_schema")
    fields = {name: tool.get(name) for name in ("name", "description", "strict")}
    return ToolSpec.from_openai({"function": fields | {"parameters": schema}})


def _usual(choice: Any) -> Any:
    """Return a choice in the form of Messages or Responses in that of chat completions."""
    if not isinstance(choice, dict) or "allowed_tools" in choice or _name(choice) is not None:
        return choice
    return WORDS[choice["type"]]


def _name(choice: JSON) -> str | None:
    """Return the name in a choice of one tool, None if there is none."""
    kind = choice.get("type", FUNCTION)
    inner = choice.get(kind) if kind in CALLED else None
    holder = inner if isinstance(inner, dict) and "name" in inner else choice
    return holder.get("name") if kind in NAMING else None


def _chosen(tools: tuple[ToolSpec, ...], choice: Any) -> tuple[tuple[ToolSpec, ...], str]:
    choice = _usual(choice)
    if choice == "required":
        return required(tools)
    if choice is None or choice in CHOICES:
        return tools, choice or "auto"
    if "allowed_tools" in choice:
        allowed = choice["allowed_tools"]
        tools = only(tools, {_name(one) for one in allowed["tools"] if one.get("type", FUNCTION) in CALLED})
        return required(tools) if allowed["mode"] == "required" else (tools, "auto")
    named = only(tools, (_name(choice),))
    if not named:
        raise InvalidField("tool_choice must be auto, none, required, or name one of the tools.", "tool_choice")
    return named, "required"
