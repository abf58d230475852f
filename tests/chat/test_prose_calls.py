"""A call in a model's prose leads to a question, and never runs without approval."""

from __future__ import annotations

import asyncio
import signal
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from tests.chat.test_end_to_end import choose
from tests.serving import Page, Site, new_chat, page, serving, sign_in

LOOK = "What's in this folder?"


async def asked(open_page: Page, text: str = LOOK) -> int:
    await choose(open_page, "sim-speaks:latest")
    await open_page.send("message.send", text=text)
    question = await open_page.until("question.asked")
    await open_page.until("turn.waiting")
    assert question["kind"] == "prose_call" and question["options"] == ["once", "deny"]
    if text == LOOK:
        assert "List this folder?" in question["html"]
    return int(question["question"])


# F5
@pytest.mark.asyncio
async def test_it_runs_once_a_person_says_so(site: Site, ana: httpx.Client) -> None:
    async with page(site, ana, new_chat(ana)) as open_page:
        question = await asked(open_page)
        assert open_page.of("call.finished") == []
        await open_page.send("question.answer", question=question, answer="chat")
        assert (await open_page.until("error"))["code"] == "bad_answer"
        await open_page.send("question.answer", question=question, answer="once")
        assert (await open_page.until("turn.ended"))["reason"] == "done"
        call = open_page.of("call.finished")[0]["call"]
        assert (call["status"], call["format"]) == ("done", "pure_json")
        assert "config.json" in open_page.text(open_page.of("message.finished")[-1]["message"])


# F5
@pytest.mark.asyncio
async def test_denied_it_stays_text_and_the_turn_is_done(site: Site, ana: httpx.Client) -> None:
    async with page(site, ana, new_chat(ana)) as open_page:
        question = await asked(open_page)
        message = open_page.of("message.finished")[-1]["message"]
        said = open_page.text(message)
        await open_page.send("question.answer", question=question, answer="deny")
        assert (await open_page.until("turn.ended"))["reason"] == "done"
        assert open_page.of("call.finished")[0]["call"]["status"] == "denied"
        assert open_page.text(message) == said and "list_directory" in said
        await open_page.send("message.send", text="What is 17*23?")
        assert (await open_page.until("turn.ended"))["reason"] == "done"
        assert "391" in open_page.text(open_page.of("message.finished")[-1]["message"])


# F5, T11
@pytest.mark.asyncio
async def test_a_change_is_shown_in_the_same_question_and_asked_once(site: Site, ana: httpx.Client) -> None:
    conversation = new_chat(ana)
    notes = site.directory / "workspaces" / conversation / "notes.md"
    async with page(site, ana, conversation) as open_page:
        question = await asked(open_page, 'Write "hello there" to notes.md')
        assert "hello there" in open_page.of("question.asked")[0]["html"]
        await open_page.send("question.answer", question=question, answer="once")
        assert (await open_page.until("turn.ended"))["reason"] == "done"
        assert len(open_page.of("question.asked")) == 1 and notes.read_text() == "hello there"


@pytest.mark.asyncio
async def test_a_new_message_takes_its_place(site: Site, ana: httpx.Client) -> None:
    async with page(site, ana, new_chat(ana)) as open_page:
        await asked(open_page)
        await open_page.send("message.send", text="What is 17*23?")
        assert (await open_page.until("question.closed"))["answer"] == "superseded"
        assert (await open_page.until("turn.ended"))["reason"] == "stopped"
        assert (await open_page.until("turn.ended"))["reason"] == "done"
        assert open_page.of("call.finished") == []


# F5: it waits in rows
@pytest.mark.asyncio
async def test_it_survives_that_the_server_is_killed(tmp_path: Path) -> None:
    with serving(tmp_path) as site, closing(sign_in(site)) as ana:
        conversation = new_chat(ana)
        async with page(site, ana, conversation) as open_page:
            question = await asked(open_page)
        site.kill(signal.SIGKILL)
        await asyncio.to_thread(site.start)
        async with page(site, ana, conversation) as open_page:
            await open_page.send("question.answer", question=question, answer="once")
            assert (await open_page.until("turn.ended"))["reason"] == "done"
            assert open_page.of("call.finished")[0]["call"]["status"] == "done"
