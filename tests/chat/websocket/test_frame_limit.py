"""The largest frame is answered; with one byte more the connection ends."""

from __future__ import annotations

import json

import aiohttp
import httpx
import pytest

from tests.serving import Page, Site, new_chat, page

MOST = 262_144  # bytes


def ping(size: int, filling: str) -> str:
    """A ping of so many bytes, with a field too many.

    The page's own text is ASCII; two bytes for a letter is what others may send.
    """
    empty = json.dumps({"type": "ping", "more": ""})
    left = size - len(empty)
    letters = filling * (left // len(filling.encode()))
    return json.dumps({"type": "ping", "more": letters + "x" * (left - len(letters.encode()))}, ensure_ascii=False)


async def answer(open_page: Page, text: str) -> str:
    """The code of the error that answers, "" where the connection ends."""
    await open_page.until("hello")
    await open_page.ws.send_str(text)
    while (message := await open_page.ws.receive(20)).type == aiohttp.WSMsgType.TEXT:
        frame = json.loads(message.data)
        if frame["type"] == "error":
            return str(frame["code"])
    return ""


# SAFETY 1.2
@pytest.mark.asyncio
@pytest.mark.parametrize("filling", ["a", "é"])
async def test_the_limit_is_exact(site: Site, ana: httpx.Client, filling: str) -> None:
    conversation = new_chat(ana)
    for size, code in ((MOST, "bad_frame"), (MOST + 1, "")):
        text = ping(size, filling)
        assert len(text.encode()) == size
        async with page(site, ana, conversation) as open_page:
            assert await answer(open_page, text) == code, size
