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
