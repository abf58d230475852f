"""The loop of one answer: question, calls, results, question, until there is no call left.

In: a `TurnState`, a function that asks the model, and a `CallExecutor`. Out: batches of events in order; the last one
is TurnEnded or ApprovalNeeded. Callers: `run`, which writes the events into rows and frames, and a parked turn, which
continues from a state that was read from its rows.
- Every call in the history is followed by its result, in the order of the calls, before the model is asked again.
- A call that needs approval stays pending, with all that follow it: `pending` and `history` are the whole state.
- It ends on its own: limits of rounds, of calls, and of the same call again, programs' calls included.
It never touches rows, pages or tools, and never decides what may run: that is the executor's.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Protocol

from chat.statuses import CallStatus, TurnStatus
from chat.tools.policy import CallDecision, CallOutcome, refused
from chat.tools.tool import Pause
from chat.turns.events import (
    ApprovalNeeded,
    CallMade,
    RefusalInText,
    RoundEnded,
    RoundStarted,
    ToolFinished,
    ToolStarted,
    TurnEnded,
    TurnEvent,
)
from toolsupport.core.events import CallFound, CallReady, CallRejected, Event
from toolsupport.core.reply_builder import ReplyBuilder, ReplyCall
from toolsupport.core.types import ChatMessage, Role, ToolCall, ToolResult

Ask = Callable[[Sequence[ChatMessage]], AsyncGenerator[list[Event], None]]


class CallExecutor(Protocol):
    """Handles the calls of a turn: `decide` without waiting, `run` as long as it takes.

    `found`: the call was in prose, and never runs without approval. A program pauses for each call of its own, and
    `go_on` gives it the result. `model_changed` is True if people chose another model since the turn began,
    `has_alternative` if a model that wrote this text can be offered other tools.
    """

    def decide(self, call: ToolCall, found: bool = False) -> CallDecision: ...

    async def run(self, call: ToolCall) -> CallOutcome: ...

    async def go_on(self, program: ToolCall, pause: Pause, inner: CallOutcome) -> CallOutcome: ...

    async def model_changed(self) -> bool: ...

    def has_alternative(self, written: str) -> bool: ...


@dataclass(frozen=True, slots=True)
class LoopLimits:
    """The limits of a loop."""

    rounds: int = 25
    calls: int = 32
    same_call: int = 3


@dataclass(slots=True)
class TurnState:
    """The state of a turn, from which any process can continue it. `pending` are unanswered calls.

    `declined`: a call found in prose was not allowed, so the prose is the answer. `calls_only`: it ends with its calls,
    without a request to a model. With `pause` the first pending call is a program, which waits for a call of its own
    after running for `took` milliseconds.
    """

    history: list[ChatMessage]
    limits: LoopLimits = LoopLimits()
    rounds: int = 0
    calls: Counter[str] = field(default_factory=Counter)
    pending: list[ReplyCall] = field(default_factory=list)
    declined: bool = False
    calls_only: bool = False
    pause: Pause | None = None
    took: int = 0


async def advance(state: TurnState, ask: Ask, executor: CallExecutor) -> AsyncGenerator[list[TurnEvent], None]:
    """Continue until the turn is over or a person is needed.

    Yields batches of events, in order; the last one is TurnEnded or ApprovalNeeded.
    """
    while True:
        async with aclosing(_serve(state, executor)) as served:
            async for happened in served:
                yield [happened]
        if state.pending:
            return
        over = await _over(state, executor)
        if over is not None:
            yield [over]
            return
        async with aclosing(_round(state, ask, executor)) as batches:
            async for batch in batches:
                yield batch
                if isinstance(batch[-1], TurnEnded):
                    return


async def _round(state: TurnState, ask: Ask, executor: CallExecutor) -> AsyncGenerator[list[TurnEvent], None]:
    """Send one request to the model; its calls become pending.

    A reply that only refuses in text is left out of the history: the model is asked again as if there were none.
    """
    state.rounds += 1
    reply = ReplyBuilder()
    yield [RoundStarted(state.rounds)]
    async with aclosing(ask(state.history)) as batches:
        async for batch in batches:
            kept: list[TurnEvent] = [event for event in batch if _taken(reply, event, state.limits.calls)]
            if kept:
                yield kept
    if not (reply.failed or reply.calls or state.calls) and executor.has_alternative(reply.text):
        yield [RoundEnded(state.rounds), RefusalInText()]
        return
    calls = tuple(called(asked) for asked in reply.calls)
    state.history.append(ChatMessage(Role.ASSISTANT, reply.text, reply.thinking, calls))
    if reply.failed or not reply.calls:
        yield [RoundEnded(state.rounds, last=True), _ending(reply)]
        return
    state.pending = list(reply.calls)
    yield [RoundEnded(state.rounds)]


def _taken(reply: ReplyBuilder, event: Event, most: int) -> bool:
    """Return False for a call beyond the `most` of a turn: it is dropped, and no page shows it."""
    if isinstance(event, ReplyCall) and len(reply.calls) >= most:
        return False
    reply.take(event)
    return True


DROPPED = refused("Not run: a call before it was not allowed.")
NOT_RUN = refused("Not run: too many calls in one answer.")
TOO_MANY = ToolResult("The program was stopped: it made too many calls, or the same one too often.", is_error=True)
# A call that needs approval stays in its row.
LARGEST_STATE = 4 * 1024 * 1024
TOO_LARGE = refused("A person would have to allow this, and the program holds too much to wait. Call it earlier in it.")


async def _serve(state: TurnState, executor: CallExecutor) -> AsyncGenerator[TurnEvent, None]:
    """Answer the pending calls in order, each followed by its result in the history.

    A call that needs a person stays pending, with all that follow it.
    """
    while state.pending:
        asked = state.pending[0]
        if isinstance(asked, CallRejected):
            state.calls[_rejection(asked)] += 1
            state.history.append(_result(called(asked), asked.reason))
            del state.pending[0]
            continue
        step = _begun(state, executor, asked) if state.pause is None else _within(state, executor, asked, state.pause)
        async with aclosing(step) as served:
            async for happened in served:
                yield happened
                if isinstance(happened, ApprovalNeeded):
                    return


async def _begun(
    state: TurnState, executor: CallExecutor, asked: CallReady | CallFound
) -> AsyncGenerator[TurnEvent, None]:
    """Run a call, or ask a person about it."""
    found, allowed = isinstance(asked, CallFound), state.calls.total() < state.limits.calls
    if allowed and not state.declined and executor.decide(asked.call, found) is CallDecision.ASK:
        yield ApprovalNeeded(asked.call, found)
        return
    state.calls[fingerprint_of(asked.call)] += 1
    yield ToolStarted(asked.call)
    outcome = DROPPED if state.declined else await executor.run(asked.call) if allowed else NOT_RUN
    yield _settled(state, asked, outcome)


async def _within(
    state: TurnState, executor: CallExecutor, asked: CallReady | CallFound, pause: Pause
) -> AsyncGenerator[TurnEvent, None]:
    """Answer a program's call like a call of the model, and let the program continue."""
    inner = pause.asked
    if isinstance(inner, CallRejected):
        outcome = CallOutcome("rejected", ToolResult(inner.reason, is_error=True), 0)
    else:
        asks, large = executor.decide(inner.call) is CallDecision.ASK, len(pause.state) > LARGEST_STATE
        if asks and not large:
            yield ApprovalNeeded(inner.call, state=pause.state)
            return
        yield ToolStarted(inner.call)
        outcome = TOO_LARGE if asks else await executor.run(inner.call)
        yield ToolFinished(inner.call, outcome.result, outcome.status, outcome.duration_ms)
    state.calls[_counted_as(inner)] += 1
    yield _settled(state, asked, await executor.go_on(asked.call, pause, outcome))


def _settled(state: TurnState, asked: CallReady | CallFound, outcome: CallOutcome) -> TurnEvent:
    """Handle the outcome of a pending call: a call of the program's own, or its result in the history."""
    state.took += outcome.duration_ms
    if outcome.pause is not None and not _too_often(state, outcome.pause.asked):
        state.pause = outcome.pause
        return CallMade(asked.call, outcome.pause.asked)
    if outcome.pause is not None:
        outcome = CallOutcome(CallStatus.FAILED, TOO_MANY, 0)
    took, state.took, state.pause = state.took, 0, None
    state.declined = isinstance(asked, CallFound) and outcome.status == CallStatus.DENIED
    state.history.append(_result(asked.call, outcome.result.content))
    del state.pending[0]
    return ToolFinished(asked.call, outcome.result, outcome.status, took)


def _too_often(state: TurnState, inner: CallReady | CallRejected) -> bool:
    """Return whether a program exceeds the limit of calls for a model."""
    same = state.calls[_counted_as(inner)] >= state.limits.same_call
    return same or state.calls.total() >= state.limits.calls


def _counted_as(asked: CallReady | CallRejected) -> str:
    return _rejection(asked) if isinstance(asked, CallRejected) else fingerprint_of(asked.call)


def _rejection(asked: CallRejected) -> str:
    return f"rejected {asked.name} {asked.raw}"


async def _over(state: TurnState, executor: CallExecutor) -> TurnEnded | None:
    """Return why the model is not asked once more, or None."""
    if state.declined or state.calls_only:
        return TurnEnded(TurnStatus.DONE)
    limit = _limit_reached(state)
    if limit:
        return TurnEnded("limit", limit)
    if state.rounds and await executor.model_changed():
        return TurnEnded(TurnStatus.MODEL_CHANGED, "model_changed")
    return None


def _limit_reached(state: TurnState) -> str:
    """Return why the loop must end here, as a code of sentences.ENDINGS with its number, or ""."""
    limits = state.limits
    if state.rounds >= limits.rounds:
        return f"most_rounds:{limits.rounds}"
    if state.calls.total() >= limits.calls:
        return f"most_calls:{limits.calls}"
    if state.calls and state.calls.most_common(1)[0][1] >= limits.same_call:
        return f"same_call:{limits.same_call}"
    return ""


def _ending(reply: ReplyBuilder) -> TurnEnded:
    return TurnEnded(TurnStatus.FAILED, reply.failed.message) if reply.failed else TurnEnded(TurnStatus.DONE)


def called(asked: ReplyCall) -> ToolCall:
    """Return the requested call; a rejected one has no arguments."""
    return ToolCall(asked.id, asked.name, {}) if isinstance(asked, CallRejected) else asked.call


def _result(call: ToolCall, content: str) -> ChatMessage:
    return ChatMessage(Role.TOOL, content, call_id=call.id, name=call.name)


def fingerprint_of(call: ToolCall) -> str:
    """Return the identity by which two calls are the same."""
    return f"{call.name} {json.dumps(call.arguments, sort_keys=True)}"
