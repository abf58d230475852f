"""Turns in text: every simulated language does its work, one conversation is swapped through all, formats fall."""

from __future__ import annotations

from collections.abc import Callable

import httpx
import pytest

from tests.chat.test_end_to_end import choose
from tests.serving import Page, Site, new_chat, page
from toolsupport.simulator.models import TEXT

LOOK = "What's in this folder?"
# Code needs a tool that runs it; the hopeless one is hopeless.
# No family says what sim-python writes, so a person is asked about its calls.
LANGUAGES = [model.name for model in TEXT if model.name not in ("sim-code", "sim-hopeless-json", "sim-python")]
SETTLED = "UPDATE toolsupport_modelprofile SET options = ? WHERE name = ?"


@pytest.fixture(scope="module")
def site(sites: Callable[..., Site]) -> Site:
    return sites(TOOLSUPPORT_TEXT_FORMATS="all").alive()


async def looked(open_page: Page) -> list[str]:
    """Ask for the folder; how the calls of this answer ended."""
    before = len(open_page.of("call.finished"))
    await open_page.send("message.send", text=LOOK)
    assert (await open_page.until("turn.ended"))["reason"] == "done"
    return [frame["call"]["status"] for frame in open_page.of("call.finished")[before:]]


# F3 F7
@pytest.mark.asyncio
async def test_one_conversation_is_swapped_through_every_language(site: Site, ana: httpx.Client) -> None:
    async with page(site, ana, new_chat(ana)) as open_page:
        await open_page.until("hello")
        for name in LANGUAGES:
            await open_page.send("model.select", model=f"{name}:latest")
            await open_page.until("notice", code="switched")
            assert await looked(open_page) == ["done"], name
        assert open_page.of("call.rejected") == []


# F11
@pytest.mark.asyncio
async def test_a_format_that_keeps_failing_falls_to_the_next(site: Site, ana: httpx.Client) -> None:
    async with page(site, ana, new_chat(ana)) as open_page:
        await choose(open_page, "sim-hopeless-json:latest")
        await open_page.send("message.send", text=LOOK)
        ended = await open_page.until("turn.ended")
        first = open_page.of("turn.started")[0]["format"]
        notice = next(frame for frame in open_page.of("notice") if frame["code"] == "fallback")
        assert "cannot be read as" in notice["text"] and len(open_page.of("call.rejected")) == 2
        for rejected in open_page.of("call.rejected"):
            shown = [one["html"] for one in open_page.of("message.finished") if one["message"] == rejected["message"]]
            prose, _, card = shown[-1].partition("data-calls")
            assert "Original call" in card and "tool_call" in card and "tool_call" not in prose
        stored = site.rows("SELECT format FROM chat_turn WHERE id = ?", ended["turn"])[0][0]
        assert stored and stored != first
        counted = site.rows("SELECT format, outcome, calls FROM toolsupport_callmetric WHERE outcome = 'rejected'")
        assert (first, "rejected", 2) in counted
        await open_page.send("message.send", text=LOOK)
        await open_page.until("turn.ended")
        assert open_page.of("turn.started")[-1]["format"] == first
