"""Builds the objects and the events of OpenAI's Responses API."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import orjson

from toolsupport.core.events import Event, Failed
from toolsupport.core.types import JSON
from toolsupport.gateway import error_replies
from toolsupport.gateway.attempts import RequestSummary
from toolsupport.gateway.block_stream import Block, BlockStream, Kind, Step
from toolsupport.gateway.chat_response import new_id, reason, summary
from toolsupport.gateway.request_preparation import PreparedRequest

DEFAULTS: JSON = {
    "instructions": None,
    "max_output_tokens": None,
    "metadata": {},
    "parallel_tool_calls": True,
    "temperature": None,
    "text": {"format": {"type": "text"}},
    "tool_choice": "auto",
    "tools": [],
    "top_p": None,
}


def usage(tally: RequestSummary) -> JSON | None:
    """Return the tokens of all attempts together; None if the server counted nothing."""
    if not tally.counted:
        return None
    return {
        "input_tokens": tally.prompt_tokens,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": tally.output_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": tally.prompt_tokens + tally.output_tokens,
    }


def item(block: Block, *, begun: bool = False) -> JSON:
    """Return the item of a block, with what it holds so far."""
    whole = block.whole or block.kind is not Kind.CALL
    status = "in_progress" if begun else "completed" if whole else "incomplete"
    if block.kind is Kind.CALL:
        identity = {"id": f"fc_{block.id}", "type": "function_call", "status": status}
        return {**identity, "call_id": f"call_{block.id}", "name": block.name, "arguments": "" if begun else block.text}
    parts = [] if begun else [part(block)]
    if block.kind is Kind.REASONING:
        return {"id": f"rs_{block.id}", "type": "reasoning", "status": status, "summary": [], "content": parts}
    return {"id": f"msg_{block.id}", "type": "message", "status": status, "role": "assistant", "content": parts}


def part(block: Block, text: str | None = None) -> JSON:
    """Return the one part of an item, with the text of the block unless another one is given."""
    text = block.text if text is None else text
    if block.kind is Kind.REASONING:
        return {"type": "reasoning_text", "text": text}
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


@dataclass(slots=True)
class ResponseEncoder:
    """Turns events into the events of a stream, or into one object."""

    prepared: PreparedRequest
    tally: RequestSummary
    id: str = field(default_factory=lambda: new_id("resp_"))
    created: int = field(default_factory=lambda: int(time.time()))
    stream: BlockStream = field(default_factory=BlockStream)
    _sent: int = 0

    @property
    def failed(self) -> Failed | None:
        return self.stream.failed

    @property
    def ended(self) -> bool:
        return self.stream.finished is not None

    def silence(self) -> bytes:
        return b": the model is still at work\n\n"

    def lines(self, events: Iterable[Event]) -> bytes:
        """Return the bytes of the stream for these events, with its end or its error."""
        made = []
        if not self._sent:
            made = [
                self._event("created", response=self._object()),
                self._event("in_progress", response=self._object()),
            ]
        for step, block, text in self.stream.take(events):
            made += self._change(step, block, text)
        if self.failed is not None:
            made.append(self._event("failed", response=self._object()))
        elif self.ended:
            whole = self._object()
            made.append(self._event(whole["status"], response=whole))
        return b"".join(made)

    def whole(self, events: Iterable[Event]) -> JSON:
        """Return the response as one object, from events that end with Finished."""
        self.stream.take(events)
        return self._object()

    def _event(self, kind: str, **fields: Any) -> bytes:
        kind = f"response.{kind}"
        written = orjson.dumps({"type": kind, "sequence_number": self._sent, **fields})
        self._sent += 1
        return b"event: " + kind.encode() + b"\ndata: " + written + b"\n\n"

    def _change(self, step: Step, block: Block, text: str) -> list[bytes]:
        place = {"item_id": item(block)["id"], "output_index": block.number}
        if step is Step.BEGINS:
            added = self._event("output_item.added", output_index=block.number, item=item(block, begun=True))
            if block.kind is Kind.CALL:
                return [added]
            return [added, self._event("content_part.added", **place, content_index=0, part=part(block, ""))]
        grows, ends = EVENTS[block.kind]
        if step is Step.GROWS:
            return [self._event(grows, **place, **DETAILS[block.kind], delta=text)]
        if block.kind is Kind.CALL:
            made = [self._event(ends, **place, name=block.name, arguments=text)]
        else:
            made = [
                self._event(ends, **place, **DETAILS[block.kind], text=text),
                self._event("content_part.done", **place, content_index=0, part=part(block)),
            ]
        return [*made, self._event("output_item.done", output_index=block.number, item=item(block))]

    def _object(self) -> JSON:
        cut = self.stream.finished is not None and (
            reason(self.stream.finished, self.tally, called=self.stream.called) == "length"
        )
        ended = "incomplete" if cut else "completed"
        status = "failed" if self.failed else ended if self.ended else "in_progress"
        return {
            "id": self.id,
            "object": "response",
            "created_at": self.created,
            "status": status,
            "background": False,
            "error": _error(self.failed),
            "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
            "model": self.prepared.model,
            "output": [item(block) for block in self.stream.blocks] if status != "in_progress" else [],
            "previous_response_id": None,
            "reasoning": {"effort": None, "summary": None},
            "store": False,
            "truncation": "disabled",
            "usage": usage(self.tally) if self.ended else None,
            **DEFAULTS,
            **self.prepared.asked.echo,
            "x_toolsupport": summary(self.tally),
        }


# The events of a block: those of its growth and of its end.
EVENTS: Mapping[Kind, tuple[str, str]] = MappingProxyType(
    {
        Kind.TEXT: ("output_text.delta", "output_text.done"),
        Kind.REASONING: ("reasoning_text.delta", "reasoning_text.done"),
        Kind.CALL: ("function_call_arguments.delta", "function_call_arguments.done"),
    }
)
DETAILS: Mapping[Kind, JSON] = MappingProxyType(
    {Kind.TEXT: {"content_index": 0, "logprobs": []}, Kind.REASONING: {"content_index": 0}, Kind.CALL: {}}
)


def _error(failed: Failed | None) -> JSON | None:
    """Return the error of a failed response; its codes are OpenAI's few."""
    if failed is None:
        return None
    return {"code": error_replies.code(failed), "message": failed.message}
