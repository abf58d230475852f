"""The codec of the OpenAI-compatible /v1/chat/completions protocol.

Bytes → events. The reply is a stream of server-sent events, one JSON object after each `data:`; a comment is a
keep-alive of the server, and no event. A server that does not stream, asked or not, sends one JSON document: it is
recognised by its first character and read at its end. `finish_reason` is the end mark, at whatever HTTP status:
`[DONE]` alone may be missing, and the token counts may come between the two. An error in any envelope ends the reply;
before any part of an answer it has the status that it names. A last message that repeats all pieces adds nothing; a
call in the older `function_call` is one like any other.
After the end or a failure there are no more events, whatever follows. JSON has the same limits as in Ollama's protocol.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import asdict, replace
from typing import Any

import orjson

from toolsupport.core import reported_numbers
from toolsupport.core.error_body import unwrap
from toolsupport.core.events import (
    REFUSED,
    Event,
    Failed,
    Finished,
    TextDelta,
    ThinkingDelta,
    Usage,
    finish_reason,
    lost_a_call,
)
from toolsupport.core.types import JSON, Request, Signature
from toolsupport.providers import openai_request
from toolsupport.providers.codec import empty, failed_with
from toolsupport.providers.line_splitter import LineSplitter
from toolsupport.providers.openai_calls import PiecedCalls
from toolsupport.providers.openai_request import PLAIN, OpenAIDialect
from toolsupport.providers.reasoning_blocks import ReasoningBlocks
from toolsupport.providers.stated_status import status_of

SHOWN_BODY = 65_536
ERROR_KEYS = ("error", "detail", "message", "error_message")
CUT = "The answer was cut off before the server reported its end."
NOTHING = "The server ended the answer without sending anything. The conversation may be longer than its context."
CALL_LOST = "The server says that the model called a tool, but sent no call: it could not read what the model wrote."


class OpenAICodec:
    """One reply. Feed it bytes in any pieces; the events are the same."""

    def __init__(self, line_bytes: int, dialect: OpenAIDialect = PLAIN) -> None:
        self._lines = LineSplitter(line_bytes)
        self._limit = line_bytes
        self._dialect = dialect
        self._calls, self._blocks = PiecedCalls(), ReasoningBlocks()
        self.signature = Signature("")
        self._document: list[bytes] | None = None
        self._document_bytes = 0
        self._begun = self._has_content = self._error_follows = self._over = self._refused = False
        self._answered = False  # a text, a thought or a call has begun
        self._finish = self._stopped_at = ""
        self._usage: Usage | None = None
        self._streamed: set[str] = set()  # the fields that came in pieces

    @property
    def switches_thinking(self) -> bool:
        return bool(self._dialect.think)

    @property
    def honours_tool_choice(self) -> bool:
        return self._dialect.tool_choice

    @property
    def takes_format_beside_tools(self) -> bool:
        return self._dialect.format_beside_tools

    def encode(self, request: Request) -> bytes:
        """Return the body of the POST. Raises ToolsupportError for forbidden tools, ValueError for bad text."""
        return openai_request.encode(request, self._dialect)

    def written_tools(self, request: Request) -> bytes:
        return openai_request.written_tools(request.tools, self._dialect)

    def feed(self, data: bytes) -> list[Event]:
        """Return the events that these bytes complete."""
        events: list[Event] = []
        if self._over:
            return events
        for line in self._lines.feed(data):
            self._line(line, events)
            if self._ended():
                return events
        if self._lines.overflow:
            self._too_large(events)
        return events

    def flush(self) -> list[Event]:
        """Return the events that are certain after the connection ended."""
        events: list[Event] = []
        if self._over:
            return events
        rest = self._lines.flush()
        if rest.strip() and self._is_whole(rest):
            self._line(rest, events)
        if self._document is not None and not self._ended():
            self._read(b"\n".join(self._document), events)
        if not self._ended():
            self._end(events)
        return events

    def _ended(self) -> bool:
        return self._over

    # -- lines --

    def _is_whole(self, rest: bytes) -> bool:
        """Return False for a line that was cut; one that only lacks its LF is complete."""
        if not rest.startswith(b"data:"):
            return self._document is not None or not self._begun
        data = rest[5:].strip()
        return self._error_follows or data == b"[DONE]" or _is_json(data)

    def _line(self, line: bytes, events: list[Event]) -> None:
        if self._document is not None:
            self._keep(line, events)
        elif not line.strip():
            self._error_follows = False
        elif line.startswith(b"data:"):
            self._read(line[5:].strip(), events)
        elif line.startswith(b"event:"):
            self._error_follows = line[6:].strip() == b"error"
        elif line.lstrip()[:1] in (b"{", b"[") and not self._begun:
            self._document = []
            self._keep(line, events)
        elif not line.startswith((b":", b"id:", b"retry:")):
            self._read(line.strip(), events)

    def _keep(self, line: bytes, events: list[Event]) -> None:
        assert self._document is not None
        self._document.append(line)
        self._document_bytes += len(line) + 1
        if self._document_bytes > self._limit:
            self._too_large(events)

    def _read(self, data: bytes, events: list[Event]) -> None:
        self._begun = True
        if data == b"[DONE]":
            self._end(events)
            return
        if not data:
            return
        chunk = _json(data)
        if self._error_follows or _is_error(chunk, data):
            self._read_line(data, events)
            return
        try:
            self._chunk(chunk, events)
        except (ValueError, TypeError, AttributeError, IndexError):
            words = "The server sent something that is not a part of an OpenAI-compatible answer."
            self._fail("garbled", words, events, data)

    # -- chunks --

    def _chunk(self, chunk: JSON, events: list[Event]) -> None:
        """Read one object. Raises ValueError, TypeError, AttributeError or IndexError for a wrong shape."""
        if chunk.get("usage") or chunk.get("timings"):
            self._usage = _joined(self._usage, _usage(chunk))
        own = chunk.get("x_groq")
        if isinstance(own, dict):
            self._of_groq(own, events)
        choices = chunk.get("choices") or []
        # One answer is asked for: a second choice is its other part, such as the calls after the text.
        given = set[str]()
        for choice in choices if isinstance(choices, list) else ():
            if not self._over:
                self._choice(choice, given, events)

    def _of_groq(self, own: JSON, events: list[Event]) -> None:
        """Read what Groq writes beside the choices: why the reply was broken off, and the counts."""
        if own.get("error"):
            self._read_line(orjson.dumps({"error": own["error"]}), events)
        elif own.get("usage"):
            self._usage = _joined(self._usage, _usage(own))

    def _choice(self, choice: JSON, given: set[str], events: list[Event]) -> None:
        """Read a choice; `given` names the parts that another one of the same object had."""
        if error := choice.get("error"):
            self._read_line(orjson.dumps(error), events)
            return
        if delta := choice.get("delta"):
            self._parts(delta, (), self._streamed, events)
        elif message := choice.get("message"):  # a piece too on some servers; after a `delta` it repeats the whole
            self._parts(message, self._streamed | given, given, events)
        if choice.get("usage"):  # Moonshot
            self._usage = _joined(self._usage, _usage(choice))
        self._finish = finish_reason(str(choice.get("finish_reason") or self._finish))
        stop = choice.get("stop_reason") or choice.get("matched_stop")  # of vLLM, of SGLang; a number is a token
        self._stopped_at = stop if isinstance(stop, str) else self._stopped_at

    def _parts(self, written: JSON, known: Collection[str], taken: set[str], events: list[Event]) -> None:
        """Add the parts of a message that are not `known` yet, and their names to `taken`."""
        thinking, refusal = written.get("reasoning_content") or written.get("reasoning"), written.get("refusal")
        if thinking and "thinking" not in known:
            taken.add("thinking")
            self._say(_texts(thinking, ThinkingDelta), events)
        if (blocks := written.get("reasoning_details")) and "blocks" not in known:
            taken.add("blocks")
            self._blocks.feed(blocks)
        # OpenAI writes a refusal in the place of the content.
        self._refused = self._refused or bool(refusal)
        content = written.get("content") or (refusal if isinstance(refusal, str) else "")
        if content and "content" not in known:
            taken.add("content")
            self._say(_texts(content, TextDelta), events)
        if (calls := written.get("tool_calls")) and "calls" not in known:
            taken.add("calls")
            self._answered = True
            events += self._calls.feed(calls)
        elif (older := written.get("function_call")) and "older call" not in known and "calls" not in taken:
            taken.add("older call")
            self._answered = True
            events += self._calls.feed([{"function": older}])

    def _say(self, deltas: list[TextDelta | ThinkingDelta], events: list[Event]) -> None:
        self._answered = self._answered or bool(deltas)
        for event in deltas:
            self._has_content = self._has_content or isinstance(event, ThinkingDelta) or not event.text.isspace()
            events.append(event)

    def _end(self, events: list[Event]) -> None:
        """Return the final events, after the last data."""
        if not self._finish:
            self._fail("cut", CUT if self._begun else NOTHING, events)
            return
        if self._refused:
            self._finish = REFUSED
        calls = self._calls.flush(self._finish, self.signature, self._blocks.joined())
        events += calls
        if self._usage is not None:
            events.append(self._usage)
        if lost_a_call(self._finish):
            self._fail("garbled", CALL_LOST, events, self._finish.encode())
        elif self._finish == "error":
            self._fail("server", failed_with(""), events)
        elif self._finish == "tool_calls" and not calls:
            self._fail("garbled", CALL_LOST, events)
        else:
            self._over = True
            whole = Finished(self._finish, self._stopped_at)
            events.append(whole if self._has_content or calls else empty(self._finish))

    # -- failures --

    def _read_line(self, data: bytes, events: list[Event]) -> None:
        """Fail with an error; before any part of an answer it counts like the status that it names."""
        status = 200 if self._answered else status_of(_json(data))
        text, self._over = data.decode(errors="replace"), True
        events.append(Failed("server", failed_with(unwrap(text).message), status, text[:SHOWN_BODY]))

    def _too_large(self, events: list[Event]) -> None:
        self._fail(
            "too_large", f"The server sent a line of more than {self._limit:,} bytes, or of too many values.", events
        )

    def _fail(self, kind: str, message: str, events: list[Event], body: bytes = b"") -> None:
        self._over = True
        events.append(Failed(kind, message, 200, body[:SHOWN_BODY].decode(errors="replace")))


def _is_error(chunk: Any, data: bytes) -> bool:
    """Return True for an error in any envelope, including broken JSON that mentions an error."""
    if not isinstance(chunk, dict):
        return b"error" in data[:200].lower()
    if chunk.get("error"):
        return True
    if "choices" in chunk and "base_resp" not in chunk:
        # DeepInfra, Venice
        return not chunk["choices"] and any(isinstance(chunk.get(key), str) for key in ("error_message", "error_type"))
    status = chunk.get("base_resp")  # MiniMax
    named = any(key.startswith("error ") for key in chunk) or (isinstance(status, dict) and status.get("status_code"))
    return bool(named) or any(isinstance(chunk.get(key), str | list) for key in ERROR_KEYS)


def _is_json(data: bytes) -> bool:
    try:
        orjson.loads(data)
    except orjson.JSONDecodeError:
        return False
    return True


def _json(data: bytes) -> Any:
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return None


def _texts(value: Any, kind: type[TextDelta] | type[ThinkingDelta]) -> list[TextDelta | ThinkingDelta]:
    """Yield the pieces of a text, which is a string or, on some servers, a list of parts that may hold thoughts."""
    if isinstance(value, str):
        return [kind(value)]
    return list(_parts(value, kind))


def _parts(value: Any, kind: type[TextDelta] | type[ThinkingDelta]) -> Iterator[TextDelta | ThinkingDelta]:
    for part in value if isinstance(value, list) else [value]:
        made, text = _part(part) if isinstance(part, dict) else (None, part)
        if text and not isinstance(text, str):
            raise TypeError("text is not a string")
        if text:
            yield (made or kind)(text)


def _part(part: JSON) -> tuple[type[ThinkingDelta] | None, Any]:
    thought = part.get("thinking")
    if isinstance(thought, list):
        thought = "".join(inner.get("text") or "" for inner in thought)
    return (ThinkingDelta, thought) if thought else (None, part.get("text"))


def _joined(old: Usage | None, new: Usage) -> Usage:
    """Merge two counts: later values replace earlier ones; missing values keep them."""
    return (
        new
        if old is None
        else replace(old, **{name: stated for name, stated in asdict(new).items() if stated is not None})
    )


def _usage(chunk: JSON) -> Usage:
    """Return the counts of a chunk, of a choice, or of an object that a server writes its own into."""
    used, timings = chunk.get("usage") or {}, chunk.get("timings") or {}
    return Usage(
        prompt_tokens=reported_numbers.whole(used.get("prompt_tokens")),
        output_tokens=reported_numbers.whole(used.get("completion_tokens")),
        prompt_ms=reported_numbers.milliseconds(timings.get("prompt_ms")),
        output_ms=reported_numbers.milliseconds(timings.get("predicted_ms")),
    )
