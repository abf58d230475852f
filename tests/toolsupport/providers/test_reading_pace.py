"""Reads of many answers are joined, and nothing that came is lost with its connection."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from typing import Any

import pytest
from aiohttp.client_proto import ResponseHandler

from tests.toolsupport.providers.scripted import DONE, HANG, HEAD, LAST_CHUNK, Scripted, Step, said, scripted
from toolsupport import providers
from toolsupport.core.events import Finished, TextDelta, Usage
from toolsupport.core.types import ChatMessage, Request, Role
from toolsupport.providers import http_client, reading_pace
from toolsupport.providers.http_client import PIECE, ReceivedBody
from toolsupport.providers.reading_pace import LARGE, TOGETHER, ReadingPace

QUESTION = Request("m", (ChatMessage(Role.USER, "Hello"),))


@pytest.mark.parametrize(("answers", "pause"), [(1, 0), (11, 0), (50, 0.0252), (83, 0.045), (1000, 0.045)])
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


@asynccontextmanager
async def received(*steps: Step) -> AsyncIterator[tuple[ReceivedBody, Any, Any]]:
    """A body of a response with these steps after its head, its connection, and what waits for its pieces."""
    async with scripted((HEAD, *steps)) as server:
        endpoint = server.endpoint()
        response = await http_client.send(endpoint, http_client.request(endpoint, "/api/chat", b"{}"))
        stream: Any = response.stream
        connection = stream._aiohttp_response.connection.transport
        try:
            async with aclosing(http_client.pieces(response)) as pieces:
                yield ReceivedBody(response), connection, pieces
        finally:
            await response.aclose()


async def until(holds: Callable[[], bool]) -> None:
    """Wait until this holds, at most 20 s."""
    async with asyncio.timeout(20):
        while not holds():
            await asyncio.sleep(0.005)


@pytest.mark.asyncio
async def test_what_comes_on_hold_stays_in_the_socket_until_it_is_taken() -> None:
    held, sent = asyncio.Event(), asyncio.Event()

    async def until_held(_: Scripted) -> None:
        await held.wait()

    async def note(_: Scripted) -> None:
        sent.set()

    more = said("lo") + said("!") + DONE
    async with received(said("Hel"), until_held, more, LAST_CHUNK, note, HANG) as (body, connection, pieces):
        taken = body.take() or await anext(pieces)
        body.hold()
        held.set()
        await asyncio.wait_for(sent.wait(), 20)
        await asyncio.sleep(0)
        assert not connection.is_reading()
        assert [taken, body._content and body._content.total_bytes] == [line_of("Hel"), len(line_of("Hel"))]
        rest = b""
        while not rest.endswith(b'"stop"}\n'):
            rest += body.take() or await anext(pieces)
        assert rest.startswith(line_of("lo") + line_of("!"))
        await until(connection.is_reading)
        body.hold()
        assert connection.is_reading()  # the next request may have it already


@pytest.mark.asyncio
async def test_nothing_is_on_hold_while_more_is_waited_for() -> None:
    async with received(said("Hi"), HANG) as (body, connection, pieces):
        assert (body.take() or await anext(pieces)) == line_of("Hi")
        body.hold()
        assert (body.take(), connection.is_reading()) == (b"", True)


@pytest.mark.asyncio
@pytest.mark.parametrize(("tokens", "length"), [(100, 3), (4000, 100)])
async def test_taking_pieces_runs_the_parser_no_more(tokens: int, length: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once for each piece of a body that comes faster than it is read, but never for each chunk of HTTP."""
    resumed, taken, takes = list[object](), b"", 0
    resume = ResponseHandler.resume_reading

    def noted(self: ResponseHandler, *values: bool, **named: bool) -> None:
        resumed.append(self)
        resume(self, *values, **named)

    texts = [f"{number}".rjust(length) for number in range(tokens)]
    async with received(b"".join(map(said, texts)), HANG) as (body, _, pieces):
        taken, whole = await anext(pieces), b"".join(map(line_of, texts))
        monkeypatch.setattr(ResponseHandler, "resume_reading", noted)
        async with asyncio.timeout(20):
            while len(taken) < len(whole):
                piece = body.take()
                taken, takes = taken + piece, takes + bool(piece)
                await asyncio.sleep(0)
    assert taken == whole
    assert len(resumed) <= (takes if tokens > 100 else 0)


@pytest.mark.asyncio
async def test_a_connection_that_was_on_hold_serves_the_next_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading_pace._pace, "answers", 1000)
    async with scripted((HEAD, *[said("Hi ")] * 30, DONE, LAST_CHUNK)) as server:
        for _ in range(3):
            texts = [event async for batch in providers.stream(server.endpoint(), QUESTION) for event in batch]
            assert "".join(event.text for event in texts if isinstance(event, TextDelta)) == "Hi " * 30
            assert texts[-1] == Finished("stop")


@pytest.mark.asyncio
async def test_leaving_an_answer_on_hold_ends_its_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading_pace._pace, "answers", 1000)
    async with scripted((HEAD, said("Hi"), HANG)) as server:
        async with aclosing(providers.stream(server.endpoint(), QUESTION)) as batches:
            reading = asyncio.ensure_future(anext(batches))
            assert await asyncio.wait_for(reading, 20) == [TextDelta("Hi")]
            more = asyncio.ensure_future(anext(batches))
            await asyncio.sleep(0)
            more.cancel()
            await asyncio.wait([more])
        await asyncio.wait_for(server.until_open(0), 20)


def line_of(text: str) -> bytes:
    """What `said` sends, without the marks of HTTP."""
    return said(text).split(b"\r\n")[1]
