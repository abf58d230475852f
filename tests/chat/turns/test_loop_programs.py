"""Programs in the loop: their calls are served like those of the model, and count like them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace

import pytest

from chat.tools.policy import CallDecision, CallOutcome
from chat.tools.tool import Pause
from chat.turns.events import ApprovalNeeded, CallMade, ToolFinished, ToolStarted, TurnEnded, TurnEvent
from chat.turns.loop import LARGEST_STATE, LoopLimits, TurnState, advance
from toolsupport.core.events import CallReady, CallRejected, Event, TextDelta
from toolsupport.core.types import ChatMessage, Role, ToolCall, ToolResult

PROGRAM = CallReady(ToolCall("p1", "program", {}))
LIMITS = LoopLimits()


def inner(number: int, name: str = "read_file") -> CallReady:
    return CallReady(ToolCall(f"inner{number}", name, {"number": number}))


class Hands:
    """A program that makes these calls one after the other; `told` is what each came to."""

    def __init__(self, *asked: CallReady | CallRejected, asks: str = "", state: bytes = b"state") -> None:
        self.left, self.asks, self.state = list(asked), asks, state
        self.told: list[tuple[str, str]] = []
        self.allowed = set[str]()

    def decide(self, call: ToolCall, found: bool = False) -> CallDecision:
        return CallDecision.ASK if call.name == self.asks and call.id not in self.allowed else CallDecision.RUN

    async def run(self, call: ToolCall) -> CallOutcome:
        return self.step() if call.name == "program" else CallOutcome("done", ToolResult(f"result of {call.id}"), 5)

    async def go_on(self, program: ToolCall, pause: Pause, inner: CallOutcome) -> CallOutcome:
        assert program == PROGRAM.call and pause.state == self.state
        self.told.append((inner.status, inner.result.content))
        return self.step()

    def step(self) -> CallOutcome:
        if not self.left:
            return CallOutcome("done", ToolResult("the end"), 3)
        return CallOutcome("paused", ToolResult(""), 3, Pause(self.left.pop(0), self.state))

    def has_alternative(self, said: str) -> bool:
        return False

    async def model_changed(self) -> bool:
        return False


async def ask(history: Sequence[ChatMessage]) -> AsyncGenerator[list[Event], None]:
    yield [TextDelta("well")] if history[-1].role == Role.TOOL else [PROGRAM]


def played(state: TurnState, executor: Hands) -> list[TurnEvent]:
    async def collect() -> list[TurnEvent]:
        return [event async for batch in advance(state, ask, executor) for event in batch]

    return asyncio.run(collect())


def question(limits: LoopLimits = LIMITS) -> TurnState:
    return TurnState([ChatMessage(Role.USER, "go")], limits)


# T9
def test_calls_of_a_program_come_between_its_beginning_and_its_end() -> None:
    state, executor = question(), Hands(inner(1), inner(2))
    events = played(state, executor)
    told = [(type(event).__name__, event.call.id) for event in events if isinstance(event, ToolStarted | ToolFinished)]
    assert told == [
        ("ToolStarted", "p1"),
        ("ToolStarted", "inner1"),
        ("ToolFinished", "inner1"),
        ("ToolStarted", "inner2"),
        ("ToolFinished", "inner2"),
        ("ToolFinished", "p1"),
    ]
    assert [event.asked for event in events if isinstance(event, CallMade)] == [inner(1), inner(2)]
    assert executor.told == [("done", "result of inner1"), ("done", "result of inner2")]
    assert [message.content for message in state.history if message.role == Role.TOOL] == ["the end"]
    assert [event.duration_ms for event in events if isinstance(event, ToolFinished)] == [5, 5, 9]
    assert state.calls.total() == 3


# F4
def test_a_call_that_does_not_fit_is_told_to_the_program() -> None:
    executor = Hands(CallRejected("read_file", "No path.", "{}", "r1"))
    events = played(question(), executor)
    assert executor.told == [("rejected", "No path.")]
    assert [event.call.id for event in events if isinstance(event, ToolStarted)] == ["p1"]


# T11
def test_a_call_that_needs_a_person_parks_the_program_and_goes_on_from_its_state() -> None:
    state, executor = question(), Hands(inner(1, "write_file"), inner(2), asks="write_file")
    events = played(state, executor)
    assert events[-1] == ApprovalNeeded(inner(1, "write_file").call, state=b"state")
    assert state.pending == [PROGRAM] and executor.told == []
    elsewhere = TurnState(state.history, rounds=1, calls=state.calls, pending=[PROGRAM], pause=state.pause)
    executor.allowed.add("inner1")
    assert played(elsewhere, executor)[-1] == TurnEnded("done")
    assert executor.told == [("done", "result of inner1"), ("done", "result of inner2")]


def test_what_holds_too_much_to_wait_is_told_so() -> None:
    executor = Hands(inner(1, "write_file"), asks="write_file", state=b"x" * (LARGEST_STATE + 1))
    events = played(question(), executor)
    assert executor.told[0][0] == "denied" and "too much to wait" in executor.told[0][1]
    assert not any(isinstance(event, ApprovalNeeded) for event in events)


# C3
@pytest.mark.parametrize(
    ("limits", "made"),
    [
        (LoopLimits(calls=4), [inner(number) for number in range(9)]),
        (LoopLimits(same_call=3), [inner(7)] * 9),
        (LoopLimits(same_call=3), [CallRejected("x", "No.", "{}", "r1")] * 9),
    ],
    ids=["calls", "the same call", "the same mistake"],
)
def test_a_program_makes_no_more_calls_than_a_model(limits: LoopLimits, made: list[CallReady | CallRejected]) -> None:
    state, executor = question(limits), Hands(*made)
    events = played(state, executor)
    assert len(executor.told) == 3
    finished = [event for event in events if isinstance(event, ToolFinished) and event.call.id == "p1"]
    assert [event.status for event in finished] == ["failed"]
    assert "too many calls" in state.history[-1].content
    assert isinstance(events[-1], TurnEnded) and events[-1].reason == "limit"


def test_what_follows_a_program_runs_after_it() -> None:
    state, executor = question(), Hands(inner(1))
    state.pending, state.rounds = [PROGRAM, replace(PROGRAM, call=ToolCall("r2", "read_file", {}))], 1
    played(state, executor)
    results = [message.call_id for message in state.history if message.role == Role.TOOL]
    assert results == ["p1", "r2"]
