"""A call that a program requires comes, or the answer is 422 with the code `tool_choice_not_met`."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import orjson
import pytest
from channels.db import database_sync_to_async as in_database
from django.test import AsyncClient

from tests.factories import ModelProfileFactory, ServerFactory, UserFactory
from tests.tables import every
from tests.toolsupport.gateway.conftest import LIST, PATH, Program
from tests.toolsupport.providers.scripted import LAST_CHUNK, Scripted, chunk, scripted
from toolsupport.core.types import ToolSpec
from toolsupport.gateway import chat_request, keep_alive
from toolsupport.gateway.messages import request as messages_request
from toolsupport.gateway.responses import request as responses_request
from toolsupport.providers.server_kinds import PROVIDERS
from toolsupport.registry.knowledge import overrides
from toolsupport.registry.knowledge.overrides import NewOverride

Knows = Callable[..., Any]
WORDS = "What's in this folder?"
FLAT = {"type": "function", "name": "list_directory", "parameters": PATH}
# Address → a request that requires a call of any tool, and one that requires the named one.
ASKED: dict[str, tuple[dict[str, Any], Any]] = {
    "/v1/chat/completions": (
        {"messages": [{"role": "user", "content": WORDS}], "tools": [LIST], "tool_choice": "required"},
        {"type": "function", "function": {"name": "list_directory"}},
    ),
    "/v1/responses": (
        {"input": WORDS, "tools": [FLAT], "tool_choice": "required"},
        {"type": "function", "name": "list_directory"},
    ),
    "/v1/messages": (
        {
            "max_tokens": 500,
            "messages": [{"role": "user", "content": WORDS}],
            "tools": [{"name": "list_directory", "input_schema": PATH}],
            "tool_choice": {"type": "any"},
        },
        {"type": "tool", "name": "list_directory"},
    ),
}


async def post(program: Program, path: str, **body: Any) -> Any:
    headers = {"Authorization": f"Bearer {program.key}"}
    return await AsyncClient().post(path, body, content_type="application/json", headers=headers)


def error_in(path: str, body: dict[str, Any]) -> tuple[Any, ...]:
    """The kind and the code of an error, after its shape was compared."""
    error = body["error"]
    expected = {"type", "message", "code"} if path == "/v1/messages" else {"type", "message", "code", "param"}
    assert set(error) == expected and error["message"], body
    assert ("type" in body) is (path == "/v1/messages")
    return error["type"], error["code"]


@pytest.mark.asyncio
@pytest.mark.parametrize("path", ASKED)
async def test_a_call_that_never_comes_is_a_422_after_two_retries(program: Program, knows: Knows, path: str) -> None:
    # G9: it takes tools, and never sees them.
    await knows("sim-ignores", tools=True)
    body, named = ASKED[path]
    for stream in (False, True):
        for choice in (body["tool_choice"], named):
            answer = await post(
                program, path, **body | {"tool_choice": choice, "model": "sim-ignores", "stream": stream}
            )
            assert (answer.status_code, answer.headers["X-Toolsupport-Retries"]) == (422, "2")
            assert error_in(path, answer.json()) == ("invalid_request_error", "tool_choice_not_met")


@pytest.mark.asyncio
@pytest.mark.parametrize("path", ASKED)
async def test_a_stream_that_has_begun_ends_with_the_error_of_its_api(
    program: Program, knows: Knows, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keep_alive, "SILENCE", 0.0)
    await knows("sim-ignores", tools=True)
    answer = await post(program, path, **ASKED[path][0], model="sim-ignores", stream=True)
    lines = b"".join([piece async for piece in answer.streaming_content]).decode().strip().split("\n")
    assert answer.status_code == 200
    name, data = lines[-2], json.loads(lines[-1].removeprefix("data: "))
    if path == "/v1/responses":
        assert name == "event: response.failed"
        assert (data["response"]["status"], data["response"]["error"]["code"]) == ("failed", "tool_choice_not_met")
    else:
        assert name == "event: error" and error_in(path, data)[1] == "tool_choice_not_met"
    assert "[DONE]" not in lines[-1]


@pytest.mark.asyncio
async def test_a_server_that_refuses_the_tools_is_not_asked_three_times(program: Program, knows: Knows) -> None:
    await knows("sim-refuses", tools=True, format=False)
    answer = await program.ask("sim-refuses", tool_choice="required", tools=[LIST])
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "tool_choice_not_met")
    assert "refused" in answer.json()["error"]["message"]


HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


def said(**choice: Any) -> bytes:
    return chunk(b"data: " + orjson.dumps({"choices": [{"index": 0, "delta": {}} | choice]}) + b"\n\n")


EMPTY = (HEAD, said(finish_reason="stop"), chunk(b"data: [DONE]\n\n"), LAST_CHUNK)
FUNCTION = {"name": "list_directory", "arguments": '{"path":"."}'}
CALLED = (
    HEAD,
    said(delta={"tool_calls": [{"index": 0, "id": "c", "type": "function", "function": FUNCTION}]}),
    said(finish_reason="tool_calls"),
    chunk(b"data: [DONE]\n\n"),
    LAST_CHUNK,
)


def row(server: Scripted, kind: str, **known: Any) -> None:
    made = ServerFactory(name="made", kind=kind, base_url=f"http://127.0.0.1:{server.port}")
    profile = ModelProfileFactory(server=made, name="m")
    for capability, value in (known or {"tools": True}).items():
        overrides.add(NewOverride(profile.pk, capability, value, actor=UserFactory().pk, reason="tried it"))


@pytest.mark.asyncio
async def test_three_empty_answers_are_no_call_and_a_third_that_calls_is_one(program: Program) -> None:
    async with scripted(EMPTY) as server:
        await in_database(row)(server, "vllm")
        answer = await program.ask("made/m", tool_choice="required")
        assert (answer.status_code, answer.json()["error"]["code"]) == (422, "tool_choice_not_met")
        assert len(server.bodies) == 3
        server.answers[:] = [EMPTY, EMPTY, CALLED]
        answer = await program.ask("made/m", tool_choice="required")
        assert answer.status_code == 200, answer.content
        assert answer.json()["choices"][0]["finish_reason"] == "tool_calls"


TOOL: dict[str, Any] = {"name": "a", "parameters": PATH}
STRICT: dict[str, tuple[Any, dict[str, Any], str]] = {
    "chat completions": (chat_request.read, {"messages": [{"role": "user", "content": "x"}]}, "function"),
    "responses": (responses_request.read, {"input": "x"}, ""),
    "messages": (messages_request.read, {"messages": [{"role": "user", "content": "x"}], "max_tokens": 1}, "schema"),
}


@every("api", STRICT)
@every("strict", [True, False, None])
def test_every_api_keeps_strict(api: str, strict: bool | None) -> None:  # K5
    read, body, shape = STRICT[api]
    tool: dict[str, Any] = {"type": "function", **TOOL, "strict": strict}
    if shape == "function":
        tool = {"type": "function", "function": TOOL | {"strict": strict}}
    elif shape == "schema":
        tool = {"name": "a", "input_schema": PATH, "strict": strict}
    [found] = read(orjson.dumps({"model": "m", "tools": [tool]} | body)).tools
    assert found.strict is (strict is True)


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("kind", "sent"), [("vllm", True), ("openai.com", True), ("llamacpp", False), ("openai", False)]
)
async def test_strict_reaches_servers_that_can_enforce_it(program: Program, kind: str, sent: bool) -> None:  # K5
    assert kind in PROVIDERS
    async with scripted(CALLED) as server:
        await in_database(row)(server, kind)
        function = {"name": "list_directory", "parameters": PATH, "strict": True}
        strict = {"type": "function", "function": function}
        await program.ask("made/m", tools=[strict])
        [tool] = server.bodies[-1]["tools"]
    assert tool["function"].get("strict") is (True if sent else None)


def test_ollama_never_gets_strict() -> None:
    assert "strict" not in ToolSpec("a", strict=True).to_openai()["function"]
