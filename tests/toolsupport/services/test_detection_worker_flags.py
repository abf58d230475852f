"""llama-server under test: one that refuses tools though its properties claim them, one that leaves calls as text."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from channels.db import database_sync_to_async as in_database

from tests.factories import ModelProfileFactory, ServerFactory
from toolsupport import providers
from toolsupport.registry.testing import detection_reports, detections
from toolsupport.registry.testing.detections import DetectionRequest
from toolsupport.services.background_jobs import JobRunner

pytestmark = pytest.mark.django_db(transaction=True)

NO_JINJA = {"error": {"code": 500, "message": "tools param requires --jinja flag", "type": "server_error"}}
CLAIMS = {"chat_template_caps": {"supports_tools": True, "supports_tool_calls": True}, "build_info": "b10000"}
DEMANDED = re.compile(r'ticket "([\w-]+)" and copies (\d)')
Reply = tuple[int, dict[str, Any]]


def without_jinja(body: dict[str, Any]) -> Reply:
    return (500, NO_JINJA) if body.get("tools") else said("Hello.")


def as_bare_json(body: dict[str, Any]) -> Reply:
    found = DEMANDED.search(str(body["messages"][-1]["content"]))
    if found is None:
        return said("Hello.")
    arguments = {"ticket": found[1], "copies": int(found[2])}
    return said(json.dumps({"name": "lookup_ticket", "arguments": arguments}))


def said(text: str) -> Reply:
    return 200, {"choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]}


def streamed(reply: dict[str, Any]) -> bytes:
    text = reply["choices"][0]["message"]["content"]
    pieces: list[dict[str, Any]] = [
        {"delta": {"content": text}, "finish_reason": None},
        {"delta": {}, "finish_reason": "stop"},
    ]
    lines = [f"data: {json.dumps({'choices': [{'index': 0, **piece}]})}\n\n" for piece in pieces]
    return "".join([*lines, "data: [DONE]\n\n"]).encode()


@asynccontextmanager
async def llama_server(answer: Callable[[dict[str, Any]], Reply]) -> AsyncIterator[str]:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = re.search(r"content-length: (\d+)", head)
        body = await reader.readexactly(int(length[1]) if length else 0)
        asked = json.loads(body) if body else {}
        status, reply = answer(asked) if "/chat/completions" in head else (200, CLAIMS)
        streams = "choices" in reply and asked.get("stream")
        kind, data = (
            ("text/event-stream", streamed(reply)) if streams else ("application/json", json.dumps(reply).encode())
        )
        writer.write(f"HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\ncontent-length: {len(data)}\r\n".encode())
        writer.write(b"connection: close\r\n\r\n" + data)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        await providers.close()
        server.close()
        await server.wait_closed()


async def examined(answer: Callable[[dict[str, Any]], Reply]) -> Any:
    async with llama_server(answer) as url:
        row = await in_database(ModelProfileFactory)(
            server=await in_database(ServerFactory)(base_url=url, kind="llamacpp"), name="tiny:1b"
        )
        work = JobRunner()
        work.spawn(work.tester.serve())
        opened = await in_database(detections.open_test)(DetectionRequest(row.pk, "page"))
        work.tester.look()
        async with asyncio.timeout(60):
            while (done := await in_database(detection_reports.shown)(opened.id)).open:
                await asyncio.sleep(0.01)
        await work.stop()
        return done


@pytest.mark.asyncio
async def test_a_server_without_templates_is_misconfigured_whatever_it_claims() -> None:
    done = await examined(without_jinja)
    assert (done.status, done.verdict) == ("done", "misconfigured")
    assert (done.detail["flag"], done.reason) == ("--jinja", "The server needs a setting for tools: `--jinja`.")


@pytest.mark.asyncio
async def test_a_call_left_as_bare_json_is_text() -> None:
    done = await examined(as_bare_json)
    assert done.verdict == "text", (done.verdict, done.reason)
    assert "--jinja" not in done.reason
