"""A program over its quota is refused in the shape of its API, and a failed request costs nothing."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from channels.db import database_sync_to_async as in_database
from django.test import AsyncClient

from tests.factories import ModelProfileFactory, ServerFactory
from tests.toolsupport.gateway.conftest import Program
from tests.toolsupport.providers.scripted import scripted
from toolsupport.core.quota_rules import Quota
from toolsupport.gateway import answer_runner
from toolsupport.registry.people import quota_use, quotas

pytestmark = pytest.mark.asyncio
Knows = Callable[..., Any]
TURN = [{"role": "user", "content": "Hello"}]
BODIES: dict[str, dict[str, Any]] = {
    "/v1/chat/completions": {"messages": TURN},
    "/v1/responses": {"input": "Hello"},
    "/v1/messages": {"messages": TURN, "max_tokens": 50},
    "/v1/embeddings": {"input": "Hello"},
}


async def sent(program: Program, path: str, **fields: Any) -> Any:
    headers = {"Authorization": f"Bearer {program.key}"}
    return await AsyncClient().post(path, BODIES[path] | fields, content_type="application/json", headers=headers)


async def limit(program: Program, quota: Quota) -> None:
    await in_database(quotas.put)("person", str(program.person.pk), quota)


def used(program: Program) -> dict[str, int]:
    [subject] = quotas.limited(program.person.pk)
    return {share.name: share.used for share in quota_use.shares(subject)}


@pytest.mark.parametrize("path", sorted(BODIES))
async def test_a_used_up_quota_is_a_429_of_each_api(program: Program, knows: Knows, path: str) -> None:  # P5
    model = "sim-embed" if path.endswith("embeddings") else "sim-honest"
    await knows(model)
    await limit(program, Quota(requests_day=1))
    first = await sent(program, path, model=model)
    assert first.status_code == 200, first.content
    refused = await sent(program, path, model=model, stream=True)
    error = json.loads(refused.content)["error"]
    assert (refused.status_code, error["code"], error["type"]) == (429, "insufficient_quota", "rate_limit_error")
    assert error["message"].startswith("Your quota is used up: 1 request per day.")
    assert 0 < int(refused.headers["Retry-After"]) <= 86_400
    assert refused.headers["x-should-retry"] == "false" and "x-toolsupport-answers-limit" in refused.headers
    assert (json.loads(refused.content).get("type") == "error") == (path == "/v1/messages")


async def test_tokens_of_both_directions_count(program: Program, knows: Knows) -> None:  # P5
    await knows("sim-honest")
    await limit(program, Quota(tokens_day=1))
    usage = json.loads((await sent(program, "/v1/chat/completions", model="sim-honest")).content)["usage"]
    assert (await in_database(used)(program))["tokens_day"] == usage["prompt_tokens"] + usage["completion_tokens"] > 1
    assert (await sent(program, "/v1/chat/completions", model="sim-honest")).status_code == 429


@pytest.mark.parametrize("path", sorted(set(BODIES) - {"/v1/embeddings"}))
async def test_a_stream_that_is_cut_counts_its_tokens(program: Program, knows: Knows, path: str) -> None:  # P5
    await knows("sim-honest")
    await limit(program, Quota(tokens_day=1))
    answer = await sent(program, path, model="sim-honest", stream=True)
    pieces = answer._iterator
    while b"delta" not in await anext(pieces):
        pass
    await pieces.aclose()
    async with asyncio.timeout(10):
        while not (await in_database(used)(program))["tokens_day"]:
            pass
    assert (await sent(program, path, model="sim-honest")).status_code == 429


@pytest.mark.parametrize("path", sorted(set(BODIES) - {"/v1/embeddings"}))
async def test_a_program_that_leaves_at_the_end_of_a_stream_is_counted(
    program: Program, knows: Knows, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:  # P5
    """Most programs close the connection when they have read the end, which cancels what the request still does."""
    await knows("sim-honest")
    await limit(program, Quota(tokens_day=9_000))
    begun, may_end, settle = asyncio.Event(), asyncio.Event(), answer_runner.settle

    async def slow(*given: Any, **named: Any) -> None:
        begun.set()
        await may_end.wait()
        await settle(*given, **named)

    monkeypatch.setattr(answer_runner, "settle", slow)
    answer = await sent(program, path, model="sim-honest", stream=True)
    pieces = answer._iterator
    while not begun.is_set():
        await anext(pieces)
        await asyncio.sleep(0)
    await pieces.aclose()
    may_end.set()
    async with asyncio.timeout(10):
        while not (counted := (await in_database(used)(program))["tokens_day"]):
            pass
    assert counted > 1


HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
ROLE = b'data: {"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]}\n\n'
WORDS = b'data: {"choices": [{"index": 0, "delta": {"content": "Hi there, Ana"}}]}\n\n'
THOUGHT = b'data: {"choices": [{"index": 0, "delta": {"reasoning_content": "Hm, well then"}}]}\n\n'
FAULT = b'data: {"error": {"message": "out of memory", "code": 500}}\n\n'
UNAUTHORIZED = b"HTTP/1.1 401 Unauthorized\r\ncontent-length: 2\r\n\r\n{}"
FAILURES = [(b"", 0), (UNAUTHORIZED, 0), (HEAD + ROLE, 0), (HEAD + ROLE + FAULT, 0)]
FAILURES += [(HEAD + WORDS, 1), (HEAD + WORDS + FAULT, 1), (HEAD + THOUGHT + FAULT, 1)]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("path", sorted(set(BODIES) - {"/v1/embeddings"}))
async def test_a_failure_counts_once_the_model_wrote(program: Program, path: str, stream: bool) -> None:  # P5
    await limit(program, Quota(requests_day=99, tokens_day=9_000))
    before = {"requests_day": 0, "tokens_day": 0}
    async with scripted([b""]) as server:
        await in_database(broken)(server.port)
        for bytes_sent, counted in FAILURES:
            server.answers = [[bytes_sent]]
            answer = await sent(program, path, model="made/m", stream=stream)
            if answer.streaming:
                assert b"error" in b"".join([piece async for piece in answer.streaming_content])
            now = await in_database(used)(program)
            assert now["requests_day"] - before["requests_day"] == counted, bytes_sent
            assert (now["tokens_day"] > before["tokens_day"]) == bool(counted), bytes_sent
            before = now


async def test_a_server_that_counts_no_tokens_of_embeddings_has_them_estimated(program: Program) -> None:  # P5
    await limit(program, Quota(tokens_day=9_000))
    body = b'{"data": [{"index": 0, "embedding": [0.5]}]}'
    async with scripted([b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(body) + body]) as server:
        await in_database(broken)(server.port)
        for given, tokens in (("a" * 400, 100), (list(range(7)), 107)):
            assert (await sent(program, "/v1/embeddings", model="made/m", input=given)).status_code == 200
            assert (await in_database(used)(program))["tokens_day"] == tokens


def broken(port: int) -> None:
    ModelProfileFactory(server=ServerFactory(name="made", kind="openai", base_url=f"http://127.0.0.1:{port}"), name="m")


@pytest.mark.parametrize("path", sorted(BODIES))
async def test_what_fails_before_an_answer_is_not_counted(program: Program, path: str) -> None:  # P5
    await limit(program, Quota(requests_day=1))
    async with scripted([b"HTTP/1.1 404 Not Found\r\ncontent-length: 2\r\n\r\n{}"]) as server:
        await in_database(broken)(server.port)
        failed = [await sent(program, path, model="made/m"), await sent(program, path, model="made/m")]
    assert [answer.status_code for answer in failed] == [failed[0].status_code] * 2 != [429] * 2
    assert (await sent(program, path, model="no/such")).status_code == 404
    assert (await in_database(used)(program))["requests_day"] == 0
