"""Images reach the model in every call format, and its call is returned, through each API."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from channels.db import database_sync_to_async as in_database
from django.conf import settings

from tests.loss import gold
from tests.loss.test_loss import known
from tests.loss.upstream import Upstream, question, running
from tests.toolsupport.gateway.conftest import Program
from tests.toolsupport.gateway.test_required_calls import HEAD, post, row, said
from tests.toolsupport.providers.scripted import LAST_CHUNK, chunk, scripted
from toolsupport import providers

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
URL = f"data:image/png;base64,{PIXEL}"
REFUSAL = b'{"error": {"message": "m does not support tools"}}'
REFUSED = (b"HTTP/1.1 400 Bad Request\r\ncontent-length: %d\r\nconnection: close\r\n\r\n%s" % (len(REFUSAL), REFUSAL),)
PATHS = ("/v1/chat/completions", "/v1/responses", "/v1/messages")


def asked(path: str, text: str) -> dict[str, Any]:
    """A request with a text, an image and the tools."""
    tools = list(gold.TOOLS.items())
    if path == "/v1/chat/completions":
        parts: list[Any] = [{"type": "text", "text": text}, {"type": "image_url", "image_url": {"url": URL}}]
        offered = [{"type": "function", "function": {"name": name, "parameters": form}} for name, form in tools]
        return {"messages": [{"role": "user", "content": parts}], "tools": offered}
    if path == "/v1/responses":
        parts = [{"type": "input_text", "text": text}, {"type": "input_image", "image_url": URL}]
        offered = [{"type": "function", "name": name, "parameters": form} for name, form in tools]
        return {"input": [{"role": "user", "content": parts}], "tools": offered}
    source = {"type": "base64", "media_type": "image/png", "data": PIXEL}
    parts = [{"type": "image", "source": source}, {"type": "text", "text": text}]
    offered = [{"name": name, "input_schema": form} for name, form in tools]
    return {"messages": [{"role": "user", "content": parts}], "tools": offered, "max_tokens": 500}


def calls_in(path: str, body: Any) -> gold.Gold:
    if path == "/v1/chat/completions":
        calls = [call["function"] for call in body["choices"][0]["message"].get("tool_calls", ())]
        return [(call["name"], json.loads(call["arguments"])) for call in calls]
    if path == "/v1/responses":
        calls = [item for item in body["output"] if item["type"] == "function_call"]
        return [(call["name"], json.loads(call["arguments"])) for call in calls]
    return [(block["name"], block["input"]) for block in body["content"] if block["type"] == "tool_use"]


@pytest.mark.asyncio
async def test_an_image_goes_along_in_every_format(
    transactional_db: None, monkeypatch: pytest.MonkeyPatch
) -> None:  # G5 G6
    monkeypatch.setitem(settings.ENV, "TOOLSUPPORT_KEY_REQUESTS", 10_000)
    async with running() as upstream:
        program: Any = Program(await in_database(known)(upstream.port), None)  # type: ignore[arg-type]
        for format, path in zip((gold.NATIVE, *gold.TEXT), itertools.cycle(PATHS), strict=False):
            answer = await post(program, path, model=f"loss/{format}", **asked(path, question(1, -50)))
            assert answer.status_code == 200, (format, answer.content)
            assert calls_in(path, answer.json()) == gold.calls(1, format), (format, path)
            assert images_in(upstream) == [URL], (format, path)
        await providers.close()


def images_in(upstream: Upstream) -> list[str]:
    """The images of the latest request to the model."""
    parts = [part for message in upstream.latest["messages"] for part in message["content"]]
    return [part["image_url"]["url"] for part in parts if isinstance(part, dict) and part["type"] == "image_url"]


@pytest.mark.asyncio
@pytest.mark.parametrize("path", PATHS)
async def test_an_image_goes_along_where_the_server_refuses_tools(program: Program, path: str) -> None:  # G5 G6
    called = said(delta={"content": gold.written("hermes", gold.calls(1, "hermes"))})
    text = (HEAD, called, said(finish_reason="stop"), chunk(b"data: [DONE]\n\n"), LAST_CHUNK)
    async with scripted(REFUSED) as server:
        await in_database(row)(server, "vllm", tools=True, format="hermes")
        server.answers[:] = [REFUSED, text]
        answer = await post(program, path, model="made/m", **asked(path, "Look."))
        assert calls_in(path, answer.json()) == gold.calls(1, "hermes"), answer.content
        first, second = (json.dumps(body) for body in server.bodies)
        assert PIXEL in first and PIXEL in second and "<tools>" in second


SEEN = (HEAD, said(delta={"content": "Seen."}), said(finish_reason="stop"), chunk(b"data: [DONE]\n\n"), LAST_CHUNK)
SOURCE = {"type": "base64", "media_type": "image/png", "data": PIXEL}
# Kind of server → the roles of the messages that hold images: OpenAI's API takes them from people only.
HOLDERS = {"openai": ["user"], "openai.com": ["user"], "vllm": ["user"], "llamacpp": ["tool"], "mistral": ["tool"]}


@pytest.mark.asyncio
@pytest.mark.parametrize("kind", sorted(HOLDERS))
async def test_an_image_in_a_result_goes_where_the_server_takes_it(program: Program, kind: str) -> None:  # G5 G6
    """Claude Code reads pictures and screenshots so; a refused one would block the rest of the conversation."""
    called = {"type": "tool_use", "id": "toolu_01", "name": "look", "input": {}}
    shown = {"type": "tool_result", "tool_use_id": "toolu_01", "content": [{"type": "image", "source": SOURCE}]}
    async with scripted(SEEN) as server:
        await in_database(row)(server, kind, tools=True, format="native")
        history = [("user", "Look."), ("assistant", [called]), ("user", [shown])]
        body = {
            "max_tokens": 50,
            "messages": [{"role": role, "content": content} for role, content in history],
            "tools": [{"name": "look", "input_schema": {"type": "object"}}],
        }
        answer = await post(program, "/v1/messages", model="made/m", **body)
        assert answer.status_code == 200, answer.content
        sent = server.bodies[-1]["messages"]
        assert [message["role"] for message in sent if URL in json.dumps(message)] == HOLDERS[kind]
        assert [message["role"] for message in sent if message["role"] == "tool"] == ["tool"]
