"""A running tool's output reaches pages in batches, and a page that missed some gets all of it."""

from __future__ import annotations

import asyncio

import pytest

from chat.broadcast.frames import CallOutputFrame, ServerFrame
from chat.turns import live_output
from chat.turns.live_output import LiveOutput


class Pages:
    """Stands for the pages: what they were told, and a way to wait for more."""

    def __init__(self) -> None:
        self.told: list[ServerFrame] = []
        self._more = asyncio.Event()

    def tell(self, frame: ServerFrame) -> None:
        self.told.append(frame)
        self._more.set()

    async def more(self) -> None:
        async with asyncio.timeout(10):
            await self._more.wait()
        self._more.clear()


@pytest.mark.asyncio
async def test_what_comes_together_is_told_together() -> None:
    pages = Pages()
    output = LiveOutput(pages.tell)
    output.begin(7, "3")
    for piece in ("a", "😀", "", "b"):
        output.say(piece)
    assert output.whole() is None and not pages.told and output.written() == "a😀b"
    await pages.more()
    output.say("c")
    await pages.more()
    assert pages.told == [CallOutputFrame(7, "3", 0, "a😀b"), CallOutputFrame(7, "3", 4, "c")]
    assert output.whole() == CallOutputFrame(7, "3", 0, "a😀bc")


@pytest.mark.asyncio
async def test_nothing_is_told_of_a_call_that_is_over() -> None:
    pages = Pages()
    output = LiveOutput(pages.tell)
    output.say("before")
    output.begin(7, "3")
    output.say("too late")
    output.end()
    output.say("after")
    assert output.whole() is None
    output.begin(7, "4")
    output.say("next")
    await pages.more()
    assert pages.told == [CallOutputFrame(7, "4", 0, "next")]


@pytest.mark.asyncio
async def test_there_is_an_end_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_output, "LIMIT", 4)
    pages = Pages()
    output = LiveOutput(pages.tell)
    output.begin(7, "3")
    output.say("abcdef")
    await pages.more()
    output.say("more")
    assert output.whole() == CallOutputFrame(7, "3", 0, "abcd")
