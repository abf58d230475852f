"""The loop of one answer: question, calls, results, question, until there is no call left."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

from chat.events import RoundEnded, RoundStarted, ToolFinished, ToolStarted, TurnEnded, TurnEvent
from chat.tools.policy import Outcome
from toolsupport.core.events import CallReady, CallRejected, Event, Failed, TextDelta, ThinkingDelta
from toolsupport.core.words import Message, Role, ToolCall, ToolResult

Ask = Callable[[Sequence[Message]], AsyncGenerator[list[Event], None]]
RunTool = Callable[[ToolCall], Awaitable[Outcome]]


@dataclass(frozen=True, slots=True)
class LoopLimits:
    """Where a loop ends on its own."""

    rounds: int = 25
    calls: int = 32
    same_call: int = 3


@dataclass(slots=True)
class Round:
    """What one reply brought so far."""

    text: list[str] = field(default_factory=list)
    thinking: list[str] = field(default_factory=list)
    asked: list[CallReady | CallRejected] = field(default_factory=list)
    failed: Failed | None = None
    left_out: int = 0

    def take(self, event: Event, most: int) -> bool:
        """Keep an event; False for a call beyond the `most` that one reply may ask for."""
        if isinstance(event, TextDelta):
            self.text.append(event.text)
        elif isinstance(event, ThinkingDelta):
            self.thinking.append(event.text)
        elif isinstance(event, CallReady | CallRejected):
            if len(self.asked) >= most:
                self.left_out += 1
                return False
            self.asked.append(event)
        elif isinstance(event, Failed):
            self.failed = event
        return True

    def message(self) -> Message:
        calls = tuple(_as_call(asked) for asked in self.asked)
        return Message(Role.ASSISTANT, "".join(self.text), "".join(self.thinking), calls)


@dataclass(slots=True)
class TurnState:
    """Where a turn stands; with the history alone it can be gone on with anywhere."""

    history: list[Message]
    limits: LoopLimits = LoopLimits()
    rounds: int = 0
    calls: Counter[str] = field(default_factory=Counter)


async def advance(state: TurnState, ask: Ask, run: RunTool) -> AsyncGenerator[list[TurnEvent], None]:
    """Go on until the turn is over. Yields batches of events, in order; the last one is TurnEnded."""
    while True:
        over = _limit_reached(state)
        if over:
            yield [TurnEnded("limit", over)]
            return
        state.rounds += 1
        reply = Round()
        yield [RoundStarted(state.rounds)]
        async with aclosing(ask(state.history)) as batches:
            async for batch in batches:
                yield [event for event in batch if reply.take(event, state.limits.calls)]
        state.history.append(reply.message())
        if reply.failed or not reply.asked:
            yield [RoundEnded(state.rounds, last=True), _ending(reply)]
            return
        yield [RoundEnded(state.rounds)]
        async with aclosing(_serve(state, reply, run)) as happenings:
            async for happened in happenings:
                yield [happened]
        if reply.left_out:
            asked = len(reply.asked) + reply.left_out
            yield [
                TurnEnded("limit", f"It asked for {asked:,} calls at once; the first {len(reply.asked)} were served.")
            ]
            return


NOT_RUN = Outcome("denied", ToolResult("Not run: too many calls in one answer.", is_error=True), 0)


async def _serve(state: TurnState, reply: Round, run: RunTool) -> AsyncGenerator[TurnEvent, None]:
    """Run the calls of one reply, one after the other, each followed by its result in the history."""
    for asked in reply.asked:
        if isinstance(asked, CallRejected):
            state.calls[f"rejected {asked.name} {asked.raw}"] += 1
            state.history.append(_result(_as_call(asked), asked.reason))
            continue
        allowed = state.calls.total() < state.limits.calls
        state.calls[_fingerprint(asked.call)] += 1
        yield ToolStarted(asked.call)
        outcome = await run(asked.call) if allowed else NOT_RUN
        state.history.append(_result(asked.call, outcome.result.content))
        yield ToolFinished(asked.call, outcome.result, outcome.status, outcome.duration_ms)


def _limit_reached(state: TurnState) -> str:
    """Why the loop must end here, or ""."""
    limits = state.limits
    if state.rounds >= limits.rounds:
        return f"It asked the model {limits.rounds} times without coming to an end."
    if state.calls.total() >= limits.calls:
        return f"It made {limits.calls} calls without coming to an end."
    if state.calls and state.calls.most_common(1)[0][1] >= limits.same_call:
        return f"It made the same call {limits.same_call} times."
    return ""


def _ending(reply: Round) -> TurnEnded:
    return TurnEnded("failed", reply.failed.message) if reply.failed else TurnEnded("done")


def _as_call(asked: CallReady | CallRejected) -> ToolCall:
    return asked.call if isinstance(asked, CallReady) else ToolCall(asked.id, asked.name, {})


def _result(call: ToolCall, content: str) -> Message:
    return Message(Role.TOOL, content, call_id=call.id, name=call.name)


def _fingerprint(call: ToolCall) -> str:
    return f"{call.name} {json.dumps(call.arguments, sort_keys=True)}"
