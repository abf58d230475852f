"""While Alice is asked about a change, Bob, Charlie and programs try every way there is to answer for her."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from typing import Any

import aiohttp
import httpx
import pytest

from tests.chat.test_approvals import asked, notes
from tests.many_users import Person, browser, crowd
from tests.serving import Page, Site, new_chat, page, sign_in

MODEL = "sim-honest:latest"
WRITE = {"model": MODEL, "name": "write_file", "arguments": {"path": "notes.md", "content": "by a stranger"}}


@dataclass(frozen=True)
class Somebody:
    """A person with a browser, a chat and the key of a program."""

    client: httpx.Client
    chat: str
    key: str

    def post(self, path: str, **sent: str) -> httpx.Response:
        return self.client.post(path, data=sent, headers={"X-CSRFToken": self.client.cookies["csrftoken"]})

    def execute(self, chat: str, **said: Any) -> httpx.Response:
        return self.with_key("/api/tools/execute", json={**WRITE, **said, "conversation": chat})

    def with_key(self, path: str, **sent: Any) -> httpx.Response:
        """As a program that holds the key, and no session."""
        return httpx.post(
            f"{self.client.base_url}{path}", headers={"Authorization": f"Bearer {self.key}"}, trust_env=False, **sent
        )


@pytest.fixture(scope="module")
def people(site: Site) -> Iterator[tuple[Somebody, Somebody, Somebody]]:
    """Alice, a user; Bob, an administrator; Charlie, who was a user until he had made a key."""
    rows = crowd(site, 3)
    with closing(sign_in(site)) as admin:
        found = tuple(somebody(site, row) for row in rows)
        for row, role in zip(rows, ("user", "admin", "viewer"), strict=True):
            headers = {"X-CSRFToken": admin.cookies["csrftoken"]}
            assert admin.post(f"/people/{row['id']}/role/", data={"role": role}, headers=headers).status_code == 200
    alice, bob, charlie = found
    yield alice, bob, charlie
    for one in found:
        one.client.close()


def somebody(site: Site, row: Person) -> Somebody:
    key = site.manage("create_api_key", row["name"]).split()[-1]
    client = browser(site, row)
    client.follow_redirects = True
    return Somebody(client, new_chat(client), key)


@asynccontextmanager
async def asking(site: Site, alice: Somebody) -> AsyncIterator[tuple[Page, int]]:
    """Alice's page, with a question that waits."""
    async with page(site, alice.client, alice.chat) as open_page:
        yield open_page, await asked(open_page)


def the_call(site: Site, question: int) -> str:
    return str(site.rows("SELECT tool_run_id FROM chat_question WHERE id = ?", question)[0][0])


def open_still(site: Site, question: int) -> bool:
    return site.rows("SELECT answer FROM chat_question WHERE id = ?", question) == [("",)]


def written(site: Site) -> int:
    """How often something was written into a file, in all chats."""
    return int(site.rows("SELECT COUNT(*) FROM chat_toolrun WHERE name = 'write_file' AND status = 'done'")[0][0])


# SAFETY 3.4, 3.1
@pytest.mark.asyncio
async def test_nobody_answers_for_alice(site: Site, people: tuple[Somebody, Somebody, Somebody]) -> None:
    alice, bob, charlie = people
    async with asking(site, alice) as (open_page, question):
        before = notes(site, alice.chat)
        for stranger in (bob, charlie):
            for answer in ("once", "chat", "edit", "deny"):
                said = stranger.post(f"/questions/{question}/answer/", answer=answer)
                assert said.status_code == (404 if stranger is bob else 403)
            assert stranger.post(f"/chat/{alice.chat}/grants/revoke/", tool="write_file").status_code in (403, 404)
            assert stranger.execute(alice.chat).status_code == (404 if stranger is bob else 403)
            with pytest.raises(aiohttp.WSServerHandshakeError):
                async with page(site, stranger.client, alice.chat) as theirs:
                    await theirs.until("hello")
        await from_his_own_page(site, bob, question)
        # No key answers a question, not even her own: what a program asks for, it cannot allow.
        for key_of in people:
            said = key_of.with_key(f"/questions/{question}/answer/", data={"answer": "once"})
            assert said.status_code in (302, 403)
        assert alice.execute(alice.chat).status_code == 429
        assert open_still(site, question) and notes(site, alice.chat) == before
        await open_page.send("question.answer", question=question, answer="deny")
        assert (await open_page.until("turn.ended"))["reason"] == "done"
        assert notes(site, alice.chat) == before


async def from_his_own_page(site: Site, bob: Somebody, question: int) -> None:
    """Frames that name what is Alice's, sent from a conversation of his own."""
    call = the_call(site, question)
    async with page(site, bob.client, bob.chat) as theirs:
        await theirs.until("hello")
        for kind, fields in (
            ("question.answer", {"question": question, "answer": "once"}),
            ("question.answer", {"question": question, "answer": "edit", "arguments": {"content": "mine"}}),
            ("call.stop", {"call": call}),
            ("call.repeat", {"call": call}),
            ("turn.continue", {}),
        ):
            await theirs.send(kind, **fields)
            assert (await theirs.until("error"))["code"] == "not_found", (kind, fields)


# SAFETY 3.4: once is once, whoever comes second and from wherever.
@pytest.mark.asyncio
async def test_what_was_allowed_once_runs_once(site: Site, people: tuple[Somebody, Somebody, Somebody]) -> None:
    alice = people[0]
    async with asking(site, alice) as (open_page, question), page(site, alice.client, alice.chat) as other:
        await other.until("hello")
        before = written(site)
        for one in (open_page, other, other):
            await one.send("question.answer", question=question, answer="once")
        assert (await open_page.until("turn.ended"))["reason"] == "done"
        assert "already answered" in alice.post(f"/questions/{question}/answer/", answer="once").text
        assert (await other.until("error"))["code"] == "conflict"
        assert written(site) == before + 1
        # Run again by a person, it is asked about as if a model had called it.
        await open_page.send("call.repeat", call=the_call(site, question))
        again = await open_page.until("question.asked")
        assert again["question"] != question and written(site) == before + 1
        await open_page.until("turn.waiting")
        await open_page.send("question.answer", question=again["question"], answer="deny")
        await open_page.until("turn.ended")


# SAFETY 3.12
@pytest.mark.asyncio
async def test_what_was_switched_off_meanwhile_is_not_run(
    site: Site, people: tuple[Somebody, Somebody, Somebody]
) -> None:
    alice, bob, _ = people
    async with asking(site, alice) as (open_page, question):
        before = notes(site, alice.chat)
        assert bob.post("/tools/switch/", tool="write_file", on="off").status_code == 200
        await open_page.send("question.answer", question=question, answer="once")
        await open_page.until("turn.ended")
        bob.post("/tools/switch/", tool="write_file", on="on")
        call = open_page.of("call.finished")[-1]["call"]
        assert call["status"] == "denied" and notes(site, alice.chat) == before
