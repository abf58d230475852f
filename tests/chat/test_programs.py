"""Programs of a model: allowed whole, their calls shown and asked about one by one, gone on with after a restart."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import httpx
import pytest

from tests.chat.test_end_to_end import choose
from tests.serving import Page, Site, new_chat, page, sign_in, switched_on, until_tools_are_tested

SUM = "Sum column cups of data.csv with Python"
WRITE = 'Write "by a program" to notes.md with Python'


@pytest.fixture(scope="module")
def site(sites: Callable[..., Site]) -> Site:
    return sites(TOOLSUPPORT_TEXT_FORMATS="all").alive()


@pytest.fixture(scope="module")
def client(site: Site) -> Iterator[httpx.Client]:
    with switched_on(site, "python_execution"), closing(sign_in(site)) as browser:
        yield browser


def notes(site: Site, conversation: str) -> str:
    return (site.directory / "workspaces" / conversation / "notes.md").read_text()


async def asked(open_page: Page, text: str) -> dict[str, object]:
    """Ask for a program; the question that comes."""
    await choose(open_page, "sim-honest:latest")
    await open_page.send("message.send", text=text)
    question = await open_page.until("question.asked")
    await open_page.until("turn.waiting")
    return question


def counted(site: Site) -> int:
    """How many calls written as code were understood so far."""
    return int(
        site.rows("SELECT SUM(calls) FROM toolsupport_callmetric WHERE format = 'code_mode' AND outcome = 'ready'")[0][
            0
        ]
        or 0
    )


def paused_in(site: Site) -> int:
    """How many programs wait for a person."""
    return int(site.rows("SELECT COUNT(*) FROM chat_toolrun WHERE snapshot IS NOT NULL")[0][0])


# T3 T9
@pytest.mark.asyncio
async def test_a_program_is_shown_whole_and_its_calls_are_cards_of_their_own(site: Site, client: httpx.Client) -> None:
    conversation, before = new_chat(client), counted(site)
    async with page(site, client, conversation) as open_page:
        question = await asked(open_page, SUM)
        assert question["options"] == ["once", "edit", "deny"]
        assert "csv.DictReader(read_file" in str(question["html"])
        await open_page.send("question.answer", question=question["question"], answer="once")
        ended = await open_page.until("turn.ended")
        assert ended["reason"] == "done"
        inner, program = (frame["call"] for frame in open_page.of("call.finished"))
        assert (inner["name"], inner["status"], inner["program"]) == ("read_file", "done", program["id"])
        assert (program["name"], program["result"]) == ("python_execution", "2863\n")
        assert f'id="call-{inner["id"]}"' in program["html"]
        shown = client.get(f"/chat/{conversation}/messages/").text
        assert "is <strong>2863</strong>" in shown and shown.count(f'id="call-{inner["id"]}"') == 1
        assert counted(site) == before + 1


# T9 T11
@pytest.mark.asyncio
@pytest.mark.parametrize("answer", ["once", "deny"])
async def test_a_call_inside_waits_for_a_person(site: Site, client: httpx.Client, answer: str) -> None:
    conversation = new_chat(client)
    async with page(site, client, conversation) as open_page:
        before, paused = notes(site, conversation), paused_in(site)
        question = await asked(open_page, WRITE)
        await open_page.send("question.answer", question=question["question"], answer="once")
        inner = await open_page.until("question.asked")
        assert "by a program" in inner["html"] and notes(site, conversation) == before
        await open_page.until("turn.waiting")
        assert paused_in(site) == paused + 1
        await open_page.send("question.answer", question=inner["question"], answer=answer)
        assert (await open_page.until("turn.ended"))["reason"] == "done"
        write, program = (frame["call"] for frame in open_page.of("call.finished"))
        if answer == "once":
            assert (write["status"], program["status"]) == ("done", "done")
            assert notes(site, conversation) == "by a program"
        else:
            assert (write["status"], program["status"]) == ("denied", "failed")
            assert "PermissionError" in program["error"] and notes(site, conversation) == before
        assert paused_in(site) == paused


# C2
@pytest.mark.asyncio
async def test_a_paused_program_goes_on_after_a_kill(site: Site, client: httpx.Client) -> None:
    conversation = new_chat(client)
    async with page(site, client, conversation) as open_page:
        question = await asked(open_page, WRITE)
        await open_page.send("question.answer", question=question["question"], answer="once")
        inner = await open_page.until("question.asked")
        await open_page.until("turn.waiting")
        site.kill(signal.SIGKILL)
    site.start()
    async with page(site, client, conversation) as open_page:
        await open_page.until("hello")
        await open_page.send("question.answer", question=inner["question"], answer="once")
        assert (await open_page.until("turn.ended"))["reason"] == "done"
        assert notes(site, conversation) == "by a program"
        assert open_page.of("call.finished")[-1]["call"]["result"] == "Wrote 1 line to notes.md.\n"


# F1 F2
@pytest.mark.asyncio
async def test_a_model_that_writes_code_calls_tools(site: Site, client: httpx.Client) -> None:
    conversation = new_chat(client)
    headers = {"X-CSRFToken": client.cookies["csrftoken"]}
    saved = client.post(f"/chat/{conversation}/settings/", data={"format": "code_mode"}, headers=headers)
    assert saved.status_code == 200
    async with page(site, client, conversation) as open_page:
        await choose(open_page, "sim-code:latest")
        await open_page.send("message.send", text="What's in this folder?")
        question = await open_page.until("question.asked")
        assert open_page.of("turn.started")[0]["format"] == "code_mode"
        await open_page.send("question.answer", question=question["question"], answer="once")
        assert (await open_page.until("turn.ended"))["reason"] == "done"
        assert [frame["call"]["name"] for frame in open_page.of("call.finished")] == [
            "list_directory",
            "python_execution",
        ]
        assert "config.json" in client.get(f"/chat/{conversation}/messages/").text


async def begun(open_page: Page, code: str) -> dict[str, Any]:
    """Let the model run this code, and allow it: the card of the program as it begins."""
    question = await asked(open_page, f"Call python_execution with code `{code}`")
    await open_page.send("question.answer", question=question["question"], answer="once")
    return dict((await open_page.until("call.started"))["call"])


# C5
@pytest.mark.asyncio
@pytest.mark.parametrize("whole", [True, False], ids=["the turn", "the program alone"])
async def test_a_program_that_does_not_end_is_stopped_at_once(site: Site, client: httpx.Client, whole: bool) -> None:
    async with page(site, client, new_chat(client)) as open_page:
        card = await begun(open_page, "print('begun') or sum(n for n in range(10 ** 12))")
        await open_page.until("call.output")
        async with asyncio.timeout(2):
            await (open_page.send("turn.stop") if whole else open_page.send("call.stop", call=card["id"]))
            ended = await open_page.until("turn.ended" if whole else "call.finished")
        status = ended["reason"] if whole else ended["call"]["status"]
        assert status == "stopped"


# C2
@pytest.mark.asyncio
async def test_a_kill_in_mid_program_interrupts_the_turn(site: Site, client: httpx.Client) -> None:
    conversation = new_chat(client)
    async with page(site, client, conversation) as open_page:
        await begun(open_page, "while True: pass")
        site.kill(signal.SIGKILL)
    site.start()
    until_tools_are_tested(client)
    async with page(site, client, conversation) as open_page:
        hello = await open_page.until("hello")
        if "turn" in hello:
            assert (await open_page.until("turn.ended"))["reason"] == "interrupted"
    assert site.rows("SELECT status FROM chat_toolrun ORDER BY id DESC LIMIT 1") == [("interrupted",)]


# SAFETY 3.5
@pytest.mark.asyncio
async def test_what_a_program_reads_counts_as_read(site: Site, client: httpx.Client) -> None:
    async with page(site, client, new_chat(client)) as open_page:
        await begun(open_page, "write_file('copy.md', read_file('notes.md'))")
        inner = await open_page.until("question.asked")
        assert inner["options"] == ["once", "edit", "deny"] and "kettle" in inner["html"]


# SAFETY 3.1
@pytest.mark.asyncio
async def test_code_runs_no_code(site: Site, client: httpx.Client) -> None:
    async with page(site, client, new_chat(client)) as open_page:
        await begun(open_page, "python_execution('1')")
        call = (await open_page.until("call.finished"))["call"]
        assert call["status"] == "failed"
        _, _, functions = call["error"].partition(
            "name 'python_execution' is not defined. The functions of tools here are:"
        )
        assert "edit_file" in functions and "python_execution" not in functions and "bash" not in functions


# T11
@pytest.mark.asyncio
async def test_what_is_allowed_for_the_chat_is_not_asked_inside_again(site: Site, client: httpx.Client) -> None:
    async with page(site, client, new_chat(client)) as open_page:
        await begun(open_page, "[write_file(name, 'x') for name in ['a.md', 'b.md', 'c.md']]")
        for answer in ("once", "chat"):
            question = await open_page.until("question.asked")
            await open_page.until("turn.waiting")
            await open_page.send("question.answer", question=question["question"], answer=answer)
        assert (await open_page.until("turn.ended"))["reason"] == "done"
        assert len(open_page.of("question.asked")) == 3
        *inner, program = (frame["call"] for frame in open_page.of("call.finished")[:4])
        assert [call["status"] for call in inner] == ["done"] * 3
        assert (program["status"], program["name"]) == ("done", "python_execution")
        assert "c.md" in program["result"]
