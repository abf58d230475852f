"""Reads the body of a request to /v1/responses; fields that are not in its schema are ignored."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from toolsupport.core.prompt.history_rendering import result_in_words
from toolsupport.core.types import JSON, ChatMessage, Role, ToolCall, ToolSpec
from toolsupport.gateway import custom_tools
from toolsupport.gateway.conversation import arguments_of, file_text, image
from toolsupport.gateway.custom_tools import CALLED, CUSTOM
from toolsupport.gateway.parsed_request import (
    GatewayRequest,
    integers,
    joined_answers,
    named,
    only,
    parsed,
    required,
    usable,
)
from toolsupport.gateway.request_errors import InvalidField
from toolsupport.gateway.responses.namespaces import FlatNames, flat_names, opened
from toolsupport.gateway.responses.schemas import CHECK, OUTPUTS
from toolsupport.gateway.responses.shapes import DEFAULTS

# Reasoning that only its own service can read, and items that refer to stored data there.
UNREADABLE = ("item_reference",)


def read(body: bytes) -> GatewayRequest:
    """Parse the body. Raises InvalidField with the name of the wrong field."""
    given = parsed(body)
    CHECK.check(given)
    return asked(given)


def asked(given: JSON) -> GatewayRequest:
    """Parse a body that fits the schema. Raises InvalidField if two of its fields contradict each other."""
    names = flat_names(given.get("tools") or [])
    tools, custom, skipped = _tools(given.get("tools") or [], names)
    tools, choice = _chosen(tools, given.get("tool_choice"), names)
    return GatewayRequest(
        model=given["model"],
        log=_log(given, names),
        tools=tools,
        choice=choice,
        parallel=given.get("parallel_tool_calls"),
        options=integers(
            {
                "num_predict": given.get("max_output_tokens"),
                "temperature": given.get("temperature"),
                "top_p": given.get("top_p"),
                "response_format": _response_format(given),
            }
        ),
        stream=bool(given.get("stream")),
        skipped=skipped,
        echo={name: given[name] for name in DEFAULTS if given.get(name) is not None}
        | {"parallel_tool_calls": given.get("parallel_tool_calls") is not False},
        namespaced=names.origins(),
        custom=custom,
    )


def _response_format(given: JSON) -> JSON | None:
    """Return the format in the form of chat completions."""
    form = (given.get("text") or {}).get("format")
    if not form or form["type"] == "text":
        return None
    if form["type"] == "json_object":
        return {"type": "json_object"}
    return {"type": "json_schema", "json_schema": {name: form[name] for name in form if name != "type"}}


def _tools(given: list[JSON], names: FlatNames) -> tuple[tuple[ToolSpec, ...], frozenset[str], tuple[str, ...]]:
    """Return the tools that a program runs, the names of the custom ones, and what was left out."""
    found = opened(given, names)
    others = {tool["type"] for tool, _ in found} - {*CALLED}
    custom = {name: tool for tool, name in found if tool["type"] == CUSTOM}
    specs = tuple(_spec(tool, name) for tool, name in found if tool["type"] in CALLED)
    return usable(specs), frozenset(custom), tuple(sorted(others | custom_tools.left_out(custom.values())))


def _spec(tool: JSON, name: str) -> ToolSpec:
    if tool["type"] == CUSTOM:
        return custom_tools.spec(tool, name)
    return replace(ToolSpec.from_openai({"function": tool}), name=name)


def _chosen(tools: tuple[ToolSpec, ...], choice: Any, names: FlatNames) -> tuple[tuple[ToolSpec, ...], str]:
    if isinstance(choice, dict) and choice["type"] == "allowed_tools":
        given = [(tool.get("name"), tool.get("namespace")) for tool in choice["tools"]]
        allowed = [names.of(name, namespace) for name, namespace in given if isinstance(name, str)]
        tools, choice = only(tools, allowed), choice["mode"]
    if isinstance(choice, dict):
        if choice["type"] not in CALLED:
            raise InvalidField(f"A tool of the type {choice['type']} cannot be required here.", "tool_choice")
        return named(tools, names.of(choice.get("name", ""), choice.get("namespace")))
    if choice == "required":
        return required(tools)
    return tools, choice if choice == "none" else "auto"


def _log(given: JSON, names: FlatNames) -> tuple[ChatMessage, ...]:
    instructions = [ChatMessage(Role.SYSTEM, given["instructions"])] if given.get("instructions") else []
    if isinstance(given["input"], str):
        return (*instructions, ChatMessage(Role.USER, given["input"]))
    return (*instructions, *joined_answers(_messages(given["input"], names)))


def _messages(items: list[JSON], names: FlatNames) -> Iterable[ChatMessage]:
    for number, item in enumerate(items):
        kind, place = item.get("type") or "message", f"input[{number}]"
        if kind == "message":
            text, images = _content(item["content"], f"{place}.content")
            yield ChatMessage(ROLES[item["role"]], text, images=images)
        elif kind in CALLS:
            call = ToolCall(item["call_id"], names.of(item["name"], item.get("namespace")), CALLS[kind](item))
            yield ChatMessage(Role.ASSISTANT, calls=(call,))
        elif kind in OUTPUTS:
            yield _result(item, f"{place}.output")
        elif kind == "reasoning":
            yield ChatMessage(Role.ASSISTANT, thinking=_reasoning(item))
        elif kind in UNREADABLE:
            raise InvalidField("Nothing is stored here, so an item cannot be named by its id.", place)


# Calls of the program's own tools, the arguments of which are an object or one text.
CALLS: Mapping[str, Callable[[JSON], JSON]] = MappingProxyType(
    {
        "function_call": lambda item: arguments_of(item.get("arguments")),
        "custom_tool_call": lambda item: {"input": item["input"]},
    }
)
ROLES = {"system": Role.SYSTEM, "developer": Role.SYSTEM, "user": Role.USER, "assistant": Role.ASSISTANT}


def _result(item: JSON, place: str) -> ChatMessage:
    """Return a result of a call, or a message of the user: scheduled tasks of Codex send results without a call."""
    text, images = _content(item["output"], place)
    if item.get("call_id"):
        return ChatMessage(Role.TOOL, text, call_id=item["call_id"], images=images)
    return ChatMessage(Role.USER, result_in_words(item["name"], text), images=images)


def _reasoning(item: JSON) -> str:
    """Return the reasoning itself, else its summary."""
    text, _ = _content(item.get("content"), "")
    return text or _content(item.get("summary"), "")[0]


def _content(content: Any, place: str) -> tuple[str, tuple[bytes, ...]]:
    if content is None or isinstance(content, str):
        return content or "", ()
    texts = [_words(part, f"{place}[{number}]") for number, part in enumerate(content) if part["type"] != "input_image"]
    images = [
        image(part.get("image_url") or "", f"{place}[{number}]")
        for number, part in enumerate(content)
        if part["type"] == "input_image"
    ]
    return "\n\n".join(texts), tuple(images)


def _words(part: JSON, place: str) -> str:
    return file_text(part, place) if part["type"] == "input_file" else part.get("text") or part.get("refusal") or ""
