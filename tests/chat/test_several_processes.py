"""Two processes of one site: every event in one appears in the other, word for word."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests import databases
from tests.chat.test_approvals import asked, notes
from tests.chat.test_end_to_end import choose
from tests.serving import ADMIN, Page, Site, new_chat, page, serving, sign_in


@contextmanager
def pair(directory: Path, kind: str) -> Iterator[tuple[Site, Site]]:
    """Two running processes over one directory, one database, one Redis."""
    environment = {"REDIS_URL": databases.needed("TOOLSUPPORT_TEST_REDIS_URL", databases.REDIS)}
    with ExitStack() as stack:
        environment["DATABASE_URL"] = f"sqlite:///{directory / 'toolsupport.sqlite3'}"
        if kind == "postgresql":
            environment["DATABASE_URL"] = stack.enter_context(databases.database(databases.migrated()))
        first = stack.enter_context(serving(directory, **environment))
        yield first, stack.enter_context(serving(directory, **environment))
        assert "ERROR chat.broadcast.process_bus" not in (directory / "serve.log").read_text()


@pytest.fixture(scope="module", params=["postgresql", "sqlite"])
def sites(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Site, Site]]:
    with pair(tmp_path_factory.mktemp("pair"), request.param) as running:
        yield running


@pytest.fixture(scope="module")
def client(sites: tuple[Site, Site]) -> Iterator[httpx.Client]:
    with closing(sign_in(sites[0])) as browser:
        yield browser


def seqs(open_page: Page) -> list[int]:
    return [frame["seq"] for frame in open_page.got if "seq" in frame]


async def long_answer(open_page: Page) -> int:
    """Start a long answer; gives the message in which it is being written."""
    await choose(open_page, "sim-long:latest")
    await open_page.send("message.send", text="Tell me a long story")
    return int((await open_page.until("text.delta"))["message"])


# O2 C2
@pytest.mark.asyncio
async def test_a_page_elsewhere_follows_from_the_first_word(sites: tuple[Site, Site], client: httpx.Client) -> None:
    here, there = sites
    conversation = new_chat(client)
    async with page(here, client, conversation) as first, page(there, client, conversation) as second:
        await second.until("hello")
        message = await long_answer(first)
        while len(second.text(message)) < 200:
            await second.until("text.delta", message=message)
        await first.send("turn.stop")
        await asyncio.gather(first.until("turn.ended"), second.until("turn.ended"))
        assert first.text(message) == second.text(message) != ""
        # No thing is missed, none comes twice.
        assert seqs(second) == list(range(seqs(second)[0], seqs(second)[-1] + 1))
        assert seqs(second)[-3:] == seqs(first)[-3:]


# O2 C2
@pytest.mark.asyncio
async def test_a_page_elsewhere_that_comes_late_catches_up_exactly(
    sites: tuple[Site, Site], client: httpx.Client
) -> None:
    here, there = sites
    conversation = new_chat(client)
    async with page(here, client, conversation) as first:
        message = await long_answer(first)
        async with page(there, client, conversation) as second:
            assert (await second.until("hello"))["turn"] == first.of("turn.started")[0]["turn"]
            await second.send("turn.resync", message=message)
            await second.until("resync", message=message)
            for _ in range(5):
                await second.until("text.delta", message=message)
            await second.send("turn.resync", message=message)
            await second.until("resync", message=message)
            await second.until("text.delta", message=message)
            await first.send("turn.stop")
            await asyncio.gather(first.until("turn.ended"), second.until("turn.ended"))
            assert first.text(message) == second.text(message) != ""


# C5
@pytest.mark.asyncio
async def test_stop_is_heard_in_the_other_process(sites: tuple[Site, Site], client: httpx.Client) -> None:
    here, there = sites
    conversation = new_chat(client)
    async with page(here, client, conversation) as first, page(there, client, conversation) as second:
        await second.until("hello")
        await long_answer(first)
        await second.send("turn.stop")
        ends = await asyncio.gather(second.until("turn.ended"), first.until("turn.ended"))
        assert [end["reason"] for end in ends] == ["stopped", "stopped"]


# D9
@pytest.mark.asyncio
async def test_what_waits_here_is_allowed_there(sites: tuple[Site, Site], client: httpx.Client) -> None:
    here, there = sites
    conversation = new_chat(client)
    async with page(here, client, conversation) as first, page(there, client, conversation) as second:
        await second.until("hello")
        question = await asked(first)
        assert (await second.until("question.asked"))["question"] == question
        await second.until("turn.waiting")
        await second.send("question.answer", question=question, answer="once")
        ends = await asyncio.gather(first.until("turn.ended"), second.until("turn.ended"))
        assert [end["reason"] for end in ends] == ["done", "done"]
        assert notes(here, conversation) == "hello there"
        last = first.of("message.finished")[-1]["message"]
        assert first.text(last) == second.text(last) != ""


# O4 T11
@pytest.mark.asyncio
@pytest.mark.parametrize("kind", ["postgresql", "sqlite"])
async def test_what_waited_through_a_restart_of_both_is_allowed_in_the_other(tmp_path: Path, kind: str) -> None:
    with pair(tmp_path, kind) as (here, there), closing(sign_in(here)) as client:
        conversation = new_chat(client)
        async with page(here, client, conversation) as first:
            question = await asked(first)
        for site in (here, there):
            site.kill(signal.SIGKILL)
        for site in (there, here):
            site.start()
        async with page(there, client, conversation) as second:
            await second.until("hello")
            await second.send("question.answer", question=question, answer="once")
            assert (await second.until("turn.ended"))["reason"] == "done"
        assert notes(there, conversation) == "hello there"


# C2 O4
@pytest.mark.asyncio
async def test_the_death_of_one_process_is_told_by_the_other(tmp_path: Path) -> None:
    with pair(tmp_path, "postgresql") as (here, there), closing(sign_in(here)) as client:
        conversation = new_chat(client)
        async with page(here, client, conversation) as first, page(there, client, conversation) as second:
            await second.until("hello")
            message = await long_answer(first)
            await second.until("text.delta", message=message)
            here.kill(signal.SIGKILL)
            assert (await second.until("turn.ended"))["reason"] == "interrupted"


# D7 O2
@pytest.mark.asyncio
async def test_the_end_of_a_test_is_told_in_every_process(sites: tuple[Site, Site], client: httpx.Client) -> None:
    here, there = sites
    conversation, model = new_chat(client), "sim-parallel-less:latest"
    async with page(here, client, conversation) as first, page(there, client, conversation) as second:
        await second.until("hello")
        await choose(first, model)
        await first.send("detection.start", model=model)
        told = await asyncio.gather(*(each.until("notice", code="detected") for each in (first, second)))
        assert told[0]["seq"] == told[1]["seq"] and model in told[1]["text"]
        # The next one is run by neither of them.
        await asyncio.to_thread(there.manage, "detect", model)
        again = await asyncio.gather(*(each.until("notice", code="detected") for each in (first, second)))
        assert again[0]["seq"] == again[1]["seq"] > told[0]["seq"]
        assert seqs(second) == list(range(seqs(second)[0], seqs(second)[-1] + 1))


# G8
@pytest.mark.asyncio
async def test_programs_at_both_processes_cause_one_test_and_each_gets_its_own_call(sites: tuple[Site, Site]) -> None:
    key = sites[0].manage("create_api_key", ADMIN[0]).strip()
    asked = [(site, tool) for site in sites for tool in PROGRAMS for _ in range(3)]
    async with httpx.AsyncClient(headers={"Authorization": f"Bearer {key}"}, timeout=60, trust_env=False) as client:
        answers = await asyncio.gather(
            *(client.post(f"{site.url}/v1/chat/completions", json=PROGRAMS[tool]) for site, tool in asked)
        )
    for (_, tool), answer in zip(asked, answers, strict=True):
        [call] = answer.json()["choices"][0]["message"]["tool_calls"]
        assert call["function"]["name"] == tool and answer.headers["X-Toolsupport-First-Use"] == "tested", answer.text
    tests = "SELECT kind FROM toolsupport_detection d JOIN toolsupport_modelprofile p ON p.id = d.profile_id"
    assert sites[0].rows(f"{tests} WHERE p.name LIKE ?", "sim-unknown%") == [("tools",)]


def program(tool: str, question: str) -> dict[str, Any]:
    path = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    function = {"name": tool, "description": "A tool of this program.", "parameters": path}
    messages = [{"role": "user", "content": question}]
    return {"model": "sim-unknown", "messages": messages, "tools": [{"type": "function", "function": function}]}


PROGRAMS = {
    "list_directory": program("list_directory", "What's in this folder?"),
    "read_file": program("read_file", "Read the file config.json"),
}
