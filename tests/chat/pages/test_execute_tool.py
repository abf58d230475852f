"""One call of a tool for a program: the same policy as for a model, with approval by a person where it is needed
(T7).
"""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.serving import ADMIN, Site, new_chat, page

MODEL = "sim-honest:latest"
WRITE = {"model": MODEL, "name": "write_file", "arguments": {"path": "notes.md", "content": "by a program\n"}}


@pytest.fixture(scope="module")
def program(site: Site) -> Iterator[httpx.Client]:
    """Comes in by the key of the administrator."""
    key = site.manage("create_api_key", ADMIN[0], "--name", "t7").split()[-1]
    with httpx.Client(base_url=site.url, headers={"Authorization": f"Bearer {key}"}, timeout=60) as asking:
        yield asking


def execute(program: httpx.Client, conversation: str | None = None, **said: Any) -> httpx.Response:
    place = {"conversation": conversation} if conversation else {}
    return program.post("/api/tools/execute", json={"model": MODEL} | said | place)


def code(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


def test_without_a_conversation_it_reads_an_example(program: httpx.Client) -> None:
    said = execute(program, name="read_file", arguments={"path": "config.json"})
    assert said.status_code == 200
    call = said.json()["call"]
    assert (call["name"], call["asked_as"], call["served_by"]) == ("read_file", "read_file", "read_file")
    assert call["status"] == "done" and "2.4.1" in said.json()["result"]


def test_a_command_is_translated(program: httpx.Client) -> None:  # T6
    said = execute(program, name="bash", arguments={"command": "cat config.json"}).json()
    assert (said["call"]["asked_as"], said["call"]["served_by"]) == ("bash", "read_file")
    assert said["call"]["arguments"] == {"path": "config.json"} and "2.4.1" in said["result"]
    failed = execute(program, name="bash", arguments={"command": "cat config.json | wc -l"}).json()
    assert failed["call"]["status"] == "failed" and "no shell here" in failed["result"]


def test_a_database_is_read_without_a_conversation(
    ana: httpx.Client, program: httpx.Client, tmp_path: Path
) -> None:  # T7
    with closing(sqlite3.connect(tmp_path / "stock.sqlite3")) as stock:
        stock.executescript("CREATE TABLE part (name TEXT); INSERT INTO part VALUES ('bolt');")
    fields = {"name": "parts", "kind": "sqlite", "location": str(tmp_path / "stock.sqlite3"), "groups": ["admin"]}
    token = {"csrfmiddlewaretoken": ana.cookies["csrftoken"]}
    assert ana.post("/tools/sources/add/", data=fields | token).status_code == 200
    query = {"source": "parts", "query": "SELECT name FROM part"}
    said = execute(program, name="execute_sql", arguments=query).json()
    assert said["call"]["status"] == "done" and "bolt" in said["result"]
    assert "part" in execute(program, name="search_schemas", arguments={"query": "part"}).json()["result"]
    written = execute(program, name="execute_sql", arguments=query | {"query": "DELETE FROM part"}).json()
    assert written["call"]["status"] == "failed"


def test_an_error_of_the_tool_is_a_result(program: httpx.Client) -> None:
    said = execute(program, name="read_file", arguments={"path": "../config.json"})
    assert said.status_code == 200 and said.json()["call"]["status"] == "failed"
    assert "'..' cannot be used" in said.json()["result"]


def test_what_changes_something_needs_a_conversation(program: httpx.Client) -> None:
    assert code(program.post("/api/tools/execute", json=WRITE)) == (403, "not_allowed")
    assert code(execute(program, name="bash", arguments={"command": "echo a > b"})) == (403, "not_allowed")


@pytest.mark.parametrize(
    ("said", "param"),
    [
        ({"model": "nobody"}, "model"),
        ({"model": 3}, "model"),
        ({"name": ""}, "name"),
        ({"name": "web_search"}, "name"),
        ({"arguments": []}, "arguments"),
        ({"arguments": {"path": None}}, "arguments"),
        ({"conversation": 3}, "conversation"),
        ({"model": "sim-refuses:latest"}, "name"),
    ],
)
def test_what_cannot_be_asked_for(program: httpx.Client, said: dict[str, Any], param: str) -> None:
    wrong = execute(program, **{"name": "read_file", "arguments": {"path": "a"}, **said})
    assert wrong.status_code == 400 and wrong.json()["error"]["param"] == param
    assert wrong.json()["error"]["message"]


def test_a_body_that_is_none(program: httpx.Client) -> None:
    for body in (b"", b"[]", b"{", b"\xff"):
        assert program.post("/api/tools/execute", content=body).status_code == 400


def test_in_a_conversation_it_is_a_card_of_it(ana: httpx.Client, program: httpx.Client) -> None:
    conversation = new_chat(ana)
    said = execute(program, conversation, name="list_directory", arguments={"path": "."})
    assert said.status_code == 200 and "config.json" in said.json()["result"]
    assert f'data-call="{said.json()["call"]["id"]}"' in ana.get(f"/chat/{conversation}/messages/").text
    # Nothing is remembered of what was told: the files may be others by now.
    assert (
        execute(program, conversation, name="list_directory", arguments={"path": "."}).json()["call"]
        != said.json()["call"]
    )


@pytest.mark.asyncio
async def test_a_change_waits_for_a_person_and_is_told_once(
    site: Site, ana: httpx.Client, program: httpx.Client
) -> None:
    conversation = new_chat(ana)
    notes = site.directory / "workspaces" / conversation / "notes.md"
    before = notes.read_text()
    async with page(site, ana, conversation) as open_page:
        first = program.post("/api/tools/execute", json=WRITE | {"conversation": conversation})
        assert code(first) == (409, "approval_needed")
        asked = await open_page.until("question.asked")
        assert asked["question"] == first.json()["question"] and "A program" in asked["text"]
        again = program.post("/api/tools/execute", json=WRITE | {"conversation": conversation})
        assert (again.status_code, again.json()["question"]) == (409, first.json()["question"])
        other = execute(program, conversation, name="read_file", arguments={"path": "notes.md"})
        assert int(other.headers["Retry-After"]) > 0
        assert code(other) == (429, "busy") and notes.read_text() == before
        await open_page.send("question.answer", question=asked["question"], answer="once")
        assert (await open_page.until("turn.ended"))["reason"] == "done"
        assert notes.read_text() == "by a program\n"
        told = program.post("/api/tools/execute", json=WRITE | {"conversation": conversation})
        assert told.status_code == 200 and told.json()["call"]["status"] == "done"
        assert open_page.of("text.delta") == []
        # It was allowed once.
        assert code(program.post("/api/tools/execute", json=WRITE | {"conversation": conversation})) == (
            409,
            "approval_needed",
        )


@pytest.mark.asyncio
async def test_a_call_that_was_denied_is_told_so(site: Site, ana: httpx.Client, program: httpx.Client) -> None:
    conversation = new_chat(ana)
    async with page(site, ana, conversation) as open_page:
        question = program.post("/api/tools/execute", json=WRITE | {"conversation": conversation}).json()["question"]
        await open_page.until("turn.waiting")
        await open_page.send("question.answer", question=question, answer="deny")
        await open_page.until("turn.ended")
        told = program.post("/api/tools/execute", json=WRITE | {"conversation": conversation}).json()
        assert told["call"]["status"] == "denied" and "did not allow" in told["result"]


def test_who_may(site: Site, ana: httpx.Client, program: httpx.Client) -> None:
    read: dict[str, Any] = {"name": "read_file", "arguments": {"path": "notes.md"}}
    assert code(execute(program, str(uuid.uuid4()), **read)) == (404, "conversation_not_found")
    assert code(execute(program, "nonsense", **read)) == (404, "conversation_not_found")
    with httpx.Client(base_url=site.url) as nobody:
        assert execute(nobody, **read).status_code == 401
    # A page of somebody else's cannot send it with the cookies of a person.
    assert ana.post("/api/tools/execute", json={"model": MODEL} | read, headers={"X-CSRFToken": ""}).status_code == 403
