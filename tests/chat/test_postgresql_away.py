"""PostgreSQL goes away in mid-answer and comes back: nothing is lost, and the site needs no restart."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import httpx
import pytest

from tests.chat.test_faults import FOR_LONG, counting, grown
from tests.hostile_server import Evil, evil_server, serving_evil, until_listed
from tests.nightly.full_disk import kept
from tests.nightly.kills import counted
from tests.postgresql import PG_CTL, Cluster, cluster
from tests.serving import Page, Site, sign_in

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


async def test_a_server_that_restarts_between_two_answers_is_found_again(tmp_path: Path) -> None:
    with on_a_cluster(tmp_path) as (site, client, rows, _):
        async with counting(site, client) as (open_page, message):
            await open_page.send("turn.stop")
            await open_page.until("turn.ended")
            for _ in range(2):
                await asyncio.to_thread(rows.stop)
                await asyncio.to_thread(rows.start)
                # Connections that broke while nothing used them: the first request afterwards is answered.
                assert (await asyncio.to_thread(client.get, "/models/")).status_code == 200
            await open_page.send("message.send", text="Again")
            await open_page.until("message.accepted")
            assert open_page.text(message)
