"""Run again, over a real socket: the same policy, the same questions, and an answer to what came of it."""

from __future__ import annotations

import httpx
import pytest

from tests.chat.test_approvals import asked, notes
from tests.chat.test_end_to_end import choose
from tests.serving import Page, Site, new_chat, page


async def again(open_page: Page) -> None:
    call = open_page.of("call.finished")[-1]["call"]["id"]
    await open_page.send("call.repeat", call=call)


# DESIGN 6, UX
@pytest.mark.asyncio
async def test_a_call_runs_again_and_the_model_goes_on(site: Site, ana: httpx.Client) -> None:
    async with page(site, ana, new_chat(ana)) as open_page:
        await choose(open_page, "sim-honest:latest")
        await open_page.send("message.send", text="What is in config.json?")
        await open_page.until("turn.ended")
        first = open_page.of("call.finished")[-1]["call"]
        await again(open_page)
        started = await open_page.until("message.started", role="assistant")
        assert "data-call=" in started["html"]
        assert (await open_page.until("turn.ended"))["reason"] == "done"
        second = open_page.of("call.finished")[-1]["call"]
        assert second["id"] != first["id"] and second["result"] == first["result"]
        answer = open_page.of("message.finished")[-1]
        assert answer["message"] > started["message"]
        seqs = [frame["seq"] for frame in open_page.got if "seq" in frame]
        assert seqs == list(range(seqs[0], seqs[0] + len(seqs)))


@pytest.mark.asyncio
async def test_a_change_asks_again(site: Site, ana: httpx.Client) -> None:
    conversation = new_chat(ana)
    async with page(site, ana, conversation) as open_page:
        question = await asked(open_page)
        await open_page.send("question.answer", question=question, answer="once")
        await open_page.until("turn.ended")
        (site.directory / "workspaces" / conversation / "notes.md").write_text("changed")
        await again(open_page)
        second = await open_page.until("question.asked")
        assert notes(site, conversation) == "changed"
        await open_page.send("question.answer", question=second["question"], answer="once")
        assert (await open_page.until("turn.ended"))["reason"] == "done"
        assert notes(site, conversation) == "hello there"
        assert open_page.of("error") == []
