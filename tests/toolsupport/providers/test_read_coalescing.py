"""Reads of many answers are joined, and nothing that came is lost with its connection."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import ExitStack, aclosing
from typing import Any

import pytest

from tests.toolsupport.providers.scripted import DONE, HANG, HEAD, LAST_CHUNK, Scripted, said, scripted
from toolsupport import providers
from toolsupport.core.events import Finished, TextDelta, Usage
from toolsupport.core.types import ChatMessage, Request, Role
from toolsupport.providers import read_coalescing
from toolsupport.providers.http_client import PIECE
from toolsupport.providers.read_coalescing import LARGE, MANY, TOGETHER, ReadingPace

QUESTION = Request("m", (ChatMessage(Role.USER, "Hello"),))


@pytest.mark.parametrize(("answers", "pause"), [(1, 0), (8, 0), (40, 0.016), (180, 0.045), (1000, 0.045)])
def test_the_pause_grows_with_the_answers(answers: int, pause: float) -> None:
    pace = ReadingPace()
    pace.answers = answers
    assert pace.pause() == pytest.approx(pause)


@pytest.mark.parametrize(("most", "rests"), [(1, 0), (MANY - 1, 0), (MANY, 1), (2 * MANY, 1)])
def test_the_end_of_many_answers_is_reported_once(monkeypatch: pytest.MonkeyPatch, most: int, rests: int) -> None:
    monkeypatch.setattr(read_coalescing, "_pace", ReadingPace())
    reported = list[int]()
    read_coalescing.on_rest(lambda: reported.append(1))
    for _ in range(2):
        with ExitStack() as answers:
            for _ in range(most):
                answers.enter_context(read_coalescing.reading())
        with read_coalescing.reading():
            pass
    assert len(reported) == 2 * rests


@pytest.mark.asyncio
async def test_nothing_waits_after_a_large_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    loop, due = asyncio.get_running_loop(), list[float]()

    def call_at(moment: float, begin: Callable[..., None], *values: Any) -> None:
        due.append(moment - loop.time())
        loop.call_soon(begin, *values)

    monkeypatch.setattr(loop, "call_at", call_at)
    pace = ReadingPace()
    pace.answers = 1000
    await pace.wait(LARGE)
    assert due == []
    await pace.wait(LARGE - 1)
    assert due == [pytest.approx(0.045, abs=TOGETHER)]


@pytest.mark.asyncio
async def test_reads_that_are_due_together_begin_by_one_timer(monkeypatch: pytest.MonkeyPatch) -> None:
    loop, begins = asyncio.get_running_loop(), list[Callable[[], None]]()
    monkeypatch.setattr(loop, "time", lambda: 7.0)
    monkeypatch.setattr(loop, "call_at", lambda moment, begin, *values: begins.append(lambda: begin(*values)))
    pace = ReadingPace()
    pace.answers = 1000
    reads = [asyncio.ensure_future(pace.wait(1)) for _ in range(3)]
    await asyncio.sleep(0)
    reads[1].cancel()
    await asyncio.sleep(0)
    assert len(begins) == 1
    begins[0]()
    await asyncio.wait(reads)
    assert [read.cancelled() for read in reads] == [False, True, False]


@pytest.mark.asyncio
@pytest.mark.parametrize("answers", [0, 1000])
async def test_what_came_before_a_connection_was_lost_is_read(answers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The end of the answer came, and its connection broke before the end of the HTTP body."""
    seen = asyncio.Event()

    async def until_seen(_: Scripted) -> None:
        await seen.wait()

    monkeypatch.setattr(read_coalescing._pace, "answers", answers)
    async with scripted((HEAD, said("Hi"), until_seen, said("!") + DONE)) as server:
        events = []
        async for batch in providers.stream(server.endpoint(), QUESTION):
            events += batch
            seen.set()
    assert events == [TextDelta("Hi"), TextDelta("!"), Usage(), Finished("stop")]


@pytest.mark.asyncio
async def test_what_came_meanwhile_is_read_at_once_and_in_pieces() -> None:
    words, seen, sizes = "A word or two. " * 200, asyncio.Event(), list[int]()

    async def until_seen(_: Scripted) -> None:
        await seen.wait()

    async with scripted((HEAD, said("Hi"), b"".join([said(words)] * 40), until_seen, DONE)) as server:
        async for batch in providers.stream(server.endpoint(), QUESTION):
            sizes.append(sum(len(event.text) for event in batch if isinstance(event, TextDelta)))
            if sum(sizes) == 2 + 40 * len(words):
                seen.set()
            await asyncio.sleep(0.01)  # more comes than one piece holds
    assert seen.is_set()
    assert max(sizes) < 2 * PIECE


@pytest.mark.asyncio
async def test_a_connection_that_was_read_with_pauses_serves_the_next_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_coalescing._pace, "answers", 1000)
    async with scripted((HEAD, *[said("Hi ")] * 30, DONE, LAST_CHUNK)) as server:
        for _ in range(3):
            texts = [event async for batch in providers.stream(server.endpoint(), QUESTION) for event in batch]
            assert "".join(event.text for event in texts if isinstance(event, TextDelta)) == "Hi " * 30
            assert texts[-1] == Finished("stop")


@pytest.mark.asyncio
async def test_leaving_an_answer_between_two_reads_ends_its_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_coalescing._pace, "answers", 1000)
    async with scripted((HEAD, said("Hi"), HANG)) as server:
        async with aclosing(providers.stream(server.endpoint(), QUESTION)) as batches:
            reading = asyncio.ensure_future(anext(batches))
            assert await asyncio.wait_for(reading, 20) == [TextDelta("Hi")]
            more = asyncio.ensure_future(anext(batches))
            await asyncio.sleep(0)
            more.cancel()
            await asyncio.wait([more])
        await asyncio.wait_for(server.until_open(0), 20)
