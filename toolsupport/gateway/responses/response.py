"""Builds the objects and the events of OpenAI's Responses API."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import orjson

from toolsupport.core.events import Event, Failed
from toolsupport.core.json_shapes import Shape
from toolsupport.core.types import JSON
from toolsupport.gateway import error_replies
from toolsupport.gateway.block_ordering import Block, BlockStream, Kind, Step
from toolsupport.gateway.chat_response import FILTERED, new_id, reason, summary
from toolsupport.gateway.parsed_request import NamespacedName
from toolsupport.gateway.request_preparation import PreparedRequest
from toolsupport.gateway.request_summary import RequestSummary
from toolsupport.gateway.responses import shapes


def usage(tally: RequestSummary) -> JSON | None:
    """Return the tokens of all attempts together; None if the server counted nothing."""
    if not tally.counted:
        return None
    return shapes.USAGE(
        input_tokens=tally.prompt_tokens,
        input_tokens_details=shapes.INPUT_DETAILS(),
        output_tokens=tally.output_tokens,
        output_tokens_details=shapes.OUTPUT_DETAILS(),
        total_tokens=tally.prompt_tokens + tally.output_tokens,
    )


Namespaced = Mapping[str, NamespacedName]


def called(block: Block, namespaced: Namespaced) -> JSON:
    """Return the name of a called tool, and its namespace if it has one: Codex runs no call under a flat name."""
    named = namespaced.get(block.name)
    return {"name": named.name, "namespace": named.namespace} if named else {"name": block.name}


def item(block: Block, namespaced: Namespaced, *, begun: bool = False) -> JSON:
    """Return the item of a block, with its content so far."""
    whole = block.whole or not block.kind.calls
    status = "in_progress" if begun else "completed" if whole else "incomplete"
    if block.kind.calls:
        shape, prefix, field = CALLS[block.kind]
        text = {field: "" if begun else block.text}
        of_call = {"call_id": f"call_{block.id}", **called(block, namespaced), **text}
        return shape(id=f"{prefix}_{block.id}", status=status, **of_call)
    parts = [] if begun else [part(block)]
    if block.kind is Kind.REASONING:
        return shapes.REASONING_ITEM(id=f"rs_{block.id}", status=status, content=parts)
    return shapes.MESSAGE_ITEM(id=f"msg_{block.id}", status=status, content=parts)


# Kind of a call → its item, what the id of that begins with, and the field with its text.
CALLS: Mapping[Kind, tuple[Shape, str, str]] = MappingProxyType(
    {
        Kind.CALL: (shapes.CALL_ITEM, "fc", "arguments"),
        Kind.CUSTOM: (shapes.CUSTOM_ITEM, "ctc", "input"),
    }
)


def part(block: Block, text: str | None = None) -> JSON:
    """Return the one part of an item, with the text of the block unless another one is given."""
    text = block.text if text is None else text
    return (shapes.REASONING_PART if block.kind is Kind.REASONING else shapes.TEXT_PART)(text=text)


@dataclass(slots=True)
class ResponseEncoder:
    """Turns events into the events of a stream, or into one object."""

    prepared: PreparedRequest
    tally: RequestSummary
    id: str = field(default_factory=lambda: new_id("resp_"))
    created: int = field(default_factory=lambda: int(time.time()))
    stream: BlockStream = field(init=False)
    _sent: int = 0

    def __post_init__(self) -> None:
        self.stream = BlockStream(self.prepared.asked.custom)

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
        self.stream.take_whole(events)
        return self._object()

    def _event(self, kind: str, **fields: Any) -> bytes:
        made = shapes.EVENTS[kind](sequence_number=self._sent, **fields)
        self._sent += 1
        return b"event: response." + kind.encode() + b"\ndata: " + orjson.dumps(made) + b"\n\n"

    def _change(self, step: Step, block: Block, text: str) -> list[bytes]:
        names = self.prepared.asked.namespaced
        place = {"item_id": item(block, names)["id"], "output_index": block.number}
        if step is Step.BEGINS:
            added = self._event("output_item.added", output_index=block.number, item=item(block, names, begun=True))
            if block.kind.calls:
                return [added]
            return [added, self._event("content_part.added", **place, content_index=0, part=part(block, ""))]
        grows, ends = shapes.GROWTH[block.kind]
        if step is Step.GROWS:
            return [self._event(grows, **place, **DETAILS[block.kind], delta=text)]
        if block.kind is Kind.CALL:
            made = [self._event(ends, **place, name=called(block, names)["name"], arguments=text)]
        elif block.kind is Kind.CUSTOM:
            made = [self._event(ends, **place, input=text)]
        else:
            made = [
                self._event(ends, **place, **DETAILS[block.kind], text=text),
                self._event("content_part.done", **place, content_index=0, part=part(block)),
            ]
        return [*made, self._event("output_item.done", output_index=block.number, item=item(block, names))]

    def _object(self) -> JSON:
        names = self.prepared.asked.namespaced
        end = self.stream.finished and reason(self.stream.finished, self.tally, called=self.stream.called)
        cut = CUT_BY.get(end or "")
        ended = "incomplete" if cut else "completed"
        status = "failed" if self.failed else ended if self.ended else "in_progress"
        return shapes.RESPONSE(
            id=self.id,
            created_at=self.created,
            status=status,
            error=_error(self.failed),
            incomplete_details=shapes.CUT(reason=cut) if cut else None,
            model=self.prepared.model,
            output=[item(block, names) for block in self.stream.blocks] if status != "in_progress" else [],
            reasoning=shapes.EFFORT(),
            usage=usage(self.tally) if self.ended else None,
            **{**shapes.DEFAULTS, **self.prepared.asked.echo},
            x_toolsupport=summary(self.tally),
        )


# The reason of the end in chat completions → here.
CUT_BY: Mapping[str, str] = MappingProxyType({"length": "max_output_tokens", FILTERED: "content_filter"})
# Further fields of the events of text and of reasoning, besides place and text.
DETAILS: Mapping[Kind, JSON] = MappingProxyType(
    {
        Kind.TEXT: {"content_index": 0, "logprobs": []},
        Kind.REASONING: {"content_index": 0},
        Kind.CALL: {},
        Kind.CUSTOM: {},
    }
)


# Codes to which programs react, by shortening or by another choice of tools.
ACTED_ON = frozenset({error_replies.CONTEXT_EXCEEDED, error_replies.NOT_MET})
# Kind of failure → one of the codes of the package of OpenAI; requests are repeated after the others.
CODES: Mapping[str, str] = MappingProxyType(
    {"busy": "rate_limit_exceeded", "refused": "invalid_prompt", "model_missing": "invalid_prompt"}
)


def _error(failed: Failed | None) -> JSON | None:
    """Return the error of a failed response: its codes are OpenAI's few, our own one is its type."""
    if failed is None:
        return None
    own = error_replies.code(failed)
    known = own if own in ACTED_ON else CODES.get(failed.kind, "server_error")
    return shapes.FAILURE(code=known, message=failed.message, type=own)
