"""Constrained calls through Responses and Messages, and what a server shows by refusing or dropping a schema."""

from __future__ import annotations

import json
from typing import Any

import pytest
from channels.db import database_sync_to_async as in_database
from django.test import AsyncClient

from tests.toolsupport.gateway.conftest import PATH, Program
from tests.toolsupport.gateway.test_constrained import ENFORCED, FORCED, MISFIT, WORDS, calls_in, row
from tests.toolsupport.providers.scripted import Step, scripted
from toolsupport.models import ModelProfile, Override
from toolsupport.registry.knowledge import effective_values, overrides
from toolsupport.registry.knowledge.overrides import NewOverride

TOOL = {"name": "list_directory", "description": "Lists."}
BODIES: dict[str, dict[str, Any]] = {
    "/v1/responses": {"input": "Hi", "tools": [{"type": "function", **TOOL, "parameters": PATH}]},
    "/v1/messages": {
        "messages": [{"role": "user", "content": "Hi"}],
        "tools": [{**TOOL, "input_schema": PATH}],
        "max_tokens": 500,
    },
}
REQUIRED: dict[str, list[Any]] = {
    "/v1/responses": [{"type": "function", "name": "list_directory"}, "required"],
    "/v1/messages": [{"type": "tool", "name": "list_directory"}, {"type": "any"}],
}
CODE = {"type": "object", "properties": {"path": {"type": "string", "pattern": "^[a-z.]{1,9}$"}}, "required": ["path"]}
NAMED = {"type": "function", "function": {"name": "list_directory", "description": "Lists.", "parameters": CODE}}
BY_PATTERN = b'{"error": "the grammar of the pattern cannot be parsed"}'
REFUSED: list[Step] = [
    b"HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(BY_PATTERN)
    + BY_PATTERN
]


async def post(program: Program, path: str, **more: Any) -> Any:
    headers = {"Authorization": f"Bearer {program.key}"}
    body = {"model": "made/m", **BODIES[path], **more}
    return await AsyncClient().post(path, body, content_type="application/json", headers=headers)


def made(answer: Any) -> list[dict[str, Any]]:
    assert answer.status_code == 200, answer.content
    read = answer.json()
    calls = [one for one in read.get("output") or read["content"] if one["type"] in ("function_call", "tool_use")]
    return [one.get("input") or json.loads(one["arguments"]) for one in calls]


@pytest.mark.asyncio
@pytest.mark.parametrize("path", BODIES)
async def test_the_retry_is_constrained_in_each_api(program: Program, path: str) -> None:  # K3, K6
    async with scripted(MISFIT, FORCED) as server:
        await in_database(row)(server, "llamacpp", ENFORCED)
        answer = await post(program, path)
        first, second = server.bodies
    assert made(answer) == [{"path": "."}]
    assert (answer.headers["X-Toolsupport-Forced"], answer.headers["X-Toolsupport-Retries"]) == ("retry", "1")
    assert ("tools" in first, "tools" in second, "response_format" in second) == (True, False, True)


@pytest.mark.asyncio
@pytest.mark.parametrize("path", BODIES)
@pytest.mark.parametrize("named", [0, 1])
async def test_a_required_call_is_constrained_in_each_api(program: Program, path: str, named: int) -> None:  # K4
    async with scripted(FORCED) as server:
        await in_database(row)(server, "llamacpp", ENFORCED)
        answer = await post(program, path, tool_choice=REQUIRED[path][named])
        [body] = server.bodies
    assert made(answer) == [{"path": "."}]
    assert (answer.headers["X-Toolsupport-Forced"], "response_format" in body) == ("required", True)


@pytest.mark.asyncio
@pytest.mark.parametrize("path", BODIES)
async def test_a_call_that_never_comes_is_a_422_in_each_api(program: Program, path: str) -> None:  # K4
    async with scripted(WORDS, WORDS, WORDS) as server:
        await in_database(row)(server, "llamacpp", ENFORCED)
        answer = await post(program, path, tool_choice=REQUIRED[path][0])
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "tool_choice_not_met")


def measured(name: str, value: Any) -> None:
    """Let a test have found this, in place of the person's decision."""
    profile = ModelProfile.objects.get(name="m")
    overrides.measure(NewOverride(profile.pk, name, value, "auto_detected", reason="Tested."))


def held(name: str) -> tuple[Any, str]:
    found = effective_values.known(ModelProfile.objects.select_related("server").get(name="m"))[name]
    return found.value, found.source


@pytest.mark.asyncio
async def test_a_server_that_refuses_patterns_is_asked_without(program: Program) -> None:  # K1
    async with scripted(REFUSED, FORCED) as server:
        await in_database(row)(server, "llamacpp", ENFORCED)
        answer = await program.ask("made/m", tools=[NAMED], tool_choice="required")
        first, second = server.bodies
    assert calls_in(answer) == [{"path": "."}]
    sent = [json.dumps(body["response_format"]) for body in (first, second)]
    assert ["pattern" in text for text in sent] == [True, False]
    assert await in_database(held)("constrains_patterns") == (False, "auto_detected")


@pytest.mark.asyncio
async def test_a_reply_that_shows_no_constraint_lowers_the_capability(program: Program) -> None:  # K1
    async with scripted(WORDS, WORDS, WORDS, WORDS) as server:
        await in_database(row)(server, "llamacpp", {"tools": True})
        await in_database(measured)("constrains", "enforced")
        assert await in_database(held)("constrains") == ("enforced", "auto_detected")
        answer = await program.ask("made/m", tool_choice="required")
        assert answer.status_code == 422
    assert await in_database(held)("constrains") == ("accepted", "auto_detected")
    rows = Override.objects.filter(capability="constrains", value="accepted")
    [reason] = await in_database(lambda: list(rows.values_list("reason", flat=True)))()
    assert "I would rather talk." in reason


@pytest.mark.asyncio
async def test_what_a_person_decided_about_schemas_stays(program: Program) -> None:  # K1
    async with scripted(WORDS, WORDS, WORDS) as server:
        await in_database(row)(server, "llamacpp", ENFORCED)
        await program.ask("made/m", tool_choice="required")
    assert await in_database(held)("constrains") == ("enforced", "user_confirmed")
