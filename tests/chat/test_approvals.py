"""A change of a file asks first: the turn waits in rows, and the answer is given once, by anybody's page."""

from __future__ import annotations

import signal
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from tests.chat.test_end_to_end import choose
from tests.serving import ADMIN, Page, Site, new_chat, page, serving, sign_in

ASK = 'Write "hello there" to notes.md'


def notes(site: Site, conversation: str) -> str:
    return (site.directory / "workspaces" / conversation / "notes.md").read_text()


async def asked(open_page: Page, text: str = ASK) -> int:
    """Ask for a change; gives the id of the question that comes."""
    await choose(open_page, "sim-honest:latest")
    await open_page.send("message.send", text=text)
    question = await open_page.until("question.asked")
    await open_page.until("turn.waiting")
    return int(question["question"])


# T11
@pytest.mark.asyncio
async def test_nothing_is_written_before_it_is_allowed(site: Site, ana: httpx.Client) -> None:
    conversation = new_chat(ana)
    async with page(site, ana, conversation) as open_page:
        before = notes(site, conversation)
        question = await asked(open_page)
        card = open_page.of("question.asked")[0]
        assert card["kind"] == "approval" and card["options"] == ["once", "chat", "edit", "deny"]
        assert "hello there" in card["html"] and notes(site, conversation) == before
        await open_page.send("question.answer", question=question, answer="once")
        assert (await open_page.until("turn.ended"))["reason"] == "done"
        closed = open_page.of("question.closed")[0]
        assert (closed["answer"], closed["by"]) == ("once", ADMIN[0])
        assert open_page.of("call.finished")[-1]["call"]["status"] == "done"
        assert notes(site, conversation) == "hello there"
        await open_page.send("question.answer", question=question, answer="once")
        assert (await open_page.until("error"))["code"] == "conflict"


@pytest.mark.asyncio
async def test_denied_is_told_to_the_model_and_the_turn_goes_on(site: Site, ana: httpx.Client) -> None:
    conversation = new_chat(ana)
    async with page(site, ana, conversation) as open_page:
        before = notes(site, conversation)
        question = await asked(open_page)
        await open_page.send("question.answer", question=question, answer="deny")
        assert (await open_page.until("turn.ended"))["reason"] == "done"
        call = open_page.of("call.finished")[-1]["call"]
        assert call["status"] == "denied" and "did not allow" in call["error"]
        assert notes(site, conversation) == before


@pytest.mark.asyncio
async def test_in_this_chat_asks_only_once(site: Site, ana: httpx.Client) -> None:
    conversation = new_chat(ana)
    async with page(site, ana, conversation) as open_page:
        question = await asked(open_page)
        await open_page.send("question.answer", question=question, answer="chat")
        await open_page.until("turn.ended")
        await open_page.send("message.send", text='Write "again" to notes.md')
        assert (await open_page.until("turn.ended"))["reason"] == "done"
        assert len(open_page.of("question.asked")) == 1
        assert notes(site, conversation) == "again"


@pytest.mark.asyncio
async def test_edited_arguments_are_what_is_written(site: Site, ana: httpx.Client) -> None:
    conversation = new_chat(ana)
    async with page(site, ana, conversation) as open_page:
        question = await asked(open_page)
        await open_page.send("question.answer", question=question, answer="edit", arguments={"content": 7})
        assert (await open_page.until("error"))["code"] == "bad_answer"
        await open_page.send("question.answer", question=question, answer="edit", arguments={"content": "edited"})
        await open_page.until("turn.ended")
        assert notes(site, conversation) == "edited"
        assert "edited by a person" in open_page.of("call.finished")[-1]["call"]["repairs"]


# SAFETY 3.4
@pytest.mark.asyncio
async def test_what_was_allowed_does_not_replace_something_newer(site: Site, ana: httpx.Client) -> None:
    conversation = new_chat(ana)
    async with page(site, ana, conversation) as open_page:
        question = await asked(open_page)
        (site.directory / "workspaces" / conversation / "notes.md").write_text("newer")
        await open_page.send("question.answer", question=question, answer="once")
        assert (await open_page.until("turn.ended"))["reason"] == "done"
        call = open_page.of("call.finished")[-1]["call"]
        assert call["status"] == "failed" and "changed after" in call["error"]
        assert notes(site, conversation) == "newer"
        await open_page.send("message.send", text=ASK)
        again = await open_page.until("question.asked")
        assert "newer" in again["html"]
        await open_page.send("question.answer", question=again["question"], answer="once")
        await open_page.until("turn.ended")
        assert notes(site, conversation) == "hello there"


@pytest.mark.asyncio
@pytest.mark.parametrize(("path", "status"), [("fresh.md", "done"), ("config.json", "failed")])
async def test_an_edited_path_must_be_free(site: Site, ana: httpx.Client, path: str, status: str) -> None:
    conversation = new_chat(ana)
    async with page(site, ana, conversation) as open_page:
        question = await asked(open_page)
        await open_page.send("question.answer", question=question, answer="edit", arguments={"path": path})
        await open_page.until("turn.ended")
        assert open_page.of("call.finished")[-1]["call"]["status"] == status
        fresh = site.directory / "workspaces" / conversation / "fresh.md"
        assert fresh.exists() is (status == "done")


# D9: every question can be answered by a form too.
@pytest.mark.asyncio
async def test_a_form_answers_as_well(site: Site, ana: httpx.Client) -> None:
    conversation = new_chat(ana)
    async with page(site, ana, conversation) as open_page:
        question = await asked(open_page)
        headers = {"X-CSRFToken": ana.cookies["csrftoken"]}
        answer = ana.post(f"/questions/{question}/answer/", data={"answer": "once"}, headers=headers)
        assert (answer.status_code, answer.text) == (200, "Allowed.")
        assert (await open_page.until("turn.ended"))["reason"] == "done"
        assert notes(site, conversation) == "hello there"
        late = ana.post(f"/questions/{question}/answer/", data={"answer": "deny"}, headers=headers)
        assert late.text == "This was already answered: allowed once."
        assert ana.post("/questions/999999/answer/", data={"answer": "once"}, headers=headers).status_code == 404


@pytest.mark.asyncio
async def test_a_new_message_supersedes_and_stop_cancels(site: Site, ana: httpx.Client) -> None:
    conversation = new_chat(ana)
    async with page(site, ana, conversation) as open_page:
        before = notes(site, conversation)
        question = await asked(open_page)
        await open_page.send("message.send", text="What is 17*23?")
        assert (await open_page.until("question.closed", question=question))["answer"] == "superseded"
        assert (await open_page.until("turn.ended"))["reason"] == "stopped"
        assert (await open_page.until("turn.ended"))["reason"] == "done"
        await open_page.send("question.answer", question=question, answer="once")
        assert (await open_page.until("error"))["code"] == "conflict"
        await open_page.send("message.send", text=ASK)
        await open_page.until("turn.waiting")
        await open_page.send("turn.stop")
        assert (await open_page.until("question.closed"))["answer"] == "stopped"
        assert (await open_page.until("turn.ended"))["reason"] == "stopped"
        seqs = [frame["seq"] for frame in open_page.got if "seq" in frame]
        assert seqs == list(range(seqs[0], seqs[0] + len(seqs))), "nothing is announced without being told"
        assert notes(site, conversation) == before


# SAFETY 3.5
@pytest.mark.asyncio
async def test_after_reading_a_file_a_change_asks_each_time(site: Site, ana: httpx.Client) -> None:
    conversation = new_chat(ana)
    async with page(site, ana, conversation) as open_page:
        question = await asked(open_page)
        await open_page.send("question.answer", question=question, answer="chat")
        await open_page.until("turn.ended")
        await open_page.send("message.send", text='Read config.json, then write "seen" to notes.md')
        await open_page.until("turn.waiting")
        card = open_page.of("question.asked")[-1]
        assert "chat" not in card["options"]


# C2: an approval survives a restart; any process can go on.
@pytest.mark.asyncio
async def test_an_approval_survives_kill_9(tmp_path: Path) -> None:
    with serving(tmp_path) as site, closing(sign_in(site)) as ana:
        conversation = new_chat(ana)
        async with page(site, ana, conversation) as open_page:
            question = await asked(open_page)
            site.kill(signal.SIGKILL)
        site.start()
        async with page(site, ana, conversation) as open_page:
            hello = await open_page.until("hello")
            assert "turn" in hello
            shown = ana.get(f"/chat/{conversation}/messages/").text
            assert f'id="question-{question}"' in shown
            await open_page.send("question.answer", question=question, answer="once")
            assert (await open_page.until("turn.ended"))["reason"] == "done"
        assert notes(site, conversation) == "hello there"
