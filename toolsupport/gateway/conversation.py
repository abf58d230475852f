"""Converts the messages of a program into the log that is rendered for the model."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any

from toolsupport import signature_memory
from toolsupport.core import exact_json
from toolsupport.core.types import JSON, ChatMessage, Role, ToolCall
from toolsupport.gateway.request_errors import InvalidField

IMAGE = re.compile(r"data:image/(?:png|jpeg|jpg|gif|webp)(?:;[^;,]{1,100})*;base64,", re.I)
TEXT_FILE = re.compile(r"data:(?:text/[^;,]{1,100}|application/json)(?:;[^;,]{1,100})*;base64,", re.I)
NO_TEXT = "Send a file that holds text as a data URL (data:text/plain;base64,…): others cannot be read here."
NOT_FETCHED = "Send an image as a data URL (data:image/png;base64,…): other addresses are not fetched."


def read_messages(given: list[JSON]) -> tuple[ChatMessage, ...]:
    """Convert messages that fit their schema. Raises InvalidField with the place of an unreadable value."""
    return tuple(READERS[one["role"]](one, f"messages[{number}]") for number, one in enumerate(given))


def _system(given: JSON, place: str) -> ChatMessage:
    return ChatMessage(Role.SYSTEM, _content(given, place)[0])


def _user(given: JSON, place: str) -> ChatMessage:
    text, images = _content(given, place)
    return ChatMessage(Role.USER, text, images=images)


def _assistant(given: JSON, place: str) -> ChatMessage:
    return ChatMessage(
        Role.ASSISTANT,
        _content(given, place)[0] or given.get("refusal") or "",
        thinking=given.get("reasoning_content") or "",
        calls=signed(_call(call) for call in given.get("tool_calls") or []),
    )


def _result(given: JSON, place: str) -> ChatMessage:
    call_id = given.get("tool_call_id")
    if not call_id:
        raise InvalidField("A result must name the call that it belongs to.", f"{place}.tool_call_id")
    text, images = _content(given, place)
    return ChatMessage(Role.TOOL, text, call_id=call_id, images=images)


READERS: Mapping[str, Callable[[JSON, str], ChatMessage]] = MappingProxyType(
    {"system": _system, "developer": _system, "user": _user, "assistant": _assistant, "tool": _result}
)


def signed(calls: Iterable[ToolCall]) -> tuple[ToolCall, ...]:
    """Return the calls of a message with the signatures that their model wrote, where this process passed them on."""
    return signature_memory.signed(tuple(calls), lambda call: own_part(call.id))


def own_part(call_id: str) -> str:
    """Return the part of a call's id that is unique here; what stands before it depends on the API."""
    return call_id.rpartition("_")[2]


def _call(given: JSON) -> ToolCall:
    if given.get("type") == "custom":
        return ToolCall(given["id"], given["custom"]["name"], {"input": given["custom"]["input"]})
    function = given["function"]
    return ToolCall(given["id"], function["name"], arguments_of(function.get("arguments")))


def arguments_of(written: Any) -> JSON:
    """Return the arguments as an object; anything else is kept unchanged under one key."""
    try:
        read = exact_json.loads(written or "{}") if isinstance(written, str | None) else written
    except ValueError:
        read = None
    return read if isinstance(read, dict) else {"arguments": str(written)}


def _content(given: JSON, place: str) -> tuple[str, tuple[bytes, ...]]:
    content = given.get("content")
    if content is None or isinstance(content, str):
        return content or "", ()
    texts = [
        part[part["type"]] if part["type"] != "file" else file_text(part["file"], f"{place}.content[{number}]")
        for number, part in enumerate(content)
        if part["type"] != "image_url"
    ]
    images = [
        image(part["image_url"]["url"], f"{place}.content[{number}]")
        for number, part in enumerate(content)
        if part["type"] == "image_url"
    ]
    return "\n\n".join(texts), tuple(images)


def file_text(file: JSON, place: str) -> str:
    """Return the text of a file that is sent as a data URL. Raises InvalidField for any other file."""
    url = file.get("file_data") or ""
    head = TEXT_FILE.match(url)
    if head is None:
        raise InvalidField(NO_TEXT, place)
    try:
        text = b64decode(url[head.end() :], validate=True).decode()
    except ValueError as error:
        raise InvalidField("This data URL is not base64 of text in UTF-8.", place) from error
    name = file.get("filename")
    return f"{name}:\n{text}" if name else text


def image(url: str, place: str) -> bytes:
    """Return the bytes of a data URL. Raises InvalidField for any other address, which is never fetched."""
    head = IMAGE.match(url)
    if head is None:
        raise InvalidField(NOT_FETCHED, place)
    try:
        return b64decode(url[head.end() :], validate=True)
    except ValueError as error:
        raise InvalidField("This data URL is not base64.", place) from error
