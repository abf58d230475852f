"""Reads the body of a request to /v1/messages; fields that are not in its schema are ignored."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from toolsupport.core.types import JSON, ChatMessage, Role, ToolSpec
from toolsupport.gateway import message_blocks
from toolsupport.gateway.conversation import image
from toolsupport.gateway.messages.schemas import CHECK, COUNT, COUNT_CHECK
from toolsupport.gateway.parsed_request import (
    GatewayRequest,
    integers,
    joined_answers,
    named,
    parsed,
    required,
    usable,
)

CUSTOM = ("custom", None)


def read(body: bytes) -> GatewayRequest:
    """Parse the body. Raises InvalidField with the name of the wrong field."""
    given = parsed(body)
    CHECK.check(given)
    return asked(given)


def read_count(body: bytes) -> GatewayRequest:
    """Parse the body of a request to count tokens. Raises InvalidField with the name of the wrong field."""
    given = parsed(body)
    COUNT_CHECK.check(given)
    return asked({name: given[name] for name in COUNT["properties"] if name in given})


def asked(given: JSON) -> GatewayRequest:
    """Parse a body that fits the schema. Raises InvalidField if two of its fields contradict each other."""
    tools, skipped = _tools(given.get("tools") or [])
    wanted = given.get("tool_choice") or {"type": "auto"}
    tools, choice = _chosen(tools, wanted)
    return GatewayRequest(
        model=given["model"],
        log=_log(given),
        tools=tools,
        choice=choice,
        parallel=False if wanted.get("disable_parallel_tool_use") else None,
        options=integers(
            {
                "num_predict": given.get("max_tokens"),
                "temperature": given.get("temperature"),
                "top_p": given.get("top_p"),
                "top_k": given.get("top_k"),
                "stop": given.get("stop_sequences") or None,
                "response_format": _response_format(given),
            }
        ),
        stream=bool(given.get("stream")),
        skipped=skipped,
    )


def _response_format(given: JSON) -> JSON | None:
    """Return the format in the form of chat completions."""
    form = (given.get("output_config") or {}).get("format") or given.get("output_format")
    return form and {"type": "json_schema", "json_schema": {"name": "answer", "schema": form["schema"]}}


def _tools(given: list[JSON]) -> tuple[tuple[ToolSpec, ...], tuple[str, ...]]:
    """Return the tools that a program runs, and the types of those that only the hosted service has."""
    own = [tool for tool in given if tool.get("type") in CUSTOM]
    others = {tool["type"] for tool in given if tool.get("type") not in CUSTOM}
    return usable(tuple(map(_tool, own))), tuple(sorted(others))


def _tool(given: JSON) -> ToolSpec:
    words, strict = given.get("description") or "", given.get("strict") is True
    return ToolSpec(given["name"], words, given["input_schema"] or {}, strict).completed()


def _chosen(tools: tuple[ToolSpec, ...], choice: JSON) -> tuple[tuple[ToolSpec, ...], str]:
    if choice["type"] == "tool":
        return named(tools, choice["name"])
    if choice["type"] == "any":
        return required(tools)
    return tools, choice["type"]


def _log(given: JSON) -> tuple[ChatMessage, ...]:
    system = _text(given.get("system"))
    before = [ChatMessage(Role.SYSTEM, system)] if system else []
    messages = (
        made
        for number, message in enumerate(given["messages"])
        for made in _messages(message, f"messages[{number}].content")
    )
    return (*before, *joined_answers(messages))


def _messages(message: JSON, place: str) -> Iterable[ChatMessage]:
    """Yield the messages that one message of this API holds: each result of a tool is a message of its own."""
    role, content = Role(message["role"]), message["content"]
    if isinstance(content, str):
        yield ChatMessage(role, content)
        return
    if role is Role.ASSISTANT:
        yield _answer(content)
        return
    results = [(number, block) for number, block in enumerate(content) if block["type"] == "tool_result"]
    for number, block in results:
        yield _result(block, f"{place}[{number}].content")
    rest = [block for block in content if block["type"] != "tool_result"]
    if rest or not results:
        yield ChatMessage(role, _text(rest), images=_images(content, place))


def _answer(content: list[JSON]) -> ChatMessage:
    thinking = [block["thinking"] for block in content if block["type"] == "thinking"]
    calls = [message_blocks.call(one) for one in content if one["type"] == "tool_use"]
    return ChatMessage(Role.ASSISTANT, _text(content), thinking="\n\n".join(thinking), calls=tuple(calls))


def _result(block: JSON, place: str) -> ChatMessage:
    content = block.get("content")
    text = message_blocks.result_text(_text(content), block)
    images = _images(content, place) if isinstance(content, list) else ()
    return ChatMessage(Role.TOOL, text, call_id=block["tool_use_id"], images=images)


def _text(content: Any) -> str:
    """Return the texts of the blocks, those of documents and of search results included."""
    if content is None or isinstance(content, str):
        return content or ""
    return "\n\n".join(filter(None, map(message_blocks.words, content)))


def _images(content: list[JSON], place: str) -> tuple[bytes, ...]:
    """Return the images; one with an address is refused by `image`, because it is never fetched."""
    return tuple(
        image(message_blocks.image_url(block), f"{place}[{number}]")
        for number, block in enumerate(content)
        if block["type"] == "image"
    )
