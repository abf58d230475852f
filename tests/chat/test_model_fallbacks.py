"""A fallback model visibly continues an answer whose model failed, and no tool runs twice."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from tests.chat.test_end_to_end import choose
from tests.serving import Page, Site, free_port, new_chat, page

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
NOT_FOUND = b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
FAILED = b"HTTP/1.1 500 Oops\r\ncontent-length: 9\r\nconnection: close\r\n\r\nno memory"
LIST = {"name": "list_directory", "arguments": '{"path": "."}'}


def piece(delta: dict[str, Any], reason: str | None = None) -> bytes:
    return (
        b"data: " + json.dumps({"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}).encode() + b"\n\n"
    )


CALLS = HEAD + piece({"tool_calls": [{"index": 0, "id": "c1", "type": "function", "function": LIST}]})
CALLS += piece({}, "tool_calls") + b"data: [DONE]\n\n"


@asynccontextmanager
async def calls_then_fails() -> AsyncIterator[int]:
    """The port of a server whose model calls a tool, and fails when it gets the result."""
    writers = set[asyncio.StreamWriter]()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.add(writer)
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = next((line[15:] for line in head.split("\r\n") if line.startswith("content-length:")), "0")
        body = (await reader.readexactly(int(length))).decode()
        writer.write(NOT_FOUND if "chat/completions" not in head else FAILED if '"tool"' in body else CALLS)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    yield server.sockets[0].getsockname()[1]
    server.close()
    for writer in writers:
        writer.close()


def post(client: httpx.Client, path: str, fields: dict[str, Any]) -> str:
    answer = client.post(path, data=fields, headers={"X-CSRFToken": client.cookies["csrftoken"]})
    assert answer.status_code == 200, answer.text[:2000]
    return answer.text


def model_of(site: Site, client: httpx.Client, port: int) -> int:
    """A model of a server at this port, whose native tools a person has turned on."""
    server = f"s{port}"
    fields = {"name": server, "kind": "vllm", "base_url": f"http://127.0.0.1:{port}"}
    post(client, "/servers/add/", fields)
    [(number,)] = site.rows("SELECT id FROM toolsupport_server WHERE name = ?", server)
    post(client, "/models/add/", {"server": number, "name": f"m{port}"})
    model = number_of(site, f"m{port}")
    post(client, f"/models/{model}/override/", {"decision": "yes", "reason": "tests", "newest": "0"})
    return model


def number_of(site: Site, name: str) -> int:
    return int(site.rows("SELECT id FROM toolsupport_modelprofile WHERE name = ?", name)[0][0])


def set_chain(client: httpx.Client, model: int, *others: int) -> str:
    fields: dict[str, Any] = {"fallback_models": [str(one) for one in others], "reason": "It may be down."}
    return post(client, f"/models/{model}/fallbacks/", fields)


async def asked(open_page: Page, text: str) -> str:
    """Ask, and return the notice about the fallback, after the answer ended well."""
    await open_page.send("message.send", text=text)
    ended = await open_page.until("turn.ended")
    assert ended["reason"] == "done", ended
    [notice] = [each for each in open_page.of("notice") if each["code"] == "fallback"]
    return str(notice["text"])


# C6, D4
@pytest.mark.asyncio
async def test_a_model_without_server_is_replaced_for_this_answer(site: Site, ana: httpx.Client) -> None:
    port = free_port()
    model, honest = model_of(site, ana, port), number_of(site, "sim-honest:latest")
    assert "can answer" in set_chain(ana, model, honest)
    conversation = new_chat(ana)
    async with page(site, ana, conversation) as open_page:
        await choose(open_page, f"m{port}")
        said = await asked(open_page, "What's in this folder?")
        assert said.startswith(f"m{port} could not answer: ") and said.endswith(
            "Continuing with Simulator/sim-honest:latest."
        )
        assert [each["call"]["status"] for each in open_page.of("call.finished")] == ["done"]
        assert open_page.of("turn.started")[-1]["model"] == "sim-honest:latest"
        assert "sim-honest" in open_page.of("message.finished")[-1]["html"]
    assert f"m{port}" in ana.get(f"/chat/{conversation}/explain/").text, "the model of the chat stays"
    explained = ana.get(f"/chat/{conversation}/explain/").text
    assert "If this model cannot answer" in explained and "Simulator/sim-honest:latest" in explained
    history = ana.get(f"/history/?profile={model}").text
    assert "It may be down." in history and "Fallback models" in history


# C6: the tool of the round before does not run again, and each message names its writer.
@pytest.mark.asyncio
async def test_a_model_that_fails_with_the_result_of_its_call_is_replaced(site: Site, ana: httpx.Client) -> None:
    async with calls_then_fails() as port:
        # In a thread: the site asks the server of this test meanwhile.
        model = await asyncio.to_thread(model_of, site, ana, port)
        set_chain(ana, model, number_of(site, "sim-honest:latest"))
        conversation = new_chat(ana)
        async with page(site, ana, conversation) as open_page:
            await choose(open_page, f"m{port}")
            assert f"m{port} could not answer" in await asked(open_page, "What's in this folder?")
            assert len(open_page.of("call.finished")) == 1, "no tool runs twice"
            last = open_page.of("message.finished")[-1]
            assert "config.json" in open_page.text(last["message"])
    exported = ana.get(f"/chat/{conversation}/export.json").json()
    writers = [each["model"] for each in exported["messages"] if each["role"] == "assistant"]
    assert writers == [f"s{port}/m{port}", "Simulator/sim-honest:latest"]
