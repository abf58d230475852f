"""The loop: every call answered once, every end with its reason."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.tools.policy import CallDecision, CallOutcome
from chat.tools.tool import Pause
from chat.turns.events import (
    ApprovalNeeded,
    RefusalInText,
    RoundEnded,
    RoundStarted,
    ToolFinished,
    ToolStarted,
    TurnEnded,
    TurnEvent,
)
from chat.turns.loop import Ask, LoopLimits, TurnState, advance
from tests.examples import at_least
from toolsupport.core.events import (
    CallFound,
    CallReady,
    CallRejected,
    Event,
    Failed,
    Finished,
    TextDelta,
)
from toolsupport.core.types import ChatMessage, Role, ToolCall, ToolResult

Reply = list[Event]


def model(*replies: Reply) -> Ask:
    """Answers with one reply after the other, the last one for ever."""
    queue = list(replies)

    async def ask(history: Sequence[ChatMessage]) -> AsyncGenerator[list[Event], None]:
        for event in queue.pop(0) if len(queue) > 1 else queue[0]:
            yield [event]

    return ask


async def echo(call: ToolCall) -> CallOutcome:
    return CallOutcome("done", ToolResult(f"result of {call.id}"), 3)


def call(number: int, **arguments: object) -> CallReady:
    return CallReady(ToolCall(f"id{number}", "read_file", dict(arguments)))


class Hands:
    """Runs everything with one function, but asks about the tools named."""

    def __init__(self, run: Callable[[ToolCall], Awaitable[CallOutcome]], asks: tuple[str, ...] = ()) -> None:
        self.run = run  # type: ignore[method-assign, assignment]
        self.asks = asks
        self.swapped = False

    def decide(self, call: ToolCall, found: bool = False) -> CallDecision:
        return CallDecision.ASK if found or call.name in self.asks else CallDecision.RUN

    async def go_on(self, program: ToolCall, pause: Pause, inner: CallOutcome) -> CallOutcome:
        raise AssertionError("none of these calls is a program")

    async def model_changed(self) -> bool:
        return self.swapped

    def has_alternative(self, said: str) -> bool:
        return said == "I can't access files."

    async def run(self, call: ToolCall) -> CallOutcome:
        raise AssertionError("replaced when it is made")


def played(
    state: TurnState, ask: Ask, run: Callable[[ToolCall], Awaitable[CallOutcome]] = echo, asks: tuple[str, ...] = ()
) -> list[TurnEvent]:
    async def collect() -> list[TurnEvent]:
        return [event async for batch in advance(state, ask, Hands(run, asks)) for event in batch]

    return asyncio.run(collect())


def question() -> TurnState:
    return TurnState([ChatMessage(Role.USER, "go")])


def test_an_answer_without_calls_is_one_round() -> None:
    state = question()
    events = played(state, model([TextDelta("hel"), TextDelta("lo"), Finished("stop")]))
    assert events[0] == RoundStarted(1)
    assert events[-2:] == [RoundEnded(1, last=True), TurnEnded("done")]
    assert state.history[-1] == ChatMessage(Role.ASSISTANT, "hello")


# T6
def test_a_refusal_in_words_is_asked_about_once_more_as_if_nothing_was_said() -> None:
    state = question()
    no: Reply = [TextDelta("I can't access files.")]
    events = played(state, model(no, [call(1)], no))
    assert [type(event) for event in events[:4]] == [RoundStarted, TextDelta, RoundEnded, RefusalInText]
    assert [message.role for message in state.history] == [Role.USER, Role.ASSISTANT, Role.TOOL, Role.ASSISTANT]
    # After a call it is the answer to what the call gave.
    assert events[-2:] == [RoundEnded(3, last=True), TurnEnded("done")]


def test_a_call_is_run_and_its_result_asked_about() -> None:
    state = question()
    events = played(state, model([call(1, path="a")], [TextDelta("done")]))
    assert [type(event) for event in events if isinstance(event, ToolStarted | ToolFinished)] == [
        ToolStarted,
        ToolFinished,
    ]
    assert [message.role for message in state.history] == [Role.USER, Role.ASSISTANT, Role.TOOL, Role.ASSISTANT]
    assert state.history[2].content == "result of id1"


def test_a_rejected_call_is_told_and_not_run() -> None:
    state = question()
    rejected = CallRejected("web_serch", "No such tool.", "{}", id="r1")

    async def never(call: ToolCall) -> CallOutcome:
        raise AssertionError("a rejected call was run")

    played(state, model([rejected], [TextDelta("sorry")]), never)
    assert state.history[2] == ChatMessage(Role.TOOL, "No such tool.", call_id="r1", name="web_serch")


def test_a_failure_ends_the_turn_and_keeps_the_text() -> None:
    state = question()
    events = played(state, model([TextDelta("half"), Failed("cut", "The stream broke off.")]))
    assert events[-1] == TurnEnded("failed", "The stream broke off.")
    assert state.history[-1].content == "half"


LIMITS = [
    (LoopLimits(rounds=4), "other{}", "most_rounds:4"),
    (LoopLimits(calls=5), "other{}", "most_calls:5"),
    (LoopLimits(), "same", "same_call:3"),
]


@pytest.mark.parametrize(("limits", "path", "words"), LIMITS)
def test_loops_end_with_a_reason(limits: LoopLimits, path: str, words: str) -> None:
    counter = iter(range(1000))

    async def forever(history: Sequence[ChatMessage]) -> AsyncGenerator[list[Event], None]:
        number = next(counter)
        yield [call(number, path=path.format(number))]

    events = played(TurnState([ChatMessage(Role.USER, "go")], limits), forever)
    ended = events[-1]
    assert isinstance(ended, TurnEnded) and ended.reason == "limit" and words in ended.detail


# T8: what a turn may do when nobody says otherwise, in figures that are not read from the code.
@pytest.mark.parametrize(
    ("path", "at_once", "ran"),
    [
        pytest.param("same", 1, 3, id="the same call"),
        pytest.param("other{}", 1, 25, id="rounds"),
        pytest.param("other{}", 2, 32, id="calls"),
        pytest.param("other{}", 3, 32, id="calls, reached within a reply"),
    ],
)
def test_the_limits_are_exact(path: str, at_once: int, ran: int) -> None:
    made: list[str] = []

    async def count(call: ToolCall) -> CallOutcome:
        made.append(call.id)
        return await echo(call)

    async def forever(history: Sequence[ChatMessage]) -> AsyncGenerator[list[Event], None]:
        yield [call(number, path=path.format(number)) for number in range(len(made), len(made) + at_once)]

    ended = played(question(), forever, count)[-1]
    assert isinstance(ended, TurnEnded) and (ended.reason, len(made)) == ("limit", ran)


def test_one_reply_cannot_outrun_the_limit_of_calls() -> None:
    ran = []

    async def count(call: ToolCall) -> CallOutcome:
        ran.append(call.id)
        return await echo(call)

    state = TurnState([ChatMessage(Role.USER, "go")], LoopLimits(calls=5))
    events = played(state, model([call(n, path=str(n)) for n in range(50)]), count)
    assert len(ran) == 5
    assert sum(isinstance(event, ToolFinished) for event in events) == 5
    assert len(state.history[1].calls) == 5
    assert events[-1] == TurnEnded("limit", "most_calls:5")


replies = st.lists(
    st.lists(
        st.one_of(
            st.text(max_size=5).map(TextDelta),
            st.tuples(st.integers(0, 9), st.text(max_size=3)).map(lambda pair: call(pair[0], path=pair[1])),
            st.text(max_size=5).map(lambda name: CallRejected(name, "no", "raw", id=name)),
        ),
        max_size=5,
    ),
    min_size=1,
    max_size=6,
)


@settings(max_examples=at_least(30))
@given(replies)
def test_every_call_is_followed_by_exactly_its_results(script: list[Reply]) -> None:
    state = question()
    events = played(state, model(*script, [TextDelta("end")]))
    assert isinstance(events[-1], TurnEnded) and sum(isinstance(event, TurnEnded) for event in events) == 1
    log = list(state.history)
    while log:
        message = log.pop(0)
        assert message.role != Role.TOOL
        for asked in message.calls:
            answer = log.pop(0)
            assert (answer.role, answer.call_id) == (Role.TOOL, asked.id)


def write(number: int) -> CallReady:
    return CallReady(ToolCall(f"w{number}", "write_file", {"path": str(number)}))


# T11
def test_a_call_that_needs_a_person_parks_the_turn_and_it_goes_on_from_its_state() -> None:
    state = question()
    script = model([call(1, path="a"), write(2), call(3, path="b")], [TextDelta("end")])
    events = played(state, script, asks=("write_file",))
    assert events[-1] == ApprovalNeeded(write(2).call)
    assert [asked.call.id for asked in state.pending if isinstance(asked, CallReady)] == ["w2", "id3"]
    assert [message.call_id for message in state.history if message.role == Role.TOOL] == ["id1"]
    copied = TurnState(list(state.history), rounds=state.rounds, calls=state.calls, pending=list(state.pending))
    events = played(copied, script)
    assert events[-1] == TurnEnded("done")
    assert [message.call_id for message in copied.history if message.role == Role.TOOL] == ["id1", "w2", "id3"]


@pytest.mark.asyncio
async def test_leaving_the_loop_closes_the_question() -> None:
    closed = asyncio.Event()

    async def ask(history: Sequence[ChatMessage]) -> AsyncGenerator[list[Event], None]:
        try:
            while True:
                yield [TextDelta("x")]
        finally:
            closed.set()

    turn = advance(question(), ask, Hands(echo))
    async for batch in turn:
        if isinstance(batch[0], TextDelta):
            break
    await turn.aclose()
    assert closed.is_set()


# F5
def test_a_call_in_prose_waits_and_denied_it_was_the_answer() -> None:
    first, second = (CallFound(call(number).call, "raw", "hermes") for number in (1, 2))
    state = question()
    events = played(state, model([TextDelta("See:"), first, second]))
    assert events[-1] == ApprovalNeeded(first.call, found=True) and state.pending == [first, second]

    class Denied(Hands):
        def decide(self, call: ToolCall, found: bool = False) -> CallDecision:
            return CallDecision.RUN if call == first.call else CallDecision.ASK

    async def deny(call: ToolCall) -> CallOutcome:
        return CallOutcome("denied", ToolResult("No.", is_error=True), 0)

    async def collect() -> list[TurnEvent]:
        return [event async for batch in advance(state, model([]), Denied(deny)) for event in batch]

    events = asyncio.run(collect())
    assert [event.status for event in events if isinstance(event, ToolFinished)] == ["denied", "denied"]
    assert events[-1] == TurnEnded("done") and state.rounds == 1


# C4
def test_another_model_ends_the_turn_after_the_round() -> None:
    executor, state = Hands(echo), question()
    executor.swapped = True

    async def collect() -> list[TurnEvent]:
        return [event async for batch in advance(state, model([call(1)]), executor) for event in batch]

    events = asyncio.run(collect())
    assert [type(event) for event in events[-2:]] == [ToolFinished, TurnEnded]
    assert isinstance(events[-1], TurnEnded) and events[-1].reason == "model_changed"
    assert state.history[-1].role is Role.TOOL
