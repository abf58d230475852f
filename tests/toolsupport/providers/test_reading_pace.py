"""Reads of many answers are joined, and nothing that came is lost with its connection."""

from __future__ import annotations

import asyncio

import pytest

from tests.toolsupport.providers.scripted import DONE, HEAD, Scripted, said, scripted
from toolsupport import providers
from toolsupport.core.events import Finished, TextDelta, Usage
from toolsupport.core.types import ChatMessage, Request, Role
from toolsupport.providers import reading_pace
from toolsupport.providers.reading_pace import LARGE, ReadingPace

QUESTION = Request("m", (ChatMessage(Role.USER, "Hello"),))


@pytest.mark.parametrize(("answers", "pause"), [(1, 0), (8, 0), (40, 0.01), (180, 0.045), (1000, 0.045)])
def test_the_pause_grows_with_the_answers(answers: int, pause: float) -> None:
    pace = ReadingPace()
    pace.answers = answers
    assert pace.pause() == pytest.approx(pause)


@pytest.mark.asyncio
async def test_nothing_waits_after_a_large_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    pace = ReadingPace()
    pace.answers = 1000
    await pace.wait(LARGE)
    assert waited == []
    await pace.wait(LARGE - 1)
    assert waited == [pytest.approx(0.045)]


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
