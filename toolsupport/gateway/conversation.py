"""Turns the messages a program sends into the log that is rendered for the model."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import orjson

from toolsupport.core.types import JSON, ChatMessage, Role, ToolCall
from toolsupport.gateway.field_errors import InvalidField

IMAGE = re.compile(r"data:image/(?:png|jpeg|jpg|gif|webp);base64,", re.I)
NOT_FETCHED = "Send an image as a data URL (data:image/png;base64,…): other addresses are not fetched."


def read_messages(said: Any) -> tuple[ChatMessage, ...]:
    """The log. Raises InvalidField with the place of what cannot be read."""
    if not isinstance(said, list) or not said:
        raise InvalidField("messages has to be a list of at least one message.", "messages")
    return tuple(_message(one, f"messages[{number}]") for number, one in enumerate(said))


def _message(said: Any, place: str) -> ChatMessage:
    role = said.get("role") if isinstance(said, dict) else None
    reader = READERS.get(role) if isinstance(role, str) else None
    if reader is None:
        raise InvalidField(f"A message needs one of the roles {', '.join(READERS)}.", f"{place}.role")
    return reader(said, place)


def _system(said: JSON, place: str) -> ChatMessage:
    return ChatMessage(Role.SYSTEM, _content(said, place)[0])


def _user(said: JSON, place: str) -> ChatMessage:
    text, images = _content(said, place)
    return ChatMessage(Role.USER, text, images=images)


def _assistant(said: JSON, place: str) -> ChatMessage:
    calls = said.get("tool_calls") or []
    if not isinstance(calls, list):
        raise InvalidField("tool_calls has to be a list.", f"{place}.tool_calls")
    thoughts = said.get("reasoning_content") or ""
    return ChatMessage(
        Role.ASSISTANT,
        _content(said, place)[0],
        thinking=thoughts if isinstance(thoughts, str) else "",
        calls=tuple(_call(call, f"{place}.tool_calls[{number}]") for number, call in enumerate(calls)),
    )


def _result(said: JSON, place: str) -> ChatMessage:
    call_id = said.get("tool_call_id")
    if not isinstance(call_id, str) or not call_id:
        raise InvalidField("A result has to say which call it belongs to.", f"{place}.tool_call_id")
    text, images = _content(said, place)
    return ChatMessage(Role.TOOL, text, call_id=call_id, images=images)


READERS: Mapping[str, Callable[[JSON, str], ChatMessage]] = MappingProxyType(
    {"system": _system, "developer": _system, "user": _user, "assistant": _assistant, "tool": _result}
)


def _call(said: Any, place: str) -> ToolCall:
    function = said.get("function") if isinstance(said, dict) else None
    name = function.get("name") if isinstance(function, dict) else None
    call_id = said.get("id") if isinstance(said, dict) else None
    if not isinstance(function, dict) or not isinstance(name, str) or not isinstance(call_id, str):
        raise InvalidField("A call needs an id and a function with a name and arguments.", place)
    return ToolCall(call_id, name, _arguments(function.get("arguments")))


def _arguments(written: Any) -> JSON:
    """The arguments as an object; what is none is kept as it was written, under one name."""
    try:
        read = orjson.loads(written or "{}") if isinstance(written, str | None) else written
    except ValueError:
        read = None
    return read if isinstance(read, dict) else {"arguments": str(written)}


def _content(said: JSON, place: str) -> tuple[str, tuple[bytes, ...]]:
    content, place = said.get("content"), f"{place}.content"
    if content is None or isinstance(content, str):
        return content or "", ()
    if not isinstance(content, list):
        raise InvalidField("content has to be a text or a list of parts.", place)
    parts = [_part(part, f"{place}[{number}]") for number, part in enumerate(content)]
    texts = [part for part in parts if isinstance(part, str)]
    return "\n\n".join(texts), tuple(part for part in parts if isinstance(part, bytes))


def _part(part: Any, place: str) -> str | bytes:
    kind = part.get("type") if isinstance(part, dict) else None
    if kind == "image_url":
        return _image(part, place)
    text = part.get(kind) if kind in ("text", "refusal") else None
    if not isinstance(text, str):
        raise InvalidField("A part has to be of the type text or image_url.", place)
    return text


def _image(part: JSON, place: str) -> bytes:
    image = part.get("image_url")
    url = image.get("url") if isinstance(image, dict) else None
    head = IMAGE.match(url) if isinstance(url, str) else None
    if head is None:
        raise InvalidField(NOT_FETCHED, place)
    try:
        return b64decode(str(url)[head.end() :], validate=True)
    except ValueError as error:
        raise InvalidField("This data URL is not base64.", place) from error
