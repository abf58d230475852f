"""Builds OpenAI's response objects: a whole answer, or the chunks of a stream."""

from __future__ import annotations

import time
import uuid
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any

import orjson

from toolsupport import signature_memory
from toolsupport.core import exact_json
from toolsupport.core.events import (
    STOPPED,
    CallDelta,
    CallReady,
    Event,
    Failed,
    Finished,
    TextDelta,
    TextReclassified,
    ThinkingDelta,
    ended_early,
    was_filtered,
)
from toolsupport.core.reply_builder import ReplyBuilder
from toolsupport.core.types import JSON
from toolsupport.gateway import chat_shapes, custom_tools, error_replies
from toolsupport.gateway.conversation import own_part
from toolsupport.gateway.custom_tools import CUSTOM, InputReader
from toolsupport.gateway.request_summary import RequestSummary

NOT_AS_STREAMED = (
    "The arguments of a call needed a repair after a part of them was sent. Send the request again without stream."
)
# OpenAI's reason if a filter of contents ended a reply. It has none for a server that gave up: that is cut, too.
FILTERED = "content_filter"
PLACE = "the text"


def _line(piece: JSON) -> bytes:
    return b"data: " + orjson.dumps(piece) + b"\n\n"


def new_id(kind: str) -> str:
    return f"{kind}{uuid.uuid4().hex[:24]}"


def usage(tally: RequestSummary) -> JSON | None:
    """Return the tokens of all attempts together, as each was paid for. None if the server counted nothing."""
    if not tally.counted:
        return None
    total = tally.prompt_tokens + tally.output_tokens
    return chat_shapes.USAGE(
        prompt_tokens=tally.prompt_tokens, completion_tokens=tally.output_tokens, total_tokens=total
    )


def summary(tally: RequestSummary) -> JSON:
    """Return the contents of the headers, for the end of a stream."""
    return chat_shapes.SUMMARY(
        format=tally.format or None,
        source=tally.source,
        repairs=tally.repairs,
        retries=tally.retries,
        tools_left_out=tally.left_out or None,
        first_use=tally.first_use or None,
        forced=tally.forced or None,
        format_reason=tally.format_reason or None,
        settings_left_out=list(tally.settings_left_out),
        fallback=tally.fallback or None,
        response_format=tally.answered_by.response_format or None if tally.answered_by else None,
    )


def reason(finished: Finished, tally: RequestSummary, *, called: bool) -> str:
    """Return OpenAI's finish reason."""
    if (tally.cut and finished.reason not in STOPPED) or (ended_early(finished.reason) and not called):
        return FILTERED if was_filtered(finished.reason) else "length"
    return "tool_calls" if called else "stop"


@dataclass(slots=True)
class StreamedCall:
    """The part of a call that was sent so far: of its arguments, or of the text of a custom call."""

    index: int
    id: str
    name: str
    custom: bool
    sent: str = ""
    begun: bool = False
    reader: InputReader = field(default_factory=InputReader)


@dataclass(slots=True)
class ChunkEncoder:
    """Turns events into chunks of a stream. `failed` is the reason why the stream failed.

    `custom`: the names of the tools whose calls are custom ones.
    """

    model: str
    tally: RequestSummary
    include_usage: bool = False
    custom: Collection[str] = ()
    id: str = field(default_factory=lambda: new_id("chatcmpl-"))
    created: int = field(default_factory=lambda: int(time.time()))
    calls: dict[str, StreamedCall] = field(default_factory=dict)
    content: list[str] = field(default_factory=list)
    begun: bool = False
    ended: bool = False
    failed: Failed | None = None
    around: tuple[bytes, bytes] | None = None

    def silence(self) -> bytes:
        return b": the model is still at work\n\n"

    def lines(self, events: Iterable[Event]) -> bytes:
        """Return the bytes of the stream for these events; a failure replaces the end mark."""
        lines: list[bytes] = []
        for event in events:
            if isinstance(event, TextDelta) and self.begun and self.failed is None:
                lines.append(self._text_line(event.text))
            else:
                lines += [_line(piece) for piece in self.take([event])]
        if self.failed is not None:
            lines.append(b"event: error\ndata: " + orjson.dumps(error_replies.body(self.failed)) + b"\n\n")
        elif self.ended:
            lines.append(b"data: [DONE]\n\n")
        return b"".join(lines)

    def whole(self, events: Iterable[Event]) -> JSON:
        """Return the answer as one object, from events that end with Finished."""
        return whole(self.model, events, self.tally, self.custom)

    def _text_line(self, text: str) -> bytes:
        """Return the chunk of a later piece of text: between its texts nothing of a chunk changes."""
        self.content.append(text)
        if self.around is None:
            # The content is the last text of a chunk; a model with the same name would come before it.
            before, _, after = _line(self._delta(content=PLACE)).rpartition(orjson.dumps(PLACE))
            self.around = before, after
        return orjson.dumps(text).join(self.around)

    def take(self, events: Iterable[Event]) -> list[JSON]:
        """Return the chunks for these events; none after a failure."""
        made: list[JSON] = []
        for event in events:
            if self.failed is None:
                made += self._one(event)
        return made

    def _one(self, event: Event) -> list[JSON]:
        if isinstance(event, TextDelta):
            self.content.append(event.text)
            return [self._delta(content=event.text)]
        if isinstance(event, TextReclassified):
            return self._reread(event)
        if isinstance(event, ThinkingDelta):
            return [self._delta(reasoning_content=event.text)]
        if isinstance(event, CallDelta):
            call = self._call(event.id, event.name)
            return self._grown(call, call.reader.read(event.text) if call.custom else event.text)
        if isinstance(event, CallReady):
            return self._ready(event)
        if isinstance(event, Finished):
            return self._end(event)
        if isinstance(event, Failed):
            self.failed = event
        return []

    def _reread(self, event: TextReclassified) -> list[JSON]:
        """Send text that was sent only as reasoning as the answer too; sent chunks cannot be undone."""
        sent = "".join(self.content)
        missing = event.text.removeprefix(sent) if event.text.startswith(sent) else event.text
        self.content = [event.text]
        return [self._delta(content=missing)] if missing else []

    def _call(self, id: str, name: str) -> StreamedCall:
        # Servers restart their numbers in each answer; programs treat an id as unique.
        return self.calls.setdefault(id, StreamedCall(len(self.calls), new_id("call_"), name, name in self.custom))

    def _grown(self, call: StreamedCall, text: str) -> list[JSON]:
        if call.begun and not text:
            return []
        kind = CUSTOM if call.custom else "function"
        first: JSON = {} if call.begun else {"id": call.id, "type": kind}
        name: JSON = {} if call.begun else {"name": call.name}
        call.begun, call.sent = True, call.sent + text
        if call.custom:
            custom = chat_shapes.CUSTOM_PIECE(input=text, **name)
            return [self._delta(tool_calls=[chat_shapes.CUSTOM_CALL_PIECE(index=call.index, custom=custom, **first)])]
        function = chat_shapes.FUNCTION_PIECE(arguments=text, **name)
        return [self._delta(tool_calls=[chat_shapes.CALL_PIECE(index=call.index, function=function, **first)])]

    def _ready(self, event: CallReady) -> list[JSON]:
        """Return the rest of the call; the sent part can only be continued."""
        call, whole = self._call(event.call.id, event.call.name), custom_tools.written(event.call, self.custom)
        signature_memory.keep(own_part(call.id), event.call)
        if whole.startswith(call.sent):
            return self._grown(call, whole[len(call.sent) :])
        if not same_arguments(call.sent, event.call.arguments):
            self.failed = Failed("garbled", NOT_AS_STREAMED)
        return []

    def _end(self, event: Finished) -> list[JSON]:
        self.ended = True
        ended = reason(event, self.tally, called=bool(self.calls))
        last = self._chunk({}, ended, x_toolsupport=summary(self.tally))
        return [last, self._object([], usage=usage(self.tally))] if self.include_usage else [last]

    def _delta(self, **delta: Any) -> JSON:
        return self._chunk(delta, None)

    def _chunk(self, delta: JSON, finish_reason: str | None, **more: Any) -> JSON:
        if not self.begun:
            delta = {"role": "assistant", "content": ""} | delta
        self.begun = True
        choice = chat_shapes.CHUNK_CHOICE(delta=chat_shapes.DELTA(**delta), finish_reason=finish_reason)
        return self._object([choice], **({"usage": None} if self.include_usage else {}), **more)

    def _object(self, choices: list[JSON], **more: Any) -> JSON:
        return chat_shapes.CHUNK(id=self.id, created=self.created, model=self.model, choices=choices, **more)


def same_arguments(text: str, arguments: JSON) -> bool:
    """Return whether JSON text holds these arguments."""
    try:
        return bool(exact_json.loads(text) == arguments)
    except ValueError:
        return False


def whole(model: str, events: Iterable[Event], tally: RequestSummary, custom: Collection[str] = ()) -> JSON:
    """Return the answer as one object, from events that end with Finished."""
    listed = list(events)
    reply = ReplyBuilder()
    for event in listed:
        reply.take(event)
    text, thoughts = reply.text, reply.thinking
    calls = [_whole_call(event, custom) for event in reply.calls if isinstance(event, CallReady)]
    more: JSON = {"reasoning_content": thoughts, "tool_calls": calls}
    message = chat_shapes.MESSAGE(
        content=None if calls and not text else text, **{name: value for name, value in more.items() if value}
    )
    ended = next(event for event in listed if isinstance(event, Finished))
    choice = chat_shapes.CHOICE(message=message, finish_reason=reason(ended, tally, called=bool(calls)))
    return chat_shapes.COMPLETION(
        id=new_id("chatcmpl-"),
        created=int(time.time()),
        model=model,
        choices=[choice],
        usage=usage(tally),
        x_toolsupport=summary(tally),
    )


def _whole_call(event: CallReady, custom: Collection[str]) -> JSON:
    name, text, own = event.call.name, custom_tools.written(event.call, custom), new_id("call_")
    signature_memory.keep(own_part(own), event.call)
    if name in custom:
        return chat_shapes.CUSTOM_CALL(id=own, custom=chat_shapes.CUSTOM(name=name, input=text))
    return chat_shapes.CALL(id=own, function=chat_shapes.FUNCTION(name=name, arguments=text))
