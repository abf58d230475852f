"""Costly work of one person leaves the event loop to others."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from toolsupport import loop_share, stepwise_reader
from toolsupport.core import call_validation, schema_patterns
from toolsupport.core.events import CallReady, Finished, TextDelta
from toolsupport.core.reply_reader import ReplyReader
from toolsupport.core.types import ToolCall, ToolSpec
from toolsupport.loop_share import BRIEF, ROUND, LoopShare, LoopStep

COSTLY = {
    "lists": "- a\n" * 3_000,
    "links": "[a](" * 3_000,
    "a table": "|" + "a|" * 300 + "\n" + "x\n" * 3_000,
    "fences": "```c\n" + "\n" * 6_000 + "```",
    "marks of calls": "<tool_call>" * 2_000,
    "quotes": "> - " * 3_000,
}
TOOL = ToolSpec.from_openai({"type": "function", "function": {"name": "note"}})


class Clock:
    """Processor time that passes only where a test says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


async def rounds(count: int) -> None:
    """Let the event loop turn, as an event of another person does."""
    for _ in range(count):
        await asyncio.sleep(0)


async def work(share: LoopShare, clock: Clock, done: list[str], name: str, seconds: float, times: int) -> None:
    loop_share.person.set(name)
    for _ in range(times):
        async with LoopStep(share):
            clock.now += seconds
            done.append(name)


def ran(test: Callable[[LoopShare, Clock, list[str]], Awaitable[None]]) -> list[str]:
    clock, done = Clock(), list[str]()

    async def run() -> None:
        await test(LoopShare(asyncio.get_running_loop(), clock, clock), clock, done)

    asyncio.run(run())
    return done


def test_a_round_of_the_loop_has_a_budget_whoever_works() -> None:  # S2
    async def test(share: LoopShare, clock: Clock, done: list[str]) -> None:
        tasks = [asyncio.create_task(work(share, clock, done, "Mallory", ROUND, 5)) for _ in range(50)]
        while not all(task.done() for task in tasks):
            before = clock.now
            await rounds(1)
            assert clock.now - before <= ROUND * 1.01

    assert len(ran(test)) == 250


def test_people_take_turns_however_many_tasks_one_has() -> None:  # S2
    async def test(share: LoopShare, clock: Clock, done: list[str]) -> None:
        loud = [asyncio.create_task(work(share, clock, done, "Mallory", ROUND, 20)) for _ in range(50)]
        await rounds(5)
        begun = len(done)
        await work(share, clock, done, "Bob", ROUND, 10)
        assert len(done) - begun <= 2 * 10 + 2
        for task in loud:
            task.cancel()

    ran(test)


def test_a_long_step_is_followed_by_a_pause() -> None:
    async def test(share: LoopShare, clock: Clock, done: list[str]) -> None:
        await work(share, clock, done, "Mallory", 0.05, 1)
        waiting = asyncio.create_task(work(share, clock, done, "Mallory", 0.05, 1))
        await rounds(20)
        assert not waiting.done()
        await waiting

    assert len(ran(test)) == 2


def test_what_waits_can_be_cancelled_and_short_steps_do_not_wait() -> None:
    async def test(share: LoopShare, clock: Clock, done: list[str]) -> None:
        await work(share, clock, done, "Mallory", 2 * ROUND, 1)
        await rounds(2)
        gone = asyncio.create_task(work(share, clock, done, "Mallory", ROUND, 1))
        await rounds(1)
        gone.cancel()
        await work(share, clock, done, "Bob", 0.0001, 1)
        await rounds(2)
        for _ in range(10):
            enters = LoopStep(share).__aenter__()
            with pytest.raises(StopIteration):
                enters.send(None)
            share.spend(0.0001)

    assert ran(test) == ["Mallory", "Bob"]


def test_brief_work_begins_at_once_and_waits_in_a_round_that_is_spent(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(share: LoopShare, clock: Clock, done: list[str]) -> None:
        monkeypatch.setattr(loop_share, "here", lambda: share)

        def note(text: str) -> None:
            done.append(f"{text} {share.round - first}")

        async with LoopStep(share):
            first = share.round
        await loop_share.brief(note, "at once")
        async with LoopStep(share):
            clock.now += ROUND
        await loop_share.brief(note, "later")

    assert ran(test) == ["at once 0", "later 1"]


def test_brief_work_counts_only_if_it_took_long(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(share: LoopShare, clock: Clock, done: list[str]) -> None:
        monkeypatch.setattr(loop_share, "here", lambda: share)

        def take(seconds: float) -> None:
            clock.now += seconds

        for _ in range(100):
            await loop_share.brief(take, BRIEF * 0.9)
            assert not share.is_taken()
        await loop_share.brief(take, ROUND * 1.1)
        assert share.is_taken()
        await rounds(2)
        assert not share.is_taken()

    ran(test)


def test_each_event_loop_has_steps_of_its_own() -> None:
    async def share() -> tuple[asyncio.AbstractEventLoop, LoopShare]:
        assert loop_share.here() is loop_share.here()
        return asyncio.get_running_loop(), loop_share.here()

    with asyncio.Runner() as one, asyncio.Runner() as other:
        found = [runner.run(share()) for runner in (one, other, one, other)]
    assert all(made.loop is loop for loop, made in found)
    assert found[0][1] is found[2][1] and found[1][1] is found[3][1]


def test_a_costly_reply_is_read_in_steps(monkeypatch: pytest.MonkeyPatch) -> None:  # S1, S2
    spent: list[float] = []
    spend = LoopShare.spend

    def spy(share: LoopShare, seconds: float) -> None:
        spent.append(seconds)
        spend(share, seconds)

    monkeypatch.setattr(LoopShare, "spend", spy)
    for name, text in COSTLY.items():
        for format_ in ("native", "hermes"):
            reader, spent[:] = ReplyReader(format_, [TOOL]), []
            found = asyncio.run(stepwise_reader.read(reader, [TextDelta(text)], lambda event: event, [TOOL]))
            read = "".join(event.text for event in found if isinstance(event, TextDelta))
            assert text.startswith(read), name
            # Of the whole, so that a slow machine does not decide; one step may be a pause of the interpreter.
            assert sorted(spent)[-2:][0] < max(0.02, sum(spent) / 4), (name, format_, spent)


def test_a_large_schema_is_compiled_in_steps_before_its_first_check() -> None:  # S1, S2
    properties = {f"p{number}": {"anyOf": [{"type": "integer"}, {"type": "null"}]} for number in range(1350)}
    tool = ToolSpec("note", "", {"type": "object", "properties": properties})
    batch = [CallReady(ToolCall("1", "note", {"p1": 1}), ""), Finished("stop")]
    checked = []

    def check(event: object) -> object:
        checked.append(call_validation._large_checker.cache_info().misses)
        return event

    call_validation._large_checker.cache_clear()
    call_validation._large_bound.cache_clear()
    parts = stepwise_reader.parts(ReplyReader("native", (tool,)), batch, check, (tool,))  # type: ignore[arg-type]
    done = [
        (call_validation._large_bound.cache_info().misses, call_validation._large_checker.cache_info().misses)
        for _ in parts
    ]
    # Its bound and its validator are made in two steps of their own, and the check finds both.
    assert [step for step in dict.fromkeys(done)] == [(0, 0), (1, 0), (1, 1)] and checked[0] == 1


@pytest.mark.parametrize("count", [150, 3_000])
def test_patterns_of_a_schema_are_compiled_one_in_each_step(count: int) -> None:  # S1, S2
    properties = {f"p{number}": {"items": [{"pattern": f"^a{number}"}]} for number in range(count)}
    tool = ToolSpec("note", "", {"type": "object", "properties": properties, "const": {"pattern": "["}})
    schema_patterns._compiled.cache_clear()
    call_validation._checker.cache_clear()
    call_validation._large_checker.cache_clear()
    steps = [
        schema_patterns._compiled.cache_info().misses
        for _ in call_validation.preparing(ToolCall("1", "note", {}), (tool,))
    ]
    assert max(after - before for before, after in zip([0, *steps], steps, strict=False)) == 1
    call_validation.check(ToolCall("1", "note", {"p1": ["a1"]}), (tool,))
    assert schema_patterns._compiled.cache_info().misses == steps[-1] == min(count, schema_patterns.MOST_PATTERNS)
