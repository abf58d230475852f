"""A shell command of a model: off by default, approved each time, with live output, stoppable."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from tests.chat.test_end_to_end import choose
from tests.chat.tools.sandbox.test_shell_process import alive
from tests.installed import needs
from tests.markup import flat
from tests.serving import Page, Site, new_chat, page, serving, sign_in, switch_tool

needs_a_sandbox = needs("bwrap")


@pytest.fixture(scope="module", autouse=True)
def off_at_the_end(ana: httpx.Client) -> Iterator[None]:
    """Other files share this site."""
    yield
    switch_tool(ana, "bash", "off")


async def asked(open_page: Page, text: str) -> dict[str, object]:
    """Ask for a command; gives the question that comes."""
    await choose(open_page, "sim-honest:latest")
    await open_page.send("message.send", text=text)
    return await open_page.until("question.asked")


# SAFETY 3.2
@pytest.mark.asyncio
async def test_it_is_not_there_before_an_administrator_switches_it_on(site: Site, ana: httpx.Client) -> None:
    switch_tool(ana, "bash", "off")
    async with page(site, ana, new_chat(ana)) as open_page:
        await choose(open_page, "sim-honest:latest")
        await open_page.send("message.send", text="Run `ls` with bash")
        started = await open_page.until("turn.started")
        assert "bash" not in started["tools"] and "read_file" in started["tools"]
        assert (await open_page.until("turn.ended"))["reason"] == "done"
        assert not open_page.of("call.started")


# T3, T11, SAFETY 3.1, 3.5
@needs_a_sandbox
@pytest.mark.asyncio
async def test_the_whole_command_is_asked_for_each_time_and_taint_is_said(site: Site, ana: httpx.Client) -> None:
    switch_tool(ana, "bash", "on")
    async with page(site, ana, new_chat(ana)) as open_page:
        question = await asked(open_page, "Read config.json and run `echo one; echo two`")
        assert question["options"] == ["once", "edit", "deny"]
        assert question["text"] == "Requested after reading outside content. Run this command?"
        assert "echo one; echo two" in str(question["html"])
        await open_page.send("question.answer", question=question["question"], answer="chat")
        assert (await open_page.until("error"))["code"] == "bad_answer"
        await open_page.send("question.answer", question=question["question"], answer="once")
        assert (await open_page.until("turn.ended"))["reason"] == "done"
        call = open_page.of("call.finished")[-1]["call"]
        assert (call["status"], call["result"]) == ("done", "one\ntwo")
        await open_page.send("message.send", text="Run `echo three` with bash")
        again = await open_page.until("question.asked")
        # It still reads what it read before.
        assert again["text"] == "Requested after reading outside content. Run this command?"


# C5, T11
@needs_a_sandbox
@pytest.mark.asyncio
async def test_it_is_heard_while_it_runs_and_stopped_with_all_it_began(site: Site, ana: httpx.Client) -> None:
    switch_tool(ana, "bash", "on")
    conversation = new_chat(ana)
    async with page(site, ana, conversation) as open_page:
        command = "echo here; (sleep 4545 &) ; sleep 0.3; echo €; sleep 4546"
        question = await asked(open_page, f"Run `{command}` with bash")
        await open_page.send("question.answer", question=question["question"], answer="once")
        await open_page.until("call.output", offset=5)
        pieces = open_page.of("call.output")
        assert [(piece["offset"], piece["text"]) for piece in pieces] == [(0, "here\n"), (5, "€\n")]
        async with page(site, ana, conversation) as late:
            await late.until("hello")
            await late.send("turn.resync", message=pieces[0]["message"])
            assert (await late.until("call.output"))["text"] == "here\n€\n"
        async with asyncio.timeout(20):
            while not (alive("sleep 4545") and alive("sleep 4546")):
                await asyncio.sleep(0.01)
        began = time.monotonic()
        await open_page.send("call.stop", call=pieces[0]["call"])
        call = (await open_page.until("call.finished"))["call"]
        assert (call["status"], call["error"]) == ("stopped", "here\n€\n[A person stopped this tool.]")
        while alive("sleep 4545") or alive("sleep 4546"):
            assert time.monotonic() - began < 2
        assert (await open_page.until("turn.ended"))["reason"] == "done"


# C5
@needs_a_sandbox
@pytest.mark.asyncio
async def test_the_end_of_the_answer_is_the_end_of_its_command(site: Site, ana: httpx.Client) -> None:
    switch_tool(ana, "bash", "on")
    async with page(site, ana, new_chat(ana)) as open_page:
        question = await asked(open_page, "Run `echo up; sleep 4646` with bash")
        await open_page.send("question.answer", question=question["question"], answer="once")
        await open_page.until("call.output")
        began = time.monotonic()
        await open_page.send("turn.stop")
        assert (await open_page.until("turn.ended"))["reason"] == "stopped"
        while alive("sleep 4646"):
            assert time.monotonic() - began < 2


# P8
@needs_a_sandbox
@pytest.mark.asyncio
async def test_a_command_that_writes_while_its_chat_is_deleted_leaves_no_file(site: Site, ana: httpx.Client) -> None:
    """Stop ends the answer at once, and the chat can be deleted while the command is still being ended."""
    switch_tool(ana, "bash", "on")
    chat = new_chat(ana)
    async with page(site, ana, chat) as open_page:
        command = "echo up; trap : TERM; while :; do mkdir -p d/$RANDOM; echo secret > d/$RANDOM.txt; done"
        question = await asked(open_page, f"Run `{command}` with bash")
        await open_page.send("question.answer", question=question["question"], answer="once")
        await open_page.until("call.output")
        await open_page.send("turn.stop")
        await open_page.until("turn.ended")
        headers = {"X-CSRFToken": ana.cookies["csrftoken"]}
        assert ana.post(f"/chat/{chat}/delete/", headers=headers).status_code in (200, 302)
    folder = site.directory / "workspaces"
    async with asyncio.timeout(20):
        while any(chat in path.name for path in folder.iterdir() if path.is_dir()):
            await asyncio.sleep(0.05)
    assert ana.get(f"/chat/{chat}/files/").status_code == 404


# SAFETY 3.2
@needs_a_sandbox
def test_where_the_sandbox_fails_it_is_absent_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    fake = tmp_path / "bin" / "bwrap"
    fake.write_text("#!/bin/sh\necho 'bwrap: setting up uid map: Permission denied' >&2\nexit 1\n")
    fake.chmod(0o755)
    why = "setting up uid map: Permission denied"
    if os.geteuid() == 0:
        for above in (fake.parent, tmp_path, *tmp_path.parents[:-2]):
            above.chmod(above.stat().st_mode | 0o011)
    with serving(tmp_path, PATH=f"{fake.parent}:{os.environ['PATH']}") as site, closing(sign_in(site)) as ana:
        switch_tool(ana, "bash", "on")
        shown = flat(ana.get("/tools/").text)
        assert why in shown and 'id="switch-bash" name="on" value="on" disabled>' in shown
        assert f"tool bash: Bubblewrap cannot make a sandbox here (bwrap: {why})." in site.manage("doctor")
