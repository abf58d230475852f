"""Reads of many answers are joined, and nothing that came is lost with its connection."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from tests.toolsupport.providers.scripted import DONE, HANG, HEAD, LAST_CHUNK, RESET, Scripted, Step, said, scripted
from toolsupport import providers
from toolsupport.core.events import Event, Failed, Finished, TextDelta, Usage
from toolsupport.core.types import ChatMessage, Request, Role
from toolsupport.providers import http_client, reading_pace
from toolsupport.providers.http_client import PIECE
from toolsupport.providers.reading_pace import LARGE, TOGETHER, ReadingPace

QUESTION = Request("m", (ChatMessage(Role.USER, "Hello"),))


@pytest.mark.parametrize(("answers", "pause"), [(1, 0), (8, 0), (40, 0.01), (180, 0.045), (1000, 0.045)])
def test_the_pause_grows_with_the_answers(answers: int, pause: float) -> None:
    pace = ReadingPace()
    pace.answers = answers
    assert pace.pause() == pytest.approx(pause)


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

    monkeypatch.setattr(reading_pace._pace, "answers", answers)
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


def words(first: int, count: int = 3) -> bytes:
    return b"".join(said(f"word {number} ") for number in range(first, first + count))


class Turns:
    """Lets a scripted server write a part whenever the client waits before its next read, and notes direct reads.

    `sizes` are those of what was read from sockets directly, -1 where nothing was there.
    """

    def __init__(self) -> None:
        self.sizes: list[int] = []
        self.waits, self.written = asyncio.Event(), asyncio.Event()

    async def wait(self, _: object) -> None:
        """Take the place of the pause before a read."""
        self.waits.set()
        await self.written.wait()
        self.written.clear()
        for _round in range(3):  # rounds in which the loop reads what it may
            await asyncio.sleep(0)

    def steps(self, *parts: bytes) -> list[Step]:
        return [step for part in parts for step in (self._turn, part, self._done)]

    async def _turn(self, _: Scripted) -> None:
        await self.waits.wait()
        self.waits.clear()

    async def _done(self, _: Scripted) -> None:
        self.written.set()

    def read(self, socket: int, size: int) -> bytes:
        self.sizes.append(-1)
        data = os.read(socket, size)
        self.sizes[-1] = len(data)
        return data


@pytest.fixture
def turns(monkeypatch: pytest.MonkeyPatch) -> Turns:
    """As with many answers."""
    made = Turns()
    monkeypatch.setattr(reading_pace._pace, "answers", 1000)
    monkeypatch.setattr(reading_pace._pace, "wait", made.wait, raising=False)
    monkeypatch.setattr(http_client, "os", SimpleNamespace(read=made.read))
    return made


async def _later(_: Scripted) -> None:
    """Let the client wait for what comes next."""
    for _round in range(10):
        await asyncio.sleep(0)


async def text_of(server: Scripted) -> tuple[str, list[Event]]:
    events = [event async for batch in providers.stream(server.endpoint(), QUESTION) for event in batch]
    return "".join(event.text for event in events if isinstance(event, TextDelta)), events


def text(count: int) -> str:
    return "".join(f"word {number} " for number in range(count))


@pytest.mark.asyncio
async def test_tokens_of_many_answers_are_taken_from_the_socket_together(turns: Turns) -> None:
    parts = [*(words(3 * turn) for turn in range(1, 9)), DONE + LAST_CHUNK]
    async with scripted((HEAD + words(0), *turns.steps(*parts))) as server:
        found, events = await text_of(server)
    assert found == text(27) and events[-1] == Finished("stop")
    assert turns.sizes == [len(part) for part in parts]


@pytest.mark.asyncio
async def test_a_connection_is_kept_after_its_body_was_held(turns: Turns) -> None:
    parts = turns.steps(words(3), words(6), DONE)
    async with scripted((HEAD + words(0), *parts, LAST_CHUNK)) as server:
        for _ in range(2):
            assert (await text_of(server))[0] == text(9)
            turns.written.clear()
        assert server.most_open == 1 and len(server.requests) == 2
    assert turns.sizes[:2] == [len(words(3)), len(words(6))]


@pytest.mark.asyncio
async def test_a_body_that_falls_silent_is_waited_for_again(turns: Turns) -> None:
    silent = turns.steps(words(3), words(6), b"")
    async with scripted((HEAD + words(0), *silent, _later, words(9) + DONE + LAST_CHUNK)) as server:
        found, events = await text_of(server)
    assert found == text(12) and events[-1] == Finished("stop")
    assert turns.sizes == [len(words(3)), len(words(6)), -1]


@pytest.mark.asyncio
@pytest.mark.parametrize("loss", ["end", "reset"])
async def test_a_connection_that_is_lost_while_a_body_is_held_is_a_failure(turns: Turns, loss: str) -> None:
    lost = [RESET] if loss == "reset" else []
    parts = turns.steps(words(3), words(6))
    async with scripted((HEAD + words(0), *parts, turns._turn, *lost, turns._done)) as server:
        found, events = await text_of(server)
    assert isinstance(events[-1], Failed) and events[-1].kind == "cut" and found == text(9)


@pytest.mark.asyncio
async def test_a_body_that_is_left_while_it_is_held_closes_its_connection(turns: Turns) -> None:
    async with scripted((HEAD + words(0), *turns.steps(words(3)), HANG)) as server:
        stream = providers.stream(server.endpoint(), QUESTION)
        async for _ in stream:
            if turns.sizes:
                break
        await stream.aclose()
        await asyncio.wait_for(server.until_open(0), 5)
    assert turns.sizes == [len(words(3))]


@pytest.mark.asyncio
async def test_with_few_answers_no_body_is_held(turns: Turns, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading_pace._pace, "answers", 40)
    async with scripted((HEAD + words(0), *turns.steps(words(3), words(6), DONE + LAST_CHUNK))) as server:
        assert (await text_of(server))[0] == text(9)
    assert turns.sizes == []
