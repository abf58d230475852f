"""Builds the objects and the events of Anthropic's Messages API."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import orjson

from toolsupport.core import exact_json
from toolsupport.core.events import Event, Failed
from toolsupport.core.types import JSON
from toolsupport.gateway import error_replies
from toolsupport.gateway.block_ordering import Block, BlockStream, Kind, Step
from toolsupport.gateway.chat_response import FILTERED, new_id, reason, summary
from toolsupport.gateway.messages import shapes
from toolsupport.gateway.request_preparation import PreparedRequest
from toolsupport.gateway.request_summary import RequestSummary
from toolsupport.web import api_errors

ENDED = "end_turn"
OPEN: Mapping[str, str | None] = MappingProxyType({"stop_reason": None, "stop_sequence": None})
STOP_REASONS: Mapping[str, str] = MappingProxyType(
    {"length": "max_tokens", "tool_calls": "tool_use", "stop": ENDED, FILTERED: "refusal"}
)


def usage(tally: RequestSummary) -> JSON:
    """Return the tokens of all attempts together; 0 where the server counts nothing."""
    return shapes.USAGE(input_tokens=tally.prompt_tokens, output_tokens=tally.output_tokens)


def content(block: Block, text: str) -> JSON:
    """Return the content block with this text, or these arguments as JSON text."""
    if block.kind is Kind.CALL:
        arguments = exact_json.loads(text) if text else {}
        return shapes.CALL_BLOCK(id=f"toolu_{block.id}", name=block.name, input=arguments)
    return shapes.THINKING_BLOCK(thinking=text) if block.kind is Kind.REASONING else shapes.TEXT_BLOCK(text=text)


@dataclass(slots=True)
class MessageEncoder:
    """Turns events into the events of a stream, or into one object."""

    prepared: PreparedRequest
    tally: RequestSummary
    id: str = field(default_factory=lambda: new_id("msg_"))
    stream: BlockStream = field(default_factory=BlockStream)
    _begun: bool = False

    @property
    def failed(self) -> Failed | None:
        return self.stream.failed

    @property
    def ended(self) -> bool:
        return self.stream.finished is not None

    def silence(self) -> bytes:
        return self._start() + _event("ping")

    def lines(self, events: Iterable[Event]) -> bytes:
        """Return the bytes of the stream for these events, with its end or its error."""
        made = [self._start(), *(self._change(*change) for change in self.stream.take(events))]
        if self.failed is not None:
            made.append(_written("error", error_of(self.failed)))
        elif self.ended:
            delta = shapes.END(**self._end())
            made.append(
                _event("message_delta", delta=delta, usage=usage(self.tally), x_toolsupport=summary(self.tally))
            )
            made.append(_event("message_stop"))
        return b"".join(made)

    def whole(self, events: Iterable[Event]) -> JSON:
        """Return the message as one object, from events that end with Finished."""
        self.stream.take_whole(events)
        blocks = [
            content(block, block.text) for block in self.stream.blocks if block.kind is not Kind.CALL or block.whole
        ]
        return self._message(blocks, self._end(), x_toolsupport=summary(self.tally))

    def _start(self) -> bytes:
        if self._begun:
            return b""
        self._begun = True
        return _event("message_start", message=self._message([], OPEN))

    def _message(self, blocks: list[JSON], end: Mapping[str, str | None], **more: JSON) -> JSON:
        return shapes.MESSAGE(
            id=self.id,
            model=self.prepared.model,
            content=blocks,
            usage=usage(self.tally),
            **end,
            **more,
        )

    def _end(self) -> Mapping[str, str | None]:
        """Return the fields about the end; a stop string counts if the program asked for it."""
        finished = self.stream.finished
        assert finished
        ended = STOP_REASONS[reason(finished, self.tally, called=self.stream.called)]
        stop = finished.stopped_at
        if ended == ENDED and stop and stop in self.prepared.asked.options.get("stop", ()):
            return {"stop_reason": "stop_sequence", "stop_sequence": stop}
        return {"stop_reason": ended, "stop_sequence": None}

    def _change(self, step: Step, block: Block, text: str) -> bytes:
        if step is Step.BEGINS:
            return _event("content_block_start", index=block.number, content_block=content(block, ""))
        if step is Step.ENDS:
            signed = _grown(block, shapes.SIGNATURE_DELTA()) if block.kind is Kind.REASONING else b""
            return signed + _event("content_block_stop", index=block.number)
        delta, name = shapes.GROWTH[block.kind]
        return _grown(block, delta(**{name: text}))


def error_of(failed: Failed) -> JSON:
    """Return the error object of a failure."""
    return api_errors.anthropic(error_replies.status(failed), error_replies.body(failed))


def _grown(block: Block, delta: JSON) -> bytes:
    return _event("content_block_delta", index=block.number, delta=delta)


def _event(name: str, **fields: Any) -> bytes:
    return _written(name, shapes.EVENTS[name](**fields))


def _written(name: str, body: JSON) -> bytes:
    return b"event: " + name.encode() + b"\ndata: " + orjson.dumps(body) + b"\n\n"
