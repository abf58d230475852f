"""Ollama's OpenAI-compatible chat endpoint, a translation of the native one."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from toolsupport.simulator import go_json_writer
from toolsupport.simulator.client_connection import Client
from toolsupport.simulator.fitting import response_format
from toolsupport.simulator.http11 import ReceivedRequest, Response, StreamedResponse
from toolsupport.simulator.schemas import LEVELS, OPENAI
from toolsupport.simulator.state import SimulatorState
from toolsupport.simulator.types import JSON, HistoryMessage, ModelInput, SimulatedCall
from toolsupport.simulator.wire.ollama_chat import RequestRejected, body, reply_chunks, tool
from toolsupport.simulator.wire.ollama_stream import ChatRequest

FINGERPRINT = "fp_ollama"
JSON_TYPE = "application/json"
SSE = "text/event-stream"
GO_KINDS = {bool: "bool", int: "float64", float: "float64", dict: "map[string]interface {}", type(None): "<nil>"}
DATA_URL = re.compile(r"data:image/(?:jpeg|jpg|png|webp|gif);base64")
# Ollama's names of OpenAI's options.
OPTIONS = {"max_tokens": "num_predict", "seed": "seed", "temperature": "temperature", "top_p": "top_p"}


def error(text: str, status: int, kind: str, code: int | str | None = None) -> Response:
    """Return an error in OpenAI's envelope, as Ollama fills it."""
    inner = {"message": text, "type": kind, "param": None, "code": code}
    return Response(go_json_writer.encode({"error": inner}) + b"\n", status, JSON_TYPE)


def arguments(text: Any) -> JSON:
    try:
        value = json.loads(text or "")
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise RequestRejected("invalid tool call arguments")
    return value


def text_of(content: Any, calls: Any) -> str:
    """Return the text of a message's content, which may have several parts."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(filter(None, map(part, content)))
    if calls is None:
        raise RequestRejected(f"invalid message content type: {GO_KINDS[type(content)]}")
    return ""


def part(value: Any) -> str:
    """Return the text of one part; an image has none."""
    given = value if isinstance(value, dict) else {}
    text = "" if given.get("type") == "image_url" else given.get("text")
    if given.get("type") not in ("text", "image_url") or not isinstance(text, str):
        raise RequestRejected("invalid message format")
    return text


def response(value: Any) -> HistoryMessage:
    message = value or {}
    given = message.get("tool_calls")
    functions = [(call or {}).get("function") or {} for call in given or []]
    calls = tuple(
        SimulatedCall(function.get("name") or "", arguments(function.get("arguments"))) for function in functions
    )
    role, content = (message.get("role") or "").lower(), message.get("content")
    images = tuple(filter(None, map(image, content))) if isinstance(content, list) else ()
    return HistoryMessage(role, text_of(content, given), calls, message.get("name") or "", images)


def image(value: Any) -> bytes:
    """Return the bytes of a part that is an image in a data URL; every other part gives none."""
    given = value.get("image_url") if isinstance(value, dict) else None
    url = given.get("url") if isinstance(given, dict) else given
    kind, _, data = url.partition(",") if isinstance(url, str) else ("", "", "")
    try:
        return base64.b64decode(data, validate=True) if DATA_URL.fullmatch(kind) else b""
    except binascii.Error:
        return b""


def think(effort: str | None) -> bool | str | None:
    if effort in (None, "", *LEVELS):
        return effort or None
    if effort == "none":
        return False
    raise RequestRejected(f'invalid reasoning value: \'{effort}\' (must be "high", "medium", "low", or "none")')


def chat_request(given: JSON) -> ChatRequest:
    """Return the equivalent native request. Raises RequestRejected."""
    if not given.get("messages"):
        raise RequestRejected("[] is too short - 'messages'")
    messages = tuple(response(message) for message in given["messages"])
    return ChatRequest(
        model=given.get("model") or "",
        prompt=ModelInput(messages, tuple(tool(item) for item in given.get("tools") or [])),
        stream=given.get("stream") is True,
        think=think(given.get("reasoning_effort")),
        options={native: given[name] for name, native in OPTIONS.items() if given.get(name) is not None},
        schema=response_format.of_openai(given),
    )


async def chat(state: SimulatorState, client: Client, request: ReceivedRequest) -> Response | StreamedResponse:
    """POST /v1/chat/completions."""
    try:
        given = body(request.body, OPENAI)
        asked = chat_request(given)
    except RequestRejected as refused:
        text = "EOF" if str(refused) == "missing request body" else str(refused)
        return error(text, 400, "invalid_request_error")
    try:
        answer = await reply_chunks(state, client, asked)
    except RequestRejected as refused:
        # The wrapper around the native handler calls every error of its own kind.
        return error(str(refused), refused.status, refused.kind, refused.code)
    writer = ChunkConverter(request.body, bool((given.get("stream_options") or {}).get("include_usage")))
    if isinstance(answer, AsyncGenerator):
        return StreamedResponse(writer.events(answer), SSE)
    if "error" in answer:
        return error(answer["error"], 500, "api_error")
    return Response(go_json_writer.encode(writer.whole(answer)) + b"\n", content_type=JSON_TYPE)


@dataclass(slots=True)
class ChunkConverter:
    """Converts the native chunks of one reply into OpenAI's."""

    seed: bytes
    usage: bool
    called: bool = False

    def _frame(self, kind: str, model: str) -> JSON:
        number = int.from_bytes(hashlib.sha256(self.seed).digest()[:4]) % 999
        created = int(time.time())
        frame = {"id": f"chatcmpl-{number}", "object": kind, "created": created, "model": model}
        return {**frame, "system_fingerprint": FINGERPRINT}

    def _message(self, native: JSON) -> JSON:
        message = {"role": "assistant", "content": native.get("content", "")}
        calls = [_call(call) for call in native.get("tool_calls", [])]
        self.called = self.called or bool(calls)
        extra = {"reasoning": native.get("thinking"), "tool_calls": calls}
        return message | {name: value for name, value in extra.items() if value}

    def _reason(self, native: JSON) -> str | None:
        reason = native.get("done_reason")
        return "tool_calls" if reason and self.called else reason

    def chunk(self, native: JSON) -> JSON:
        # An error line has no message and no model; Ollama's own wrapper turns it into an empty delta.
        delta = self._message(native.get("message", {}))
        choice = {"index": 0, "delta": delta, "finish_reason": self._reason(native)}
        return {**self._frame("chat.completion.chunk", native.get("model", "")), "choices": [choice]}

    def whole(self, native: JSON) -> JSON:
        message = self._message(native["message"])
        choice = {"index": 0, "message": message, "finish_reason": self._reason(native)}
        frame = self._frame("chat.completion", native["model"])
        return {**frame, "choices": [choice], "usage": _usage(native)}

    async def events(self, chunks: AsyncGenerator[JSON, None]) -> AsyncGenerator[bytes, None]:
        """Yield server-sent events; `[DONE]` comes only after a proper end."""
        async with aclosing(chunks):
            async for native in chunks:
                event = self.chunk(native)
                yield _event(go_json_writer.encode(event))
                if native.get("done"):
                    if self.usage:
                        yield _event(go_json_writer.encode({**event, "choices": [], "usage": _usage(native)}))
                    yield _event(b"[DONE]")


def _event(data: bytes) -> bytes:
    return b"data: " + data + b"\n\n"


def _call(native: JSON) -> JSON:
    function = native["function"]
    written = {"name": function["name"], "arguments": go_json_writer.text(function["arguments"])}
    return {"id": native["id"], "index": function["index"], "type": "function", "function": written}


def _usage(native: JSON) -> JSON:
    read, written = native.get("prompt_eval_count", 0), native.get("eval_count", 0)
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}
