"""Open chats of a model receive its tests' progress and people's decisions, over real sockets."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

import httpx
import pytest

from tests.chat.test_end_to_end import choose
from tests.serving import Page, Site, new_chat, page

UNKNOWN = "sim-unknown:latest"
# Ends the lease now; otherwise the test of the killed process would end only after a minute.
LEASE_ENDS = "from toolsupport.models import Detection as D; from django.db.models.functions import Now as N; "
LEASE_ENDS += "D.objects.filter(status='running').update(lease_until=N())"


@pytest.fixture(scope="module")
def site(own_site: Site) -> Site:
    """Nothing but these tests finds anything out about its models."""
    return own_site


async def ended(open_page: Page, **wanted: int) -> str:
    """Wait for the end of a test; gives how it ended."""
    return str((await open_page.until("detection.progress", step="", **wanted))["state"])


# D5, D7
@pytest.mark.asyncio
async def test_one_test_for_all_pages_and_a_decision_reaches_them(site: Site, ana: httpx.Client) -> None:
    async with AsyncExitStack() as stack:
        pages = [await stack.enter_async_context(page(site, ana, new_chat(ana))) for _ in range(5)]
        for each in pages:
            await choose(each, UNKNOWN)
        question = await pages[0].until("question.asked")
        assert question["kind"] == "unknown_model" and question["options"] == ["auto", "yes", "no", "none"]
        await pages[0].send("question.answer", question=question["question"], answer="auto")
        await asyncio.gather(*(each.send("detection.start", model=UNKNOWN) for each in pages))
        # A new chat has the last model of its person first, whose test may have ended just now.
        test = (await pages[0].until("detection.progress", state="running"))["detection"]
        assert await asyncio.gather(*(ended(each, detection=test) for each in pages)) == ["done"] * 5
        told = [await each.until("notice", code="detected") for each in pages]
        assert all(notice["model"]["evidence"]["state"] == "proven" for notice in told)
        of_this_model = "JOIN toolsupport_modelprofile AS model ON model.id = profile_id WHERE model.name = ?"
        assert site.rows(f"SELECT COUNT(*) FROM toolsupport_detection {of_this_model}", UNKNOWN) == [(1,)]
        decide(ana, site)
        saved = await asyncio.gather(*(each.until("notice", code="saved") for each in pages))
        assert all(notice["model"]["evidence"]["state"] == "off" for notice in saved)
        assert len({notice["seq"] for notice in pages[0].of("notice")}) == len(pages[0].of("notice"))


def decide(ana: httpx.Client, site: Site) -> None:
    """On the model's page: no tools, for everyone."""
    [(row,)] = site.rows("SELECT id FROM toolsupport_modelprofile WHERE name = ?", UNKNOWN)
    sent = {
        "decision": "no",
        "reason": "",
        "newest": str(newest(site, row)),
        "csrfmiddlewaretoken": ana.cookies["csrftoken"],
    }
    assert ana.post(f"/models/{row}/override/", data=sent).status_code == 200


def newest(site: Site, row: int) -> int:
    query = "SELECT MAX(seq) FROM toolsupport_override WHERE profile_id = ? AND capability = 'tools' AND session = ''"
    return int(site.rows(query, row)[0][0])


@pytest.mark.asyncio
async def test_cancelled_by_a_frame(site: Site, ana: httpx.Client) -> None:
    async with page(site, ana, new_chat(ana)) as open_page:
        await choose(open_page, "sim-slow-load:latest")
        await open_page.send("detection.start", model="sim-slow-load:latest")
        running = await open_page.until("detection.progress", state="running")
        await open_page.send("detection.skip", detection=running["detection"], step="called")
        await open_page.send("detection.cancel", detection=running["detection"])
        assert await ended(open_page, detection=running["detection"]) == "cancelled"
        await open_page.send("detection.cancel", detection=987_654_321)
        assert (await open_page.until("error"))["code"] == "not_found"


# D7
@pytest.mark.asyncio
async def test_killed_in_the_middle_it_is_interrupted_and_offered_again(site: Site, ana: httpx.Client) -> None:
    conversation = new_chat(ana)
    async with page(site, ana, conversation) as open_page:
        await choose(open_page, "sim-slow-load:latest")
        await open_page.send("detection.start", model="sim-slow-load:latest")
        running = await open_page.until("detection.progress", state="running")
    site.kill()
    site.start()
    async with page(site, ana, conversation) as open_page:
        await open_page.until("hello")
        await asyncio.to_thread(site.manage, "shell", "--no-imports", "-c", LEASE_ENDS)
        assert await ended(open_page, detection=running["detection"]) == "interrupted"
        assert "process that ran the test ended" in (await open_page.until("notice", code="inconclusive"))["text"]
        await open_page.send("detection.start", model="sim-slow-load:latest")
        again = await open_page.until("detection.progress", state="running")
        assert again["detection"] > running["detection"]
        await open_page.send("detection.cancel", detection=again["detection"])
        assert await ended(open_page, detection=again["detection"]) == "cancelled"
