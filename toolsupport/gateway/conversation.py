"""Converts the messages of a program into the log that is rendered for the model."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from types import MappingProxyType
from typing import Any

from toolsupport import signature_memory
from toolsupport.core import exact_json
from toolsupport.core.types import JSON, ChatMessage, Role, ToolCall
from toolsupport.gateway import message_blocks
from toolsupport.gateway.request_errors import InvalidField

IMAGE = re.compile(r"data:image/(?:png|jpeg|jpg|gif|webp)(?:;[^;,]{1,100})*;base64,", re.I)
TEXT_FILE = re.compile(r"data:(?:text/[^;,]{1,100}|application/json)(?:;[^;,]{1,100})*;base64,", re.I)
# Blocks of the Messages API that only messages of one role have.
ROLE_OF_BLOCK = {"thinking": "assistant", "tool_use": "assistant", "tool_result": "user"}
NO_TEXT = "Send a file that holds text as a data URL (data:text/plain;base64,…): others cannot be read here."
NOT_FETCHED = "Send an image as a data URL (data:image/png;base64,…): other addresses are not fetched."


def read_messages(given: JSON) -> tuple[ChatMessage, ...]:
    """Convert the messages of a body that fits its schema. Raises InvalidField with the place of an unreadable value.

    Cursor sends blocks of the Messages API here, and a system prompt of its own.
    """
    system = [_system({"content": given["system"]}, "system")] if given.get("system") else []
    messages = (_message(one, f"messages[{number}]") for number, one in enumerate(given["messages"]))
    return (*system, *chain.from_iterable(messages))


def _message(given: JSON, place: str) -> Iterable[ChatMessage]:
    """Yield the messages that one message holds: each result in one of a user is a message of its own, before it."""
    content, results, others = given.get("content"), list[ChatMessage](), False
    for number, part in enumerate(content if isinstance(content, list) else ()):
        at = f"{place}.content[{number}]"
        role = ROLE_OF_BLOCK.get(part["type"])
        if role not in (None, given["role"]):
            raise InvalidField(f"A {part['type']} must be in a message with the role {role}.", at)
        if part["type"] == "tool_result":
            results.append(_result_in_user(part, at))
        else:
            others = True
    yield from results
    if others or not results:
        yield READERS[given["role"]](given, place)


def _system(given: JSON, place: str) -> ChatMessage:
    return ChatMessage(Role.SYSTEM, _content(given, place)[0])


def _user(given: JSON, place: str) -> ChatMessage:
    text, images = _content(given, place)
    return ChatMessage(Role.USER, text, images=images)


def _assistant(given: JSON, place: str) -> ChatMessage:
    calls = [_call(call) for call in given.get("tool_calls") or []]
    if used := _blocks(given, "tool_use"):
        if calls:
            raise InvalidField("Send the calls either as blocks of the content or beside it, not both.", place)
        calls = [message_blocks.call(block) for block in used]
    thoughts = [block["thinking"] for block in _blocks(given, "thinking")]
    return ChatMessage(
        Role.ASSISTANT,
        _content(given, place)[0] or given.get("refusal") or "",
        thinking=given.get("reasoning_content") or "\n\n".join(thoughts),
        calls=signed(calls),
    )


def _blocks(given: JSON, kind: str) -> list[JSON]:
    content = given.get("content")
    return [part for part in content if part["type"] == kind] if isinstance(content, list) else []


def _result(given: JSON, place: str) -> ChatMessage:
    call_id = given.get("tool_call_id")
    if not call_id:
        raise InvalidField("A result must name the call that it belongs to.", f"{place}.tool_call_id")
    text, images = _content(given, place)
    return ChatMessage(Role.TOOL, text, call_id=call_id, images=images)


def _result_in_user(block: JSON, place: str) -> ChatMessage:
    text, images = _content(block, place)
    return ChatMessage(Role.TOOL, message_blocks.result_text(text, block), call_id=block["tool_use_id"], images=images)


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
    parts = [(part, f"{place}.content[{number}]") for number, part in enumerate(content)]
    texts = [TEXTS[part["type"]](part, at) for part, at in parts if part["type"] in TEXTS]
    urls = [(URLS[part["type"]](part), at) for part, at in parts if part["type"] in URLS]
    return "\n\n".join(texts), tuple(image(url, at) for url, at in urls)


# Types of parts → their text.
TEXTS: Mapping[str, Callable[[JSON, str], str]] = MappingProxyType(
    {
        "text": lambda part, _: part["text"],
        "refusal": lambda part, _: part["refusal"],
        "file": lambda part, place: file_text(part["file"], place),
        "document": lambda part, _: message_blocks.words(part),
        "search_result": lambda part, _: message_blocks.words(part),
    }
)
# Types of images → their data URL.
URLS: Mapping[str, Callable[[JSON], str]] = MappingProxyType(
    {"image_url": lambda part: part["image_url"]["url"], "image": message_blocks.image_url}
)


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
