"""A `response_format` beside tools: calls stay free, an answer without a call gets the format, in all three APIs."""

from __future__ import annotations

import json
from typing import Any

import pytest
from channels.db import database_sync_to_async as in_database
from django.test import AsyncClient

from tests.tables import every
from tests.toolsupport.gateway.conftest import FOLDER, LIST, PATH, Program
from tests.toolsupport.gateway.test_constrained import native, row, says
from tests.toolsupport.providers.scripted import Step, scripted
from toolsupport.gateway.formatted_answers import fits

SCHEMA = {
    "type": "object",
    "properties": {"files": {"type": "array", "items": {"type": "string"}}},
    "required": ["files"],
    "additionalProperties": False,
}
FORM = {"type": "json_schema", "json_schema": {"name": "listing", "schema": SCHEMA, "strict": True}}
TOOL = {"name": "list_directory", "description": "Lists."}
BODIES: dict[str, dict[str, Any]] = {
    "/v1/chat/completions": {"messages": [FOLDER], "tools": [LIST], "response_format": FORM},
    "/v1/responses": {
        "input": "Hi",
        "tools": [{"type": "function", **TOOL, "parameters": PATH}],
        "text": {"format": {"type": "json_schema", "name": "listing", "schema": SCHEMA, "strict": True}},
    },
    "/v1/messages": {
        "messages": [FOLDER],
        "tools": [{**TOOL, "input_schema": PATH}],
        "max_tokens": 500,
        "output_config": {"format": {"type": "json_schema", "schema": SCHEMA}},
    },
}
PROSE = says({"content": "There is a file called config.json."})
LISTED = '{"files": ["config.json"]}'
FITTING = says({"content": LISTED})
CALL = native('{"path": "."}')
WORDS_AND_CALL = says(
    {
        "content": "I will look.",
        "tool_calls": [{"index": 0, "id": "c1", "function": {"name": "list_directory", "arguments": '{"path": "."}'}}],
    },
    "tool_calls",
)


async def asked(program: Program, path: str, **more: Any) -> tuple[Any, str]:
    """The answer of an API, with its body."""
    headers = {"Authorization": f"Bearer {program.key}"}
    body = {"model": "made/m", **BODIES[path], **more}
    answer: Any = await AsyncClient().post(path, body, content_type="application/json", headers=headers)
    if answer.streaming:
        return answer, b"".join([piece async for piece in answer.streaming_content]).decode()
    return answer, answer.content.decode()


def texts(body: str) -> list[str]:
    """Every text that stands in an object of the body, at any depth."""
    lines = [line.removeprefix("data: ") for line in body.splitlines() if line.startswith("data: {")] or [body]
    found: list[str] = []
    waiting: list[Any] = [json.loads(line) for line in lines]
    while waiting:
        node = waiting.pop()
        waiting += node.values() if isinstance(node, dict) else node if isinstance(node, list) else []
        found += [node] if isinstance(node, str) else []
    return found


@pytest.mark.asyncio
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("path", BODIES)
async def test_an_answer_that_does_not_fit_is_written_again(program: Program, path: str, stream: bool) -> None:  # K6
    async with scripted(PROSE, FITTING) as server:
        await in_database(row)(server, "llamacpp", {"tools": True})
        answer, body = await asked(program, path, stream=stream)
        first, second = server.bodies
    assert answer.status_code == 200, body
    assert ("tools" in first, "response_format" in first) == (True, False)
    assert ("tools" in second, second["response_format"]["type"]) == (False, "json_schema")
    assert second["response_format"]["json_schema"]["schema"] == SCHEMA
    assert [message["role"] for message in second["messages"]][-2:] == ["assistant", "user"]
    assert second["messages"][-2]["content"] == "There is a file called config.json."
    assert LISTED in texts(body)
    assert "There is a file" not in body
    assert answer.headers["X-Toolsupport-Response-Format"] == "separate"
    assert (answer.headers["X-Toolsupport-Format"], answer.headers["X-Toolsupport-Retries"]) == ("native", "0")


@pytest.mark.asyncio
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("path", BODIES)
@pytest.mark.parametrize("reply", [CALL, WORDS_AND_CALL], ids=["call", "words-and-call"])
async def test_a_call_is_not_held_back(program: Program, path: str, stream: bool, reply: list[Step]) -> None:  # K6
    async with scripted(reply) as server:
        await in_database(row)(server, "llamacpp", {"tools": True})
        answer, body = await asked(program, path, stream=stream)
        [sent] = server.bodies
    assert answer.status_code == 200, body
    assert ("tools" in sent, "response_format" in sent) == (True, False)
    assert "list_directory" in texts(body)
    assert ("I will look." in body) == (reply is WORDS_AND_CALL)


@pytest.mark.asyncio
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("path", BODIES)
async def test_an_answer_that_fits_needs_no_second_request(program: Program, path: str, stream: bool) -> None:
    async with scripted(FITTING) as server:
        await in_database(row)(server, "vllm", {"tools": True})
        _, body = await asked(program, path, stream=stream)
        [sent] = server.bodies
    assert "response_format" not in sent
    assert LISTED in texts(body)


@pytest.mark.asyncio
@pytest.mark.parametrize("path", BODIES)
async def test_openai_gets_both_in_one_request(program: Program, path: str) -> None:
    async with scripted(PROSE) as server:
        await in_database(row)(server, "openai.com", {"tools": True})
        answer, body = await asked(program, path)
        [sent] = server.bodies
    assert (sent["response_format"], len(sent["tools"])) == ({**FORM, "json_schema": sent_schema(sent)}, 1)
    assert answer.headers["X-Toolsupport-Response-Format"] == "sent"
    assert "There is a file called config.json." in body


def sent_schema(body: dict[str, Any]) -> dict[str, Any]:
    """The schema of a body, whose name and `strict` depend on the API that it came through."""
    named: dict[str, Any] = body["response_format"]["json_schema"]
    assert named["schema"] == SCHEMA
    return named


@pytest.mark.asyncio
@pytest.mark.parametrize("path", BODIES)
async def test_a_server_without_schemas_is_named(program: Program, path: str) -> None:
    async with scripted(PROSE) as server:
        await in_database(row)(server, "deepseek", {"tools": True})
        answer, _ = await asked(program, path)
        [sent] = server.bodies
    assert "response_format" not in sent
    assert answer.headers["X-Toolsupport-Response-Format"] == "left_out"


@pytest.mark.asyncio
async def test_calls_in_text_are_not_forced_into_the_format(program: Program) -> None:  # K6
    called = says({"content": '<tool_call>\n{"name": "list_directory", "arguments": {"path": "."}}\n</tool_call>'})
    async with scripted(called) as server:
        await in_database(row)(server, "openai.com", {"tools": False, "format": "hermes"})
        answer, body = await asked(program, "/v1/chat/completions")
        [sent] = server.bodies
    assert "response_format" not in sent
    assert "list_directory" in texts(body)
    assert answer.headers["X-Toolsupport-Response-Format"] == "separate"


@pytest.mark.asyncio
async def test_what_becomes_of_the_format_is_in_the_last_piece(program: Program) -> None:
    async with scripted(PROSE, FITTING) as server:
        await in_database(row)(server, "llamacpp", {"tools": True})
        _, body = await asked(program, "/v1/chat/completions", stream=True)
    [last] = [json.loads(line[6:]) for line in body.splitlines() if "x_toolsupport" in line]
    assert (last["x_toolsupport"]["response_format"], last["x_toolsupport"]["format"]) == ("separate", "native")


@pytest.mark.asyncio
async def test_a_cut_answer_is_not_asked_for_again(program: Program) -> None:
    async with scripted(says({"content": '{"files": ["conf'}, "length")) as server:
        await in_database(row)(server, "llamacpp", {"tools": True})
        _, body = await asked(program, "/v1/chat/completions")
        assert len(server.bodies) == 1
    assert json.loads(body)["choices"][0]["finish_reason"] == "length"


@every(
    ("text", "form", "expected"),
    [
        (LISTED, FORM, True),
        ('{"files": "config.json"}', FORM, False),
        ('{"files": [], "files": []}', FORM, False),
        (f"```json\n{LISTED}\n```", FORM, False),
        ("", FORM, False),
        ("[" * 100_000, FORM, False),
        (f'{{"files": ["{"a" * 2_000_000}"]}}', FORM, False),
        ("[1, 2]", {"type": "json_schema", "json_schema": {"schema": {"type": "array"}}}, True),
        ("{}", {"type": "json_object"}, True),
        ("[]", {"type": "json_object"}, False),
        ("{}", {"type": "json_schema", "json_schema": {"schema": {"type": "banana"}}}, False),
    ],
)
def test_what_fits(text: str, form: dict[str, Any], expected: bool) -> None:
    assert fits(text, form) is expected
