"""Faults of model servers: the person reads the reason, and the site continues."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from tests.bench import wire
from tests.hostile_server import Evil, ask, evil_server, serving_evil, until_listed
from tests.nightly import costly_texts
from tests.serving import Site, new_chat, page, sign_in


@pytest.fixture(scope="module")
def evil() -> Iterator[Evil]:
    with evil_server() as running:
        yield running


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, evil: Evil) -> Iterator[Site]:
    with serving_evil(tmp_path_factory.mktemp("site"), evil) as running:
        yield running


@pytest.fixture(scope="module")
def client(site: Site) -> Iterator[httpx.Client]:
    with closing(sign_in(site)) as browser:
        until_listed(browser)
        yield browser


SAID = {
    "evil-endless-line": ("failed", "a line of more than 2,097,152 bytes"),
    "evil-garbage": ("failed", "not a line of an Ollama answer"),
    "evil-not-http": ("failed", "does not speak HTTP"),
    "evil-page": ("failed", "it sent a web page"),
    "evil-endless-text": ("failed", "cut off after 1,048,576 characters"),
    "evil-endless-thinking": ("failed", "cut off after 1,048,576 characters"),
    "evil-endless-calls": ("limit", "25 rounds"),
    "evil-many-calls": ("limit", "The model made 32 calls without finishing."),
}


# SAFETY 2 (Streams and turns)
@pytest.mark.asyncio
@pytest.mark.parametrize("model", SAID)
async def test_it_is_said_what_the_server_did(site: Site, client: httpx.Client, model: str) -> None:
    conversation = new_chat(client)
    async with page(site, client, conversation) as open_page:
        await ask(open_page, model)
        ended = await open_page.until("turn.ended")
    reason, words = SAID[model]
    assert ended["reason"] == reason and words in ended["detail"]
    assert len(open_page.of("call.started")) <= 32
    assert words.replace("'", "&#x27;") in client.get(f"/chat/{conversation}/messages/").text


# C5
@pytest.mark.asyncio
@pytest.mark.parametrize("model", ["evil-hang-before", "evil-hang-between", "evil-long"])
async def test_a_stop_closes_the_connection_within_a_second(
    site: Site, client: httpx.Client, evil: Evil, model: str
) -> None:
    async with page(site, client, new_chat(client)) as open_page:
        await ask(open_page, model)
        await evil.until_chats(1)
        asked = time.monotonic()
        await open_page.send("turn.stop")
        await evil.until_chats(0)
        assert time.monotonic() - asked < 1
        assert (await open_page.until("turn.ended"))["reason"] == "stopped"


@pytest.mark.asyncio
async def test_an_answer_that_breaks_off_anywhere_is_no_answer(site: Site, client: httpx.Client, evil: Evil) -> None:
    evil.asked, evil.step = 0, 23
    async with page(site, client, new_chat(client)) as open_page:
        await ask(open_page, "evil-closes")
        for _ in range(8):
            ended = await open_page.until("turn.ended")
            assert ended["reason"] == "failed"
            assert "was cut off" in ended["detail"] or "does not answer" in ended["detail"]
            await open_page.send("message.send", text="Again?")


@pytest.mark.asyncio
async def test_a_long_answer_reaches_the_page_to_its_end(site: Site, client: httpx.Client) -> None:
    """What a socket may send is more than what it may receive."""
    async with page(site, client, new_chat(client)) as open_page:
        await ask(open_page, "evil-endless-text")
        await open_page.until("turn.ended")
        message = open_page.of("message.finished")[-1]
        assert len(message["html"]) > 1_000_000
        await open_page.send("turn.resync", message=message["message"])
        assert len((await open_page.until("resync"))["text"]) > 1_000_000


# S1, S2: its lexer takes 10 s. Bounds for a busy machine; docs/safety.md has the figures of a quiet one.
@pytest.mark.asyncio
async def test_a_costly_text_holds_up_nobody_else(site: Site, client: httpx.Client, evil: Evil) -> None:
    (found,) = await costly_texts.measured(site, evil, ["`c`, 19,900 blank lines"])
    assert found.reloaded == "no colors"
    assert found.shown in ("no colors", "plain at first")
    assert max(found.pings) < 5
    assert max(found.pages) < 5


@pytest.mark.asyncio
async def test_pages_that_read_nothing_are_left_behind(site: Site, client: httpx.Client) -> None:
    """Each asks for a megabyte again and again: the server's memory must not hold what they do not read."""
    assert site.process
    conversation = new_chat(client)
    async with page(site, client, conversation) as open_page:
        await ask(open_page, "evil-endless-text")
        await open_page.until("turn.ended")
        message = open_page.of("message.finished")[-1]["message"]
    before = resident(site)
    slow = [Slow(site, client, conversation) for _ in range(10)]
    await asyncio.gather(*(one.ask_much(message) for one in slow))
    async with page(site, client, conversation) as open_page:
        await open_page.until("hello")
        for _ in range(20):
            await open_page.send("ping")
            await open_page.until("pong")
        assert resident(site) - before < 150 * 1024 * 1024
    for one in slow:
        one.writer.transport.abort()


def resident(site: Site) -> int:
    assert site.process
    lines = Path(f"/proc/{site.process.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmRSS"))


class Slow:
    """A page that opens its socket and never reads."""

    def __init__(self, site: Site, client: httpx.Client, conversation: str) -> None:
        cookies = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
        self.port = site.port
        self.upgrade = wire.upgrade(f"127.0.0.1:{site.port}", f"/ws/chat/{conversation}/", cookies)

    async def ask_much(self, message: int) -> None:
        reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port, limit=1024)
        self.writer.write(self.upgrade)
        await reader.readuntil(b'"hello"')
        for _ in range(28):
            self.writer.write(wire.frame({"type": "turn.resync", "message": message}))
        await self.writer.drain()
