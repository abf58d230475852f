"""What a model wrote for itself beside its calls goes back with them, though programs return only what they know."""

from __future__ import annotations

import re
from typing import Any

import orjson
import pytest
from channels.db import database_sync_to_async as in_database
from django.test import AsyncClient

from tests.factories import ModelProfileFactory, ServerFactory
from tests.toolsupport.gateway.conftest import FOLDER, LIST, PATH, Program
from tests.toolsupport.gateway.test_constrained import row, says
from tests.toolsupport.gateway.test_model_fallbacks import FAILS, chain
from tests.toolsupport.providers.scripted import LAST_CHUNK, Scripted, Step, chunk, scripted
from toolsupport.models import ModelProfile, Server
from toolsupport.registry.knowledge import overrides
from toolsupport.registry.knowledge.overrides import NewOverride
from toolsupport.registry.servers import key_encryption

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
ARGUMENTS = '{"path": "."}'
GOOGLES = {"google": {"thought_signature": "c2ln"}}
UNSIGNED = {"google": {"thought_signature": "skip_thought_signature_validator"}}
SEALED = {"type": "reasoning.encrypted", "format": "google-gemini-v1", "index": 0}
BLOCKS = [SEALED | {"data": "x", "id": "theirs 1"}, SEALED | {"data": "y", "id": "theirs 2"}]

FLAT = {"name": "list_directory", "description": "Lists."}
TOOLS: dict[str, list[Any]] = {
    "chat/completions": [LIST],
    "messages": [FLAT | {"input_schema": PATH}],
    "responses": [{"type": "function", "parameters": PATH, **FLAT}],
}
# The ids of calls in a reply, whole or streamed.
IDS = {"chat/completions": r'"id": ?"(call_\w+)"', "messages": r'"(toolu_\w+)"', "responses": r'"call_id": ?"(\w+)"'}


def calling(**signed: Any) -> list[Step]:
    function = {"name": "list_directory", "arguments": ARGUMENTS}
    calls = [{"index": place, "id": f"theirs {place + 1}", "function": function} for place in (0, 1)]
    calls[0]["extra_content"] = signed.pop("extra", None)
    lines = [
        {"choices": [{"delta": {"tool_calls": calls, **signed}}]},
        {"choices": [{"delta": {}, "finish_reason": "tool_calls"}]},
    ]
    return [HEAD, chunk(b"".join(b"data: " + orjson.dumps(line) + b"\n\n" for line in lines)), LAST_CHUNK]


def of_chat(ids: list[str]) -> dict[str, Any]:
    function = {"name": "list_directory", "arguments": ARGUMENTS}
    calls = [{"id": one, "type": "function", "function": function} for one in ids]
    results = [{"role": "tool", "tool_call_id": one, "content": "empty"} for one in ids]
    more = [{"role": "assistant", "content": None, "tool_calls": calls}] if ids else []
    return {"messages": [FOLDER, *more, *results]}


def of_messages(ids: list[str]) -> dict[str, Any]:
    calls = [{"type": "tool_use", "id": one, "name": "list_directory", "input": {"path": "."}} for one in ids]
    results = [{"type": "tool_result", "tool_use_id": one, "content": "empty"} for one in ids]
    more = [{"role": "assistant", "content": calls}, {"role": "user", "content": results}] if ids else []
    return {"max_tokens": 99, "messages": [FOLDER, *more]}


def of_responses(ids: list[str]) -> dict[str, Any]:
    call = {"type": "function_call", "name": "list_directory", "arguments": ARGUMENTS}
    results = [{"type": "function_call_output", "call_id": one, "output": "empty"} for one in ids]
    return {"input": [FOLDER, *(call | {"call_id": one} for one in ids), *results]}


WRITTEN = {"chat/completions": of_chat, "messages": of_messages, "responses": of_responses}


async def ask(program: Program, path: str, stream: bool, ids: list[str], model: str = "made/m") -> list[str]:
    """Ask with these calls in the history; returns the ids of the calls in the reply."""
    body = {"model": model, "stream": stream, "tools": TOOLS[path], **WRITTEN[path](ids)}
    headers = {"Authorization": f"Bearer {program.key}"}
    reply: Any = await AsyncClient().post(f"/v1/{path}", body, content_type="application/json", headers=headers)
    text = b"".join([part async for part in reply.streaming_content] if reply.streaming else [reply.content]).decode()
    assert reply.status_code == 200, text
    return list(dict.fromkeys(re.findall(IDS[path], text)))


def calls_of(body: Any) -> Any:
    [asked] = [message for message in body["messages"] if message.get("tool_calls")]
    return asked


@pytest.mark.asyncio
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("path", TOOLS)
async def test_blocks_of_openrouter(program: Program, path: str, stream: bool) -> None:
    async with scripted(calling(reasoning_details=BLOCKS), says({"content": "Fine."})) as server:
        await in_database(row)(server, "openrouter", {"tools": True})
        ids = await ask(program, path, stream, [])
        assert len(ids) == 2
        await ask(program, path, stream, ids)
        asked = calls_of(server.bodies[1])
    sent = [call["id"] for call in asked["tool_calls"]]
    assert asked["reasoning_details"] == [block | {"id": own} for block, own in zip(BLOCKS, sent, strict=True)]


@pytest.mark.asyncio
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("path", TOOLS)
async def test_a_signature_of_google(program: Program, path: str, stream: bool) -> None:
    name = "made/gemini-3-pro"
    async with scripted(calling(extra=GOOGLES), says({"content": "Fine."}), says({"content": "Fine."})) as server:
        await in_database(row)(server, "gemini", {"tools": True})
        await in_database(ModelProfile.objects.update)(name="gemini-3-pro")
        ids = await ask(program, path, stream, [], name)
        await ask(program, path, stream, ids, name)
        await ask(program, path, stream, [f"{one}x" for one in ids], name)
    own, unknown = ([call.get("extra_content") for call in calls_of(body)["tool_calls"]] for body in server.bodies[1:])
    assert own == [GOOGLES, None]
    assert unknown == [UNSIGNED, None]


def gemini(server: Scripted, name: str) -> int:
    """A model of one name, at the server `name`."""
    row = ServerFactory(name=name, kind="gemini", base_url=server.endpoint().base_url)
    profile = ModelProfileFactory(server=row, name="gemini-3-pro")
    overrides.add(NewOverride(profile.pk, "tools", True, "declared"))
    return int(profile.pk)


@pytest.mark.asyncio
@pytest.mark.parametrize("path", TOOLS)
async def test_another_server_gets_no_signature_of_a_model_of_the_same_name(program: Program, path: str) -> None:
    """A server refuses signatures of another one, and must not get another one's reasoning."""
    async with scripted(calling(extra=GOOGLES), FAILS) as first, scripted(says({"content": "Fine."})) as second:
        one, two = await in_database(gemini)(first, "one"), await in_database(gemini)(second, "two")
        ids = await ask(program, path, False, [], "one/gemini-3-pro")
        await ask(program, path, False, ids, "two/gemini-3-pro")
        await in_database(chain)(one, two)
        await ask(program, path, False, ids, "one/gemini-3-pro")
    sent = [[call.get("extra_content") for call in calls_of(body)["tool_calls"]] for body in second.bodies]
    assert sent == [[UNSIGNED, None], [UNSIGNED, None]], "asked for, and as a fallback"
    assert calls_of(first.bodies[1])["tool_calls"][0]["extra_content"] == GOOGLES


@pytest.mark.asyncio
async def test_a_server_with_another_address_or_key_gets_none(program: Program) -> None:
    """The row of a server outlives its address: a person can give it another one."""
    name, fine = "made/gemini-3-pro", says({"content": "Fine."})
    async with scripted(calling(extra=GOOGLES), fine) as server, scripted(fine) as moved:
        await in_database(row)(server, "gemini", {"tools": True})
        await in_database(ModelProfile.objects.update)(name="gemini-3-pro")
        ids = await ask(program, "messages", False, [], name)
        await in_database(Server.objects.update)(api_key=key_encryption.encrypt("another"))
        await ask(program, "messages", False, ids, name)
        await in_database(Server.objects.update)(api_key="", base_url=moved.endpoint().base_url)
        await ask(program, "messages", False, ids, name)
    for body in (server.bodies[1], moved.bodies[0]):
        assert calls_of(body)["tool_calls"][0]["extra_content"] == UNSIGNED
