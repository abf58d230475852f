"""Builds OpenAI's response objects: a whole answer, or the chunks of a stream."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import orjson

from toolsupport.core.events import (
    CallDelta,
    CallReady,
    Event,
    Failed,
    Finished,
    TextDelta,
    TextReclassified,
    ThinkingDelta,
)
from toolsupport.core.reply_builder import ReplyBuilder
from toolsupport.core.types import JSON
from toolsupport.gateway import error_replies
from toolsupport.gateway.attempts import RequestSummary

NOT_AS_STREAMED = "The arguments of a call had to be mended after a part of them was sent. Ask again without stream."


def new_id(kind: str) -> str:
    return f"{kind}{uuid.uuid4().hex[:24]}"


def usage(tally: RequestSummary) -> JSON | None:
    """Return the tokens of all attempts together, as each was paid for. None if the server counted nothing."""
    if not tally.counted:
        return None
    total = tally.prompt_tokens + tally.output_tokens
    counts = {"prompt_tokens": tally.prompt_tokens, "completion_tokens": tally.output_tokens}
    return {**counts, "total_tokens": total}


def summary(tally: RequestSummary) -> JSON:
    """Return the contents of the headers, for the end of a stream."""
    return {
        "format": tally.format or None,
        "source": tally.source,
        "repairs": tally.repairs,
        "retries": tally.retries,
        "tools_left_out": tally.left_out or None,
        "first_use": tally.first_use or None,
        "forced": tally.forced or None,
    }


def reason(finished: Finished, tally: RequestSummary, *, called: bool) -> str:
    """Return OpenAI's finish reason."""
    if tally.cut or (finished.reason == "length" and not called):
        return "length"
    return "tool_calls" if called else "stop"


@dataclass(slots=True)
class StreamedCall:
    """The part of a call that was sent so far."""

    index: int
    id: str
    name: str
    sent: str = ""


@dataclass(slots=True)
class ChunkEncoder:
    """Turns events into chunks of a stream. `failed` is the reason why the stream failed."""

    model: str
    tally: RequestSummary
    include_usage: bool = False
    id: str = field(default_factory=lambda: new_id("chatcmpl-"))
    created: int = field(default_factory=lambda: int(time.time()))
    calls: dict[str, StreamedCall] = field(default_factory=dict)
    content: str = ""
    begun: bool = False
    ended: bool = False
    failed: Failed | None = None

    def silence(self) -> bytes:
        return b": the model is still at work\n\n"

    def lines(self, events: Iterable[Event]) -> bytes:
        """Return the bytes of the stream for these events; a failure replaces the end mark."""
        lines = [b"data: " + orjson.dumps(piece) + b"\n\n" for piece in self.take(events)]
        if self.failed is not None:
            lines.append(b"event: error\ndata: " + orjson.dumps(error_replies.body(self.failed)) + b"\n\n")
        elif self.ended:
            lines.append(b"data: [DONE]\n\n")
        return b"".join(lines)

    def whole(self, events: Iterable[Event]) -> JSON:
        """Return the answer as one object, from events that end with Finished."""
        return whole(self.model, events, self.tally)

    def take(self, events: Iterable[Event]) -> list[JSON]:
        """Return the chunks for these events; none after a failure."""
        made: list[JSON] = []
        for event in events:
            if self.failed is None:
                made += self._one(event)
        return made

    def _one(self, event: Event) -> list[JSON]:
        if isinstance(event, TextDelta):
            self.content += event.text
            return [self._delta({"content": event.text})]
        if isinstance(event, TextReclassified):
            return self._reread(event)
        if isinstance(event, ThinkingDelta):
            return [self._delta({"reasoning_content": event.text})]
        if isinstance(event, CallDelta):
            return [self._arguments(self._call(event.id, event.name), event.text)]
        if isinstance(event, CallReady):
            return self._ready(event)
        if isinstance(event, Finished):
            return self._end(event)
        if isinstance(event, Failed):
            self.failed = event
        return []

    def _reread(self, event: TextReclassified) -> list[JSON]:
        """Send text that was sent only as reasoning as the answer too; sent chunks cannot be taken back."""
        missing = event.text.removeprefix(self.content) if event.text.startswith(self.content) else event.text
        self.content = event.text
        return [self._delta({"content": missing})] if missing else []

    def _call(self, id: str, name: str) -> StreamedCall:
        # Servers restart their numbers in each answer; programs treat an id as unique.
        return self.calls.setdefault(id, StreamedCall(len(self.calls), new_id("call_"), name))

    def _arguments(self, call: StreamedCall, text: str) -> JSON:
        first: JSON = {} if call.sent else {"id": call.id, "type": "function"}
        name: JSON = {} if call.sent else {"name": call.name}
        call.sent += text
        return self._delta({"tool_calls": [{"index": call.index, **first, "function": {**name, "arguments": text}}]})

    def _ready(self, event: CallReady) -> list[JSON]:
        """Return the rest of the call; what was sent can only be continued."""
        call, whole = self._call(event.call.id, event.call.name), orjson.dumps(event.call.arguments).decode()
        if not call.sent or whole.startswith(call.sent):
            rest = whole[len(call.sent) :]
            return [self._arguments(call, rest)] if rest else []
        if not same_arguments(call.sent, event.call.arguments):
            self.failed = Failed("garbled", NOT_AS_STREAMED)
        return []

    def _end(self, event: Finished) -> list[JSON]:
        self.ended = True
        last = self._delta({}, reason(event, self.tally, called=bool(self.calls))) | {
            "x_toolsupport": summary(self.tally)
        }
        if not self.include_usage:
            return [last]
        return [last, self._object([]) | {"usage": usage(self.tally)}]

    def _delta(self, delta: JSON, finish_reason: str | None = None) -> JSON:
        if not self.begun:
            delta = {"role": "assistant", "content": ""} | delta
        self.begun = True
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
        return self._object([choice]) | ({"usage": None} if self.include_usage else {})

    def _object(self, choices: list[JSON]) -> JSON:
        made = {"id": self.id, "object": "chat.completion.chunk", "created": self.created, "model": self.model}
        return {**made, "choices": choices}


def same_arguments(text: str, arguments: JSON) -> bool:
    """Return whether JSON text holds these arguments."""
    try:
        return bool(orjson.loads(text) == arguments)
    except ValueError:
        return False


def whole(model: str, events: Iterable[Event], tally: RequestSummary) -> JSON:
    """Return the answer as one object, from events that end with Finished."""
    listed = list(events)
    reply = ReplyBuilder()
    for event in listed:
        reply.take(event)
    text, thoughts = reply.text, reply.thinking
    calls = [_whole_call(event) for event in reply.calls if isinstance(event, CallReady)]
    message: dict[str, Any] = {"role": "assistant", "content": None if calls and not text else text, "refusal": None}
    if thoughts:
        message["reasoning_content"] = thoughts
    if calls:
        message["tool_calls"] = calls
    ended = next(event for event in listed if isinstance(event, Finished))
    choice = {
        "index": 0,
        "message": message,
        "logprobs": None,
        "finish_reason": reason(ended, tally, called=bool(calls)),
    }
    return {
        "id": new_id("chatcmpl-"),
        "object": "chat.completion",
        "created": int(time.time()),
        "model": model,
        "choices": [choice],
        "usage": usage(tally),
        "x_toolsupport": summary(tally),
    }


def _whole_call(event: CallReady) -> JSON:
    arguments = orjson.dumps(event.call.arguments).decode()
    return {"id": new_id("call_"), "type": "function", "function": {"name": event.call.name, "arguments": arguments}}
