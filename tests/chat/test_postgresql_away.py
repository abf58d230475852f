"""PostgreSQL goes away or falls silent in mid-answer and comes back: nothing is lost, and no restart is needed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import httpx
import pytest

from tests import databases
from tests.chat.test_faults import FOR_LONG, counting, grown
from tests.hostile_server import Evil, evil_server, serving_evil, until_listed
from tests.nightly.full_disk import kept
from tests.nightly.kills import counted
from tests.postgresql import PG_CTL, Cluster, cluster
from tests.serving import Page, Site, serving, sign_in
from tests.silent_proxy import silent_proxy

NOTICED = 5.0  # seconds

pytestmark = [pytest.mark.nightly, pytest.mark.asyncio, pytest.mark.skipif(not PG_CTL, reason="no PostgreSQL")]


@contextmanager
def on_a_cluster(directory: Path) -> Iterator[tuple[Site, httpx.Client, Cluster, Evil]]:
    with (
        cluster() as rows,
        evil_server() as evil,
        serving_evil(directory, evil, DATABASE_URL=rows.url) as site,
        closing(sign_in(site)) as client,
    ):
        until_listed(client)
        yield site, client, rows, evil


async def until_refused(open_page: Page) -> str:
    """Send a message that is refused; return its id."""
    client_id = await open_page.send("message.send", text="Not now")
    refused = await open_page.until("error", client_id=client_id)
    assert refused["code"] == "storage" and "was not sent" in refused["text"]
    return client_id


# S6
@pytest.mark.parametrize("again", ["ends meanwhile", "goes on"])
async def test_a_server_that_goes_away_in_mid_answer_loses_nothing(tmp_path: Path, again: str) -> None:
    with on_a_cluster(tmp_path) as (site, client, rows, evil):
        async with counting(site, client) as (open_page, message):
            await grown(open_page, message, FOR_LONG)
            await asyncio.to_thread(rows.stop)
            shown = await open_page.until("storage")
            assert shown["saving"] is False and "database" in shown["text"]
            assert (await asyncio.to_thread(client.get, "/readyz")).status_code == 503
            await grown(open_page, message, len(open_page.text(message)) + FOR_LONG)
            client_id = await until_refused(open_page)
            if again == "ends meanwhile":
                await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(evil.hang_up(), evil.loop))
            await asyncio.to_thread(rows.start)
            if again == "goes on":
                assert (await open_page.until("storage"))["saving"] is True
                await grown(open_page, message, len(open_page.text(message)) + FOR_LONG)
                await open_page.send("turn.stop")
            ended = await open_page.until("turn.ended")
            assert ended["reason"] == ("stopped" if again == "goes on" else "failed")
            assert kept(site, message)[0] == open_page.text(message) and counted(open_page.text(message))
            await open_page.send("message.send", text="Now", client_id=client_id)
            await open_page.until("message.accepted", client_id=client_id)
        assert (await asyncio.to_thread(client.get, "/readyz")).status_code == 200


async def until_answered(client: httpx.Client, address: str) -> None:
    """Load a page, without an error of connections that broke while nothing used them.

    A query of the process itself may have met the server while it was away. Then no other one is tried for a second,
    and pages are a 503; whether that happens is a matter of milliseconds.
    """
    until = time.monotonic() + NOTICED
    while (found := await asyncio.to_thread(client.get, address)).status_code == 503:
        assert time.monotonic() < until, found.text
    assert found.status_code == 200


async def test_a_server_that_restarts_between_two_answers_is_found_again(tmp_path: Path) -> None:
    with on_a_cluster(tmp_path) as (site, client, rows, _):
        async with counting(site, client) as (open_page, message):
            await open_page.send("turn.stop")
            await open_page.until("turn.ended")
            for _ in range(2):
                await asyncio.to_thread(rows.stop)
                await asyncio.to_thread(rows.start)
                await until_answered(client, "/models/")
            # A try to save, between the two, may have failed.
            await until_answered(client, "/readyz")
            await open_page.send("message.send", text="Again")
            await open_page.until("message.accepted")
            assert open_page.text(message)


# S6
async def test_a_server_that_falls_silent_is_noticed_within_seconds(tmp_path: Path) -> None:
    """Nothing is refused and nothing is closed; the network drops what is sent."""
    with cluster() as rows, silent_proxy(rows.port) as network, evil_server() as evil:
        url = rows.url.replace(str(rows.port), str(network.port))
        with serving_evil(tmp_path, evil, DATABASE_URL=url) as site, closing(sign_in(site)) as client:
            until_listed(client)
            async with counting(site, client) as (open_page, message):
                await grown(open_page, message, FOR_LONG)
                network.go_silent()
                began = time.monotonic()
                ready = asyncio.create_task(asyncio.to_thread(client.get, "/readyz"))
                await open_page.until("storage", saving=False)
                assert time.monotonic() - began < NOTICED and (await ready).status_code == 503
                assert time.monotonic() - began < 2 * NOTICED
                await grown(open_page, message, len(open_page.text(message)) + FOR_LONG)
                network.forward()
                await open_page.until("storage", saving=True)
                await open_page.send("turn.stop")
                await open_page.until("turn.ended", reason="stopped")
            assert (kept_text := on(rows, message)) == open_page.text(message) and counted(kept_text)


def on(rows: Cluster, message: int) -> str:
    """The text of a message, read past the network of the site."""
    return str(databases.rows(rows.url, "SELECT content FROM chat_message WHERE id = ?", message)[0][0])


# S6
async def test_the_rest_of_an_answer_is_kept_that_another_process_interrupted(tmp_path: Path) -> None:
    """The process of the answer cannot write for a while; the other one can, and judges its lease."""
    with cluster() as rows, silent_proxy(rows.port) as network, evil_server() as evil:
        cut = rows.url.replace(str(rows.port), str(network.port))
        with serving_evil(tmp_path, evil, DATABASE_URL=cut) as site, closing(sign_in(site)) as client:
            until_listed(client)
            with serving(tmp_path, DATABASE_URL=rows.url) as other, closing(sign_in(other)) as elsewhere:
                async with counting(site, client) as (open_page, message):
                    await grown(open_page, message, FOR_LONG)
                    network.go_silent()
                    await open_page.until("storage", saving=False)
                    while databases.rows(rows.url, "SELECT status FROM chat_turn")[-1][0] != "interrupted":
                        await open_page.until("text.delta", message=message)
                    before = on(rows, message)
                    await grown(open_page, message, len(before) + FOR_LONG)
                    network.forward()
                    await open_page.until("tail")
                    shown = open_page.text(message)
                assert on(rows, message) == shown and counted(shown) and len(shown) > len(before)
                assert shown.split()[-1] in elsewhere.get(f"/chat/{conversation_of(rows, message)}/").text


def conversation_of(rows: Cluster, message: int) -> str:
    return str(databases.rows(rows.url, "SELECT conversation_id FROM chat_message WHERE id = ?", message)[0][0])
