"""Faults of a machine during an answer: a locked database, a full disk, a deactivated person, too many pages."""

from __future__ import annotations

import asyncio
import resource
import sqlite3
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, closing, contextmanager, suppress
from pathlib import Path

import aiohttp
import httpx
import pytest

from tests.chat.test_revocation import keep_out
from tests.hostile_server import Evil, ask, evil_server, serving_evil, until_listed
from tests.many_users import browser, crowd
from tests.nightly.full_disk import expect_only_reading, kept
from tests.nightly.kills import counted
from tests.serving import Page, Site, new_chat, page, serving, sign_in

LOCKED = 3.0  # seconds
FOR_LONG = 100  # characters of a counting answer


@pytest.fixture
def evil() -> Iterator[Evil]:
    with evil_server() as running:
        yield running


@contextmanager
def on_a_file(directory: Path, evil: Evil) -> Iterator[tuple[Site, httpx.Client]]:
    """A site on SQLite, whatever database the other tests run on."""
    file = f"sqlite:///{directory / 'toolsupport.sqlite3'}"
    with serving_evil(directory, evil, DATABASE_URL=file) as site, closing(sign_in(site)) as client:
        until_listed(client)
        yield site, client


@asynccontextmanager
async def counting(site: Site, client: httpx.Client) -> AsyncIterator[tuple[Page, int]]:
    """A page with an answer that counts without end, and the message it is written into."""
    async with page(site, client, new_chat(client)) as open_page:
        await ask(open_page, "evil-long")
        yield open_page, int((await open_page.until("text.delta"))["message"])


async def grown(open_page: Page, message: int, length: int) -> None:
    while len(open_page.text(message)) < length:
        await open_page.until("text.delta", message=message)


# SAFETY 1.6
@pytest.mark.asyncio
async def test_a_database_that_another_process_locks_delays_and_loses_nothing(tmp_path: Path, evil: Evil) -> None:
    with on_a_file(tmp_path, evil) as (site, client):
        async with counting(site, client) as (open_page, message):
            with closing(sqlite3.connect(tmp_path / "toolsupport.sqlite3", isolation_level=None)) as other:
                other.execute("BEGIN IMMEDIATE")
                until = time.monotonic() + LOCKED
                while time.monotonic() < until:
                    # The answer goes on meanwhile, though nothing of it can be written.
                    await open_page.until("text.delta", message=message)
                await open_page.send("turn.stop")
                other.execute("ROLLBACK")
            assert (await open_page.until("turn.ended"))["reason"] == "stopped"
            assert kept(site, message) == (open_page.text(message), "stopped")
            assert open_page.of("error") == []


@contextmanager
def full_disk(site: Site) -> Iterator[None]:
    """Nothing that the site's process writes into a file is taken."""
    assert site.process
    process = site.process.pid
    before = resource.prlimit(process, resource.RLIMIT_FSIZE)
    resource.prlimit(process, resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        yield
    finally:
        with suppress(ProcessLookupError):
            resource.prlimit(process, resource.RLIMIT_FSIZE, before)


# S6
@pytest.mark.asyncio
async def test_a_kill_on_a_full_disk_loses_nothing_that_was_acknowledged(tmp_path: Path, evil: Evil) -> None:
    with on_a_file(tmp_path, evil) as (site, client):
        async with counting(site, client) as (open_page, message):
            with full_disk(site):
                await open_page.until("storage")
                site.kill()
        site.start()
        text, status = kept(site, message)
        assert open_page.text(message).startswith(text) and status in ("running", "interrupted")
        asked = site.rows("SELECT content FROM chat_message WHERE role = 'user'")
        assert asked == [("Hello?",)]


# SAFETY 2, S6
@pytest.mark.asyncio
@pytest.mark.parametrize("again", ["stops", "goes on"])
async def test_a_disk_that_fills_up_in_mid_answer_loses_nothing(tmp_path: Path, evil: Evil, again: str) -> None:
    with on_a_file(tmp_path, evil) as (site, client):
        async with counting(site, client) as (open_page, message):
            with full_disk(site):
                shown = await open_page.until("storage")
                assert shown["saving"] is False and "Answers stay in memory" in shown["text"]
                await asyncio.to_thread(expect_only_reading, site, client)
                await grown(open_page, message, len(open_page.text(message)) + FOR_LONG)
                client_id = await open_page.send("message.send", text="Not now")
                refused = await open_page.until("error", client_id=client_id)
                assert refused["code"] == "storage" and "was not sent" in refused["text"]
                if again == "stops":
                    # The server goes away; that the answer broke off is written when there is room.
                    await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(evil.hang_up(), evil.loop))
            if again == "goes on":
                assert (await open_page.until("storage"))["saving"] is True
                assert client.get("/readyz").status_code == 200
                await grown(open_page, message, len(open_page.text(message)) + FOR_LONG)
                await open_page.send("turn.stop")
            ended = await open_page.until("turn.ended")
            assert ended["reason"] == ("stopped" if again == "goes on" else "failed")
            assert kept(site, message)[0] == open_page.text(message) and counted(open_page.text(message))
            await open_page.send("message.send", text="Now", client_id=client_id)
            await open_page.until("message.accepted", client_id=client_id)
            # The site would give an endless answer twenty seconds at its end.
            await open_page.send("turn.stop")
            assert (await open_page.until("turn.ended"))["reason"] == "stopped"


# O7
@pytest.mark.asyncio
async def test_answers_of_somebody_who_is_kept_out_are_stopped(tmp_path: Path, evil: Evil) -> None:
    with serving_evil(tmp_path, evil) as site, closing(sign_in(site)) as admin:
        until_listed(admin)
        person = crowd(site, 1)[0]
        with closing(browser(site, person)) as own:
            async with page(site, own, person["conversation"]) as open_page:
                await ask(open_page, "evil-long")
                message = (await open_page.until("text.delta"))["message"]
                await evil.until_chats(1)
                await asyncio.to_thread(keep_out, admin, own, person)
                began = time.monotonic()
                # The model's server sees the connection closed.
                await asyncio.wait_for(evil.until_chats(0), 20)
                assert time.monotonic() - began <= 2
        text, _ = kept(site, int(message))
        assert counted(text)


# SAFETY 2
@pytest.mark.asyncio
async def test_too_many_pages_of_one_person_are_refused_and_nobody_else(tmp_path: Path) -> None:
    with serving(tmp_path, TOOLSUPPORT_SOCKETS_PER_PERSON="3") as site, closing(sign_in(site)) as client:
        person = crowd(site, 1)[0]
        conversation = new_chat(client)
        async with AsyncExitStack() as stack:
            pages = [await stack.enter_async_context(page(site, client, conversation)) for _ in range(4)]
            for open_page in pages[:3]:
                await open_page.until("hello")
            assert (await pages[3].until("error"))["code"] == "busy"
            assert (await pages[3].ws.receive()).type == aiohttp.WSMsgType.CLOSE
            assert pages[3].ws.close_code == 4409
            with closing(browser(site, person)) as own:
                async with page(site, own, person["conversation"]) as theirs:
                    await theirs.until("hello")
            await pages[0].ws.close()
            async with page(site, client, conversation) as another:
                await another.until("hello")
