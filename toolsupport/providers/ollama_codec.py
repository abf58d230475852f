"""The codec of Ollama's native /api/chat protocol.

Bytes → events. One line of NDJSON is one object; LF alone ends a line. Calls may stand in every line, the last one
included. `done: true` is the end mark: without it the reply was cut, at whatever HTTP status. An object with an error
instead of a message ends the reply. After Finished or Failed there are no more events, whatever follows.
The border of JSON: NaN, infinities, numbers beyond a double, lone surrogates, bad UTF-8 and nesting beyond 1,024 are
refused (orjson does); of a key that stands twice the last one counts, since servers do not write such and a reply is
not a request: no other reader could see another value.
"""

from __future__ import annotations

from typing import Any

import orjson

from toolsupport.core import reported_numbers
from toolsupport.core.error_body import unwrap
from toolsupport.core.events import (
    Event,
    Failed,
    Finished,
    TextDelta,
    ThinkingDelta,
    Usage,
    finish_reason,
)
from toolsupport.core.types import JSON, Request, Signature
from toolsupport.providers import ollama_request
from toolsupport.providers.codec import empty, failed_with
from toolsupport.providers.line_splitter import LineSplitter
from toolsupport.providers.ollama_calls import NativeCalls

SHOWN_BODY = 65_536
NANOSECONDS = 1e6  # in a millisecond


class OllamaCodec:
    """One reply. Feed it bytes in any pieces; the events are the same."""

    switches_thinking = True
    honours_tool_choice = False
    takes_format_beside_tools = False

    def __init__(self, line_bytes: int) -> None:
        self.signature = Signature("")
        self._lines = LineSplitter(line_bytes)
        self._limit = line_bytes
        self._calls = NativeCalls()
        self._has_content = False
        self._over = False

    def encode(self, request: Request) -> bytes:
        """Return the body of POST /api/chat. Raises ToolsupportError for forbidden tools, ValueError for bad text."""
        return ollama_request.encode(request)

    def written_tools(self, request: Request) -> bytes:
        return ollama_request.written_tools(request.tools)

    def feed(self, data: bytes) -> list[Event]:
        """Return the events that these bytes complete."""
        if self._over:
            return []
        events: list[Event] = []
        for line in self._lines.feed(data):
            self._line(line, events)
            if self._ended():
                return events
        if self._lines.overflow:
            self._fail(
                "too_large",
                f"The server sent a line of more than {self._limit:,} bytes, or of too many values.",
                events,
            )
        return events

    def flush(self) -> list[Event]:
        """Return the events that are certain after the connection ended."""
        events: list[Event] = []
        rest = self._lines.flush()
        if not self._over and rest.strip() and _is_json(rest):
            self._line(rest, events)
        if not self._ended():
            self._fail("cut", "The answer was cut off before the server reported its end.", events)
        return events

    def _ended(self) -> bool:
        return self._over

    def _line(self, line: bytes, events: list[Event]) -> None:
        if not line or line.isspace():
            return
        try:
            chunk = orjson.loads(line)
            if "message" in chunk or "done" in chunk:
                self._chunk(chunk, events)
                return
        except (ValueError, TypeError, AttributeError):
            chunk = None
        if isinstance(chunk, dict) and any(key.startswith("error") for key in chunk):
            self._read_line(line, events)
        else:
            self._fail("garbled", "The server sent something that is not a line of an Ollama answer.", events, line)

    def _chunk(self, chunk: JSON, events: list[Event]) -> None:
        """Read one object. Raises ValueError, TypeError or AttributeError for a wrong shape."""
        if chunk.get("error"):
            self._read_line(orjson.dumps(chunk), events)
            return
        message = chunk.get("message") or {}
        if thinking := message.get("thinking"):
            self._has_content = True
            events.append(ThinkingDelta(_text(thinking)))
        if content := message.get("content"):
            self._has_content = self._has_content or not content.isspace()
            events.append(TextDelta(_text(content)))
        if elements := message.get("tool_calls"):
            self._has_content = True
            events += self._calls.feed(elements)
        if chunk.get("done"):
            self._done(chunk, events)

    def _done(self, chunk: JSON, events: list[Event]) -> None:
        reason = finish_reason(str(chunk.get("done_reason") or "stop"))
        events += self._calls.flush(reason)
        events.append(_usage(chunk))
        self._over = True
        events.append(Finished(reason) if self._has_content else empty(reason))

    def _read_line(self, line: bytes, events: list[Event]) -> None:
        self._fail("server", failed_with(unwrap(line.decode(errors="replace")).message), events, line)

    def _fail(self, kind: str, message: str, events: list[Event], body: bytes = b"") -> None:
        self._over = True
        events.append(Failed(kind, message, 200, body[:SHOWN_BODY].decode(errors="replace")))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("text is not a string")
    return value


def _is_json(line: bytes) -> bool:
    try:
        orjson.loads(line)
    except orjson.JSONDecodeError:
        return False
    return True


def _usage(chunk: JSON) -> Usage:
    return Usage(
        prompt_tokens=reported_numbers.whole(chunk.get("prompt_eval_count")),
        output_tokens=reported_numbers.whole(chunk.get("eval_count")),
        load_ms=reported_numbers.milliseconds(chunk.get("load_duration"), NANOSECONDS),
        prompt_ms=reported_numbers.milliseconds(chunk.get("prompt_eval_duration"), NANOSECONDS),
        output_ms=reported_numbers.milliseconds(chunk.get("eval_duration"), NANOSECONDS),
    )
