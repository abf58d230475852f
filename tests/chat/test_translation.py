"""A model that refuses file tools, but calls bash, still works with files (T6, F11)."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from tests.chat.test_end_to_end import choose
from tests.serving import Page, Site, new_chat, page, switched_on

MODEL = "sim-shell:latest"


async def ask(open_page: Page, text: str) -> None:
    await choose(open_page, MODEL)
    await open_page.send("message.send", text=text)


@pytest.mark.asyncio
async def test_a_refusal_in_words_leads_to_another_offer(site: Site, ana: httpx.Client) -> None:
    async with page(site, ana, new_chat(ana)) as open_page:
        await ask(open_page, "Read config.json and tell me its version.")
        assert (await open_page.until("turn.ended"))["reason"] == "done"
        replies = open_page.of("message.finished")
        assert "I can't access files" in open_page.text(replies[0]["message"])
        assert [notice["code"] for notice in open_page.of("notice")][-1] == "through_bash"
        call = open_page.of("call.finished")[0]["call"]
        assert (call["asked_as"], call["served_by"], call["name"]) == ("bash", "read_file", "read_file")
        assert call["arguments"] == {"path": "config.json"} and call["status"] == "done"
        assert "Called as <code>bash</code> · run by <code>read_file</code>" in call["html"]
        assert "cat config.json" in call["html"]
        assert "2.4.1" in open_page.text(replies[-1]["message"])
        # From now on it is offered bash at once, in this chat.
        await open_page.send("message.send", text="What is in this folder?")
        await open_page.until("turn.ended")
        assert open_page.of("call.finished")[1]["call"]["served_by"] == "list_directory"
        assert [notice["code"] for notice in open_page.of("notice")].count("through_bash") == 1


@pytest.mark.asyncio
async def test_a_change_asks_with_the_same_diff_as_the_tool_itself(site: Site, ana: httpx.Client) -> None:
    conversation = new_chat(ana)
    notes = site.directory / "workspaces" / conversation / "notes.md"
    async with page(site, ana, conversation) as open_page:
        before = notes.read_text()
        await ask(open_page, 'Append "A new line" to notes.md')
        question = await open_page.until("question.asked")
        assert question["options"] == ["once", "chat", "edit", "deny"]
        assert "<b>+</b><span\n      >A new line</span>" in question["html"]
        assert "Add to notes.md?" in question["text"] and notes.read_text() == before
        await open_page.send("question.answer", question=question["question"], answer="once")
        assert (await open_page.until("turn.ended"))["reason"] == "done"
        call = open_page.of("call.finished")[-1]["call"]
        assert (call["asked_as"], call["served_by"], call["status"]) == ("bash", "write_file", "done")
        assert notes.read_text() == f"{before}A new line\n"


@pytest.mark.asyncio
async def test_a_change_can_be_edited_and_stays_what_it_was(site: Site, ana: httpx.Client) -> None:
    conversation = new_chat(ana)
    notes = site.directory / "workspaces" / conversation / "notes.md"
    before = notes.read_text()
    async with page(site, ana, conversation) as open_page:
        await ask(open_page, 'Append "A new line" to notes.md')
        question = (await open_page.until("question.asked"))["question"]
        await open_page.send("question.answer", question=question, answer="edit", arguments={"append": False})
        assert (await open_page.until("error"))["code"] == "bad_answer"
        await open_page.send("question.answer", question=question, answer="edit", arguments={"content": "Another\n"})
        await open_page.until("turn.ended")
        assert notes.read_text() == f"{before}Another\n"
        call = open_page.of("call.finished")[-1]["call"]
        assert (call["asked_as"], call["served_by"]) == ("bash", "write_file")
    # The model reads what was called, not its own command, which did something else.
    later = ana.get(f"/chat/{conversation}/explain/", params={"message": "And now?"}).text
    assert "Another" in later and "&gt;&gt; notes.md" not in later


@pytest.mark.asyncio
async def test_a_command_that_no_tool_does_is_answered_with_what_is_possible(site: Site, ana: httpx.Client) -> None:
    async with page(site, ana, new_chat(ana)) as open_page:
        await ask(open_page, "Read config.json")
        await open_page.until("turn.ended")
        await open_page.send("message.send", text="Run `rm -rf .`")
        await open_page.until("turn.ended")
        call = open_page.of("call.finished")[-1]["call"]
        assert (call["name"], call["status"]) == ("bash", "failed") and "there is no shell here" in call["error"]


@pytest.fixture
def with_programs(site: Site) -> Iterator[None]:
    with switched_on(site, "python_execution"):
        yield


# T9
@pytest.mark.asyncio
@pytest.mark.usefixtures("with_programs")
async def test_a_program_reads_files_by_the_tools_behind_bash(site: Site, ana: httpx.Client) -> None:
    async with page(site, ana, new_chat(ana)) as open_page:
        await ask(open_page, "Read config.json")
        await open_page.until("turn.ended")
        await open_page.send("message.send", text="Sum column cups of data.csv with Python")
        question = (await open_page.until("question.asked"))["question"]
        code = 'print(read_file(path="data.csv"))\nprint(bash(command="pwd"))'
        await open_page.send("question.answer", question=question, answer="edit", arguments={"code": code})
        await open_page.until("turn.ended")
        _, inner, program = [frame["call"] for frame in open_page.of("call.finished")]
        assert (inner["served_by"], inner["status"]) == ("read_file", "done")
        assert inner["result"].startswith("month,tea,cups,revenue\n")
        assert program["status"] == "failed" and "name 'bash' is not defined" in program["error"]
