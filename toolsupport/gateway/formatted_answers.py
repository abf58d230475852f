"""Gives an answer the `response_format` of its request if a server does not accept it together with tools.

A schema beside tools would be forced on the calls too, and the model would stop calling. So the words of the answer are
held back until it is sure that no call follows. If they do not fit the format, the model is asked once more, without
tools and with the format, to write the same answer in it.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from toolsupport import loop_share
from toolsupport.core import call_validation, strict_json
from toolsupport.core.events import (
    CallDelta,
    CallReady,
    Event,
    Failed,
    Finished,
    ThinkingDelta,
    ended_early,
)
from toolsupport.core.reply_builder import ReplyBuilder
from toolsupport.core.types import JSON, ChatMessage, Role
from toolsupport.gateway import attempts
from toolsupport.gateway.request_preparation import SEPARATE, PreparedRequest
from toolsupport.gateway.request_summary import RequestSummary

AGAIN = "Write this answer again as {form}, and nothing else. Keep its content."
OBJECT = "one JSON object"
FITTING = "JSON that fits this JSON Schema:\n{schema}\nWrite only the JSON"


def answer(prepared: PreparedRequest, tally: RequestSummary) -> AsyncGenerator[list[Event], None]:
    """Return batches like attempts.answer, the words of the last answer in the format of the request."""
    made = _answered_again if prepared.response_format == SEPARATE else attempts.answer
    return made(prepared, tally)


async def _answered_again(prepared: PreparedRequest, tally: RequestSummary) -> AsyncGenerator[list[Event], None]:
    held = HeldAnswer()
    async with aclosing(attempts.answer(prepared, tally)) as batches:
        async for batch in batches:
            if passed := held.take(batch):
                yield passed
    if held.ended is None:
        return
    text, form = held.reply.text, prepared.asked.options["response_format"]
    if tally.cut or ended_early(held.ended.reason) or await loop_share.apart(lambda: fits(text, form), len(text)):
        yield [*held.events, held.ended]
        return
    called_in = tally.format
    async with aclosing(attempts.answer(in_format(prepared, text, form), tally)) as batches:
        async for batch in batches:
            tally.format = called_in  # the format of calls
            yield batch


@dataclass(slots=True)
class HeldAnswer:
    """The words of an answer, held back while a call may follow. `ended` is its end if no call came."""

    events: list[Event] = field(default_factory=list)
    reply: ReplyBuilder = field(default_factory=ReplyBuilder)
    called: bool = False
    ended: Finished | None = None

    def take(self, batch: Sequence[Event]) -> list[Event]:
        """Return the events to pass on now. Words before a call are not the answer, so they need no format."""
        for event in batch:
            self.reply.take(event)
        if isinstance(batch[-1], Failed) or self._calls(batch):
            passed = [*self.events, *batch] if self.called else [batch[-1]]
            self.events.clear()
            return passed
        passed = [event for event in batch if isinstance(event, ThinkingDelta)]
        self.events += [event for event in batch if not isinstance(event, ThinkingDelta | Finished)]
        self.ended = batch[-1] if isinstance(batch[-1], Finished) else None
        return passed

    def _calls(self, batch: Sequence[Event]) -> bool:
        began = any(isinstance(event, CallDelta) for event in batch)
        self.called = self.called or began or any(isinstance(call, CallReady) for call in self.reply.calls)
        return self.called


def fits(text: str, form: JSON) -> bool:
    """Return whether a text has the format that a program asked for."""
    if len(text) > call_validation.MOST_BYTES:
        return False
    try:
        value = strict_json.read(text, wide=float)
    except ValueError:
        return False
    schema = _schema(form)
    return isinstance(value, dict) if schema is None else not call_validation.complaints_about(value, schema)


def _schema(form: JSON) -> JSON | None:
    return (form.get("json_schema") or {}).get("schema")


def in_format(prepared: PreparedRequest, text: str, form: JSON) -> PreparedRequest:
    """Return the request for the same answer in the format, without tools, in which the server enforces the format."""
    schema = _schema(form)
    wanted = OBJECT if schema is None else FITTING.format(schema=json.dumps(schema, ensure_ascii=False))
    said = (ChatMessage(Role.ASSISTANT, text), ChatMessage(Role.USER, AGAIN.format(form=wanted)))
    request_spec = replace(prepared.request_spec, tools=(), hidden=(), excluded=(), format="", fallbacks=())
    return replace(prepared, request_spec=request_spec, log=(*prepared.log, *said), must_call=False)
