"""Thirty frames in ten seconds are obeyed, a hundred where they stop an answer, and at the 300th the socket closes."""

from __future__ import annotations

from collections import deque

import aiohttp
import httpx
import pytest

from chat.websocket import consumer
from tests.serving import Page, Site, new_chat, page

FRAMES, STOPS, FLOOD = 30, 100, 300
TOO_FAST = 4429


async def answers(open_page: Page, kind: str, count: int) -> list[str]:
    """Send so many frames, then the code of each error among the answers, "" for each pong."""
    for _ in range(count):
        await open_page.send(kind)
    found: list[str] = []
    while len(found) < count:
        frame = await open_page.next()
        if frame["type"] in ("pong", "error"):
            found.append(frame.get("code", ""))
    return found


# SAFETY 3.11
@pytest.mark.asyncio
async def test_the_limits_are_exact(site: Site, ana: httpx.Client) -> None:
    async with page(site, ana, new_chat(ana)) as open_page:
        await open_page.until("hello")
        assert await answers(open_page, "ping", FRAMES + 1) == [""] * FRAMES + ["rate_limited"]
        # Without an answer there is nothing to stop, so that only the one too many gets an answer.
        stops = [await open_page.send("turn.stop") for _ in range(STOPS - FRAMES)]
        assert (await open_page.until("error"))["client_id"] == stops[-1]
        for _ in range(FLOOD - STOPS - 1):
            await open_page.send("ping")
        while (message := await open_page.ws.receive(20)).type == aiohttp.WSMsgType.TEXT:
            assert '"rate_limited"' in message.data
        assert open_page.ws.close_code == TOO_FAST


@pytest.mark.asyncio
async def test_frames_of_ten_seconds_count(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("chat.websocket.consumer.time.monotonic", lambda: now)
    made = consumer.ChatConsumer()
    made.recent = deque()
    for _ in range(FRAMES):
        assert await made._bearable()
    now = 110.0
    assert await made._bearable() and len(made.recent) == FRAMES + 1
    now = 110.1
    assert await made._bearable() and len(made.recent) == 2
