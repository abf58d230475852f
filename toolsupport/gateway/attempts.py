"""Retries until the answer is valid: every call fits an offered tool.

Causes of a retry: a call that cannot be used, a missing call that was required, an empty answer. As long as no call was
passed on the model is asked again, in its next format if nothing was passed on at all, else with the reason.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from toolsupport import exchange
from toolsupport.core import forced_calls
from toolsupport.core.events import (
    PIECES,
    CallDelta,
    CallFound,
    CallGarbled,
    CallReady,
    CallRejected,
    Event,
    Failed,
    Finished,
    ReasoningSeen,
    SchemaDropped,
    SchemaRefused,
    SettingsLeftOut,
    TextDelta,
    TextReclassified,
    ToolsRefused,
    Usage,
    is_limited,
    is_text,
)
from toolsupport.core.format_choice import FORCED
from toolsupport.core.formats import FORMATS
from toolsupport.core.reply_builder import ReplyBuilder
from toolsupport.core.types import ChatMessage, RequestSpec, Role, ToolCall, ToolSpec
from toolsupport.gateway import streamable_arguments
from toolsupport.gateway.request_preparation import PreparedRequest
from toolsupport.gateway.request_summary import RequestSummary
from toolsupport.services import passive_health_checks

MOST_RETRIES = 2
# Kinds of failures that end a stream in the middle.
BROKEN = ("cut", "garbled", "server", "timeout", "too_large", "unreachable")
DRAFT = "A call of this stream does not count: what followed it showed that it was part of the model's reasoning."
NOT_CALLED = "tool_choice requires a call, and the model made none."
NO_CALL = "An answer without a call cannot be used here. Call one of the tools now."

NOT_PASSED = Usage | ToolsRefused | ReasoningSeen | SchemaDropped | SchemaRefused | SettingsLeftOut


@dataclass(slots=True)
class Attempt:
    """One answer in progress. `spoiled` is the reason why it cannot be used, written for the model.

    `called` are the calls that began, `live` those that were partly passed on: these cannot be undone, `waiting`
    those that are sent when they are whole. `cut`: the last call was incomplete when the reply reached its token limit.
    `pieces` are the arguments so far of those that may be sent before they are whole. `failure`: how a constrained
    reply failed. `again`: it is a retry. `dropped`: its server did not enforce its schema.
    """

    prepared: PreparedRequest
    request_spec: RequestSpec
    reply: ReplyBuilder = field(default_factory=ReplyBuilder)
    passed: bool = False
    called: set[str] = field(default_factory=set)
    live: set[str] = field(default_factory=set)
    waiting: set[str] = field(default_factory=set)
    whole: set[str] = field(default_factory=set)
    held: list[Event] = field(default_factory=list)
    rejected: CallRejected | None = None
    spoiled: str = ""
    cut: bool = False
    pieces: dict[str, str] = field(default_factory=dict)
    failure: Failed | None = None
    again: bool = False
    dropped: bool = False

    def take(self, event: Event) -> list[Event]:
        """Return the events to pass on now."""
        self.reply.take(event)
        if isinstance(event, TextDelta):
            return self._passed([event])
        elif isinstance(event, CallRejected):
            return self._rejected(event)
        elif isinstance(event, TextReclassified):
            self.called = set(self.live)
        elif isinstance(event, CallDelta | CallReady):
            return self._call(event)
        elif isinstance(event, CallGarbled):
            return self._garbled(event)
        elif isinstance(event, Finished):
            return self._finished(event)
        elif isinstance(event, Failed):
            return self._failed(event)
        return self._passed([event])

    @property
    def cannot_call(self) -> bool:
        """Whether a call is required, and the server refused the tools."""
        return self.prepared.must_call and not self.request_spec.offers_tools

    def given_up(self) -> Failed:
        """Return the end of a request whose last attempt cannot be used."""
        if self.prepared.must_call:
            why = self.request_spec.format_reason if self.cannot_call else self.rejected.reason if self.rejected else ""
            return Failed("tool_choice_not_met", f"{NOT_CALLED} {why}".strip())
        return self.failure or Failed("garbled", f"The model's answer could not be used: {self.spoiled}")

    def _passed(self, events: list[Event]) -> list[Event]:
        """Return the certain events, for a program that waits for the whole answer, or if only a call can follow."""
        only_call = self.request_spec.format == FORCED and not self.request_spec.constraint.answer
        if not self.prepared.stream or self.prepared.must_call or only_call:
            self.held += events
            return []
        self.passed = self.passed or any(isinstance(event, TextDelta | CallReady) for event in events)
        return events

    def _call(self, event: CallDelta | CallReady) -> list[Event]:
        call = event.call.id if isinstance(event, CallReady) else event.id
        if self.prepared.one_call and self.called - {call}:
            return []
        if isinstance(event, CallDelta):
            begun = self._begun(event)
            if begun is None:
                return []
            event = begun
            self.live.add(call)
            self.passed = True
        else:
            self.waiting.discard(call)
            self.whole.add(call)
        self.called.add(call)
        return self._passed([event])

    def _begun(self, event: CallDelta) -> CallDelta | None:
        """Return the part of a call to send now; None if it is sent when it is complete, or waits for its next piece.

        Calls behind one that waits do so too, to keep the order.
        """
        call = event.id
        if not self.prepared.stream or self.prepared.must_call or call in self.live:
            return event if call in self.live else None
        held_back = call in self.waiting and call not in self.pieces
        tool = None if held_back or self.waiting - {call} else self._takes_text(event)
        if tool is None:
            self.waiting.add(call)
            return None
        self.pieces[call] = self.pieces.get(call, "") + event.text
        if not streamable_arguments.are_sure(self.pieces[call], tool):
            self.waiting.add(call)
            return None
        self.waiting.discard(call)
        return replace(event, text=self.pieces[call])

    def _takes_text(self, event: CallDelta) -> ToolSpec | None:
        """Return the tool of a call that is sent while it is written; None if the call may still be withdrawn.

        A call in text may be only mentioned, one inside reasoning a draft, one of an unknown name no call; `"3"` for an
        integer may be repaired, and a text may break a pattern.
        """
        if self.request_spec.format in FORMATS or not event.outside:
            return None
        named = next((tool for tool in self.request_spec.tools if tool.name == event.name), None)
        return named if named and streamable_arguments.take_any_text(named) else None

    def _rejected(self, event: CallRejected) -> list[Event]:
        if event.fault == "cut":
            self.cut = True  # a retry with the same token limit would not help: the answer ends with that reason
            return []
        live = self.passed and bool(self.called)
        self.rejected = event
        if live:
            return [Failed("garbled", f"A call of {event.name} cannot be used: {event.reason}")]
        self.spoiled = event.reason
        return []

    def _garbled(self, event: CallGarbled) -> list[Event]:
        """Drop the calls of this attempt, unless the program has received a part of them already."""
        if self.passed and self.called:
            return [Failed("garbled", f"A call cannot be used: its server could not read it ({event.message}).")]
        self.called.clear()
        self.held = [one for one in self.held if not isinstance(one, CallReady)]
        return []

    def _finished(self, event: Finished) -> list[Event]:
        if self.live - self.whole and not self.cut:
            return [Failed("garbled", DRAFT)]
        if self.prepared.must_call and not self.called and not self.cut:
            self.spoiled = NO_CALL
            return []
        self.passed = True
        return [*self.held, event]

    def _failed(self, event: Failed) -> list[Event]:
        must_call, forced = self.prepared.must_call, self.request_spec.format == FORCED
        if event.kind == "empty" and is_limited(event.finish) and not (must_call or forced):
            return self._finished(Finished(event.finish))  # the same limit or filter would end a retry too
        # Ollama closes the stream without its end mark if a constrained model repeats itself.
        kinds = ("refused", "server", "cut") if must_call else ("server", "cut")
        tried = (forced or (must_call and self.again)) and event.kind in kinds
        if (event.kind == "empty" or tried) and not self.passed:
            self.spoiled, self.failure = event.message, event if tried else None
            return []
        return [event]


async def answer(prepared: PreparedRequest, tally: RequestSummary) -> AsyncGenerator[list[Event], None]:
    """Yield batches of events to pass on, none of them empty; the last event is Finished or Failed."""
    request_spec, log = exchange.as_required(prepared.endpoint, prepared.request_spec, prepared.log), prepared.log
    while True:
        tally.forced = _forced(request_spec, tally)
        attempt = Attempt(prepared, request_spec, again=tally.retries > 0)
        async with aclosing(_passed_on(attempt, log, tally)) as batches:
            async for batch in batches:
                yield batch
        if not attempt.spoiled:
            return
        if tally.retries >= MOST_RETRIES or attempt.cannot_call:
            yield [attempt.given_up()]
            return
        tally.retries += 1
        if attempt.dropped:
            attempt.request_spec = forced_calls.unenforced(attempt.request_spec, forced_calls.DROPPED)
            _unconstrained(attempt, tally)
        request_spec, log = _again(attempt, log, last=tally.retries >= MOST_RETRIES)


def _forced(request_spec: RequestSpec, tally: RequestSummary) -> str:
    if request_spec.format != FORCED:
        return tally.forced
    return "retry" if tally.retries else "format" if request_spec.constraint.answer else "required"


async def _passed_on(
    attempt: Attempt, log: Sequence[ChatMessage], tally: RequestSummary
) -> AsyncGenerator[list[Event], None]:
    """Yield one attempt and count it at its end; a spoiled one ends early, which stops the server."""
    tally.format, began = attempt.request_spec.format, time.monotonic()
    try:
        async with aclosing(_observed(attempt, log, tally)) as batches:
            async for batch in batches:
                yield batch
    finally:
        tally.calls.replied(round((time.monotonic() - began) * 1000))


async def _observed(
    attempt: Attempt, log: Sequence[ChatMessage], tally: RequestSummary
) -> AsyncGenerator[list[Event], None]:
    asked = exchange.ask(attempt.prepared.endpoint, attempt.request_spec, log)
    async with aclosing(passive_health_checks.watched(attempt.prepared.watch, asked)) as batches:
        async for batch in batches:
            passed: list[Event] = []
            for event in _without_cut_calls(batch):
                if isinstance(event, PIECES):
                    tally.written += len(event.text)
                else:
                    _count(event, attempt, tally)
                if not isinstance(event, NOT_PASSED):
                    passed += attempt.take(event)
                if attempt.spoiled:
                    break
            if passed:
                yield passed
            if attempt.spoiled or (not is_text(passed) and any(isinstance(event, Failed) for event in passed)):
                return


def _without_cut_calls(batch: Sequence[Event]) -> Sequence[Event]:
    """Return the events; a call that a broken stream cut is no fault of the model."""
    if is_text(batch) or not any(isinstance(event, Failed) and event.kind in BROKEN for event in batch):
        return batch
    return [event for event in batch if not isinstance(event, CallRejected)]


def _note(event: Event, tally: RequestSummary) -> None:
    """Store the findings from the answer, for its end and for later requests."""
    if isinstance(event, CallReady | CallRejected | CallFound | CallGarbled):
        # Not every call arrives in pieces, and the complete call repeats its pieces.
        tally.written = tally.written or 1
    if isinstance(event, CallRejected) and event.fault == "cut":
        tally.cut = True
    if isinstance(event, ReasoningSeen):
        tally.begins_inside = event.begins_inside
    if isinstance(event, SchemaDropped | SchemaRefused):
        tally.schema_fault = tally.schema_fault or event
    if isinstance(event, SettingsLeftOut):
        tally.settings_left_out = tuple(dict.fromkeys((*tally.settings_left_out, *event.settings)))


def _count(event: Event, attempt: Attempt, tally: RequestSummary) -> None:
    if isinstance(event, ToolsRefused) and event.misconfigured:
        tally.misconfigured = event
    elif isinstance(event, CallReady | CallRejected | CallFound | CallGarbled | ToolsRefused):
        tally.calls.received(event, attempt.request_spec.format)
    _note(event, tally)
    if isinstance(event, Usage):
        tally.calls.used(event.output_tokens or 0)
        tally.counted = tally.counted or event.prompt_tokens is not None or event.output_tokens is not None
        tally.prompt_tokens += event.prompt_tokens or 0
        tally.output_tokens += event.output_tokens or 0
    elif isinstance(event, CallReady):
        tally.repairs += event.call.repairs
    elif isinstance(event, CallGarbled):
        tally.retries += 1
    elif isinstance(event, SchemaRefused | SchemaDropped):
        _schema_fault(event, attempt, tally)
    elif isinstance(event, ToolsRefused):
        attempt.request_spec = exchange.otherwise(attempt.request_spec, event)
        tally.format, tally.retries = attempt.request_spec.format, tally.retries + 1
        rule = "misconfigured" if event.misconfigured else "refused"
        tally.left_out = "" if attempt.request_spec.format else rule


def _schema_fault(event: SchemaRefused | SchemaDropped, attempt: Attempt, tally: RequestSummary) -> None:
    """Follow the requests after a refused schema; after a dropped one, the next attempt has no schema."""
    if isinstance(event, SchemaDropped):
        attempt.dropped = True
        return
    attempt.request_spec = forced_calls.after_refusal(attempt.request_spec, event)
    if event.part == "all":
        _unconstrained(attempt, tally)


def _unconstrained(attempt: Attempt, tally: RequestSummary) -> None:
    """Record the format of the request after its server refused or dropped the schema."""
    request_spec = attempt.request_spec
    tally.format, tally.forced, tally.format_reason = request_spec.format, "", request_spec.format_reason
    tally.left_out = "" if request_spec.format else "refused"


def _again(attempt: Attempt, log: Sequence[ChatMessage], *, last: bool) -> tuple[RequestSpec, tuple[ChatMessage, ...]]:
    """Return the next request: in the next format, or with the reason for the retry; `last`: no other follows."""
    request_spec = attempt.request_spec
    if _may_constrain(attempt):
        must_call = attempt.prepared.must_call
        request_spec = forced_calls.retried(request_spec, attempt.rejected, must_call=must_call, last=last)
        return request_spec, _with_reason(attempt, log)
    following = [name for name in request_spec.fallbacks if name in FORMATS]
    if following and not attempt.passed:
        reason = f"A call in the format {request_spec.format} could not be used: {attempt.spoiled}"
        return replace(request_spec, format=following[0], format_reason=reason, fallbacks=tuple(following[1:])), tuple(
            log
        )
    return request_spec, _with_reason(attempt, log)


def _may_constrain(attempt: Attempt) -> bool:
    """Return whether the retry is constrained to a schema.

    A required call that never came is tried so where no test has shown yet what the server does.
    """
    prepared, request_spec = attempt.prepared, attempt.request_spec
    if not request_spec.offers_tools or not (attempt.rejected or prepared.must_call):
        return False
    untested = request_spec.capabilities["constrains"].value is None and prepared.forces and not attempt.dropped
    return request_spec.may_force or (prepared.must_call and untested and attempt.rejected is None)


def _with_reason(attempt: Attempt, log: Sequence[ChatMessage]) -> tuple[ChatMessage, ...]:
    """Return the log with the answer that cannot be used, and the reason."""
    text = attempt.reply.text
    if attempt.rejected is None:
        return (*log, ChatMessage(Role.ASSISTANT, text), ChatMessage(Role.USER, attempt.spoiled))
    call = ToolCall(attempt.rejected.id, attempt.rejected.name, {})
    result = ChatMessage(Role.TOOL, attempt.spoiled, call_id=call.id, name=call.name)
    return (*log, ChatMessage(Role.ASSISTANT, text, calls=(call,)), result)
