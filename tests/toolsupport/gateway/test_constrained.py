"""Calls that cannot be malformed: retries and required calls are constrained where the server enforces a schema."""

from __future__ import annotations

import json
from typing import Any

import orjson
import pytest
from channels.db import database_sync_to_async as in_database

from tests.factories import ModelProfileFactory, ServerFactory, UserFactory
from tests.toolsupport.gateway.conftest import LIST, Program
from tests.toolsupport.providers.scripted import LAST_CHUNK, Scripted, Step, chunk, scripted
from toolsupport.models import ModelProfile
from toolsupport.registry.knowledge import effective_values, overrides
from toolsupport.registry.knowledge.overrides import NewOverride
from toolsupport.registry.settings import switches

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


def says(delta: dict[str, Any], finish: str = "stop") -> list[Step]:
    lines = [{"choices": [{"delta": delta}]}, {"choices": [{"delta": {}, "finish_reason": finish}]}]
    data = b"".join(b"data: " + orjson.dumps(line) + b"\n\n" for line in lines)
    return [HEAD, chunk(data), LAST_CHUNK]


def native(arguments: str) -> list[Step]:
    call = {"index": 0, "id": "c1", "function": {"name": "list_directory", "arguments": arguments}}
    return says({"tool_calls": [call]}, "tool_calls")


HERMES = '<tool_call>\n{"name": "list_directory", "arguments": {"path": "."}}\n</tool_call>'
HERMES_MISFIT = '<tool_call>\n{"name": "list_directory", "arguments": {}}\n</tool_call>'
MISFIT = native('{"way": []}')
WORDS = says({"content": "I would rather talk."})
FORCED = says({"content": '{"tool": "list_directory", "arguments": {"path": "."}}'})
# A stream that ends without its end mark.
CUT: list[Step] = [
    HEAD,
    chunk(b"data: " + orjson.dumps({"choices": [{"delta": {"content": '{"to'}}]}) + b"\n\n"),
    LAST_CHUNK,
]
REFUSED: list[Step] = [
    b"HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\ncontent-length: 33\r\n\r\n"
    b'{"error": "unknown field format"}'
]


def row(server: Scripted, kind: str, known: dict[str, Any]) -> None:
    made = ServerFactory(name="made", kind=kind, base_url=f"http://127.0.0.1:{server.port}")
    profile = ModelProfileFactory(server=made, name="m")
    for capability, value in known.items():
        overrides.add(NewOverride(profile.pk, capability, value, actor=UserFactory().pk, reason="tried it"))


def calls_in(answer: Any) -> list[dict[str, Any]]:
    assert answer.status_code == 200, answer.content
    made = answer.json()["choices"][0]["message"]["tool_calls"]
    return [json.loads(call["function"]["arguments"]) for call in made]


def constrains() -> Any:
    return effective_values.known(ModelProfile.objects.get())["constrains"].value


ENFORCED = {"tools": True, "constrains": "enforced"}


@pytest.mark.asyncio
@pytest.mark.parametrize("kind", ["llamacpp", "vllm", "openai.com"])
async def test_a_call_that_does_not_fit_is_constrained_in_the_retry(program: Program, kind: str) -> None:  # K3, K6
    async with scripted(MISFIT, FORCED) as server:
        await in_database(row)(server, kind, ENFORCED)
        answer = await program.ask("made/m")
        first, second = server.bodies
    assert calls_in(answer) == [{"path": "."}]
    assert (answer.headers["X-Toolsupport-Forced"], answer.headers["X-Toolsupport-Retries"]) == ("retry", "1")
    assert "tools" in first and "response_format" not in first
    assert "tools" not in second
    written = json.dumps(second["response_format"]["json_schema"]["schema"])
    assert "list_directory" in written and "answer" not in written
    assert all(set(message) <= {"role", "content"} for message in second["messages"])


@pytest.mark.asyncio
async def test_a_required_call_is_constrained_at_once(program: Program) -> None:  # K4
    async with scripted(FORCED) as server:
        await in_database(row)(server, "llamacpp", ENFORCED)
        answer = await program.ask("made/m", tool_choice="required")
        [body] = server.bodies
    assert calls_in(answer) == [{"path": "."}]
    assert answer.headers["X-Toolsupport-Forced"] == "required"
    assert "tools" not in body and "tool_choice" not in body
    assert body["chat_template_kwargs"] == {"enable_thinking": False}


@pytest.mark.asyncio
async def test_a_server_that_honours_a_required_call_is_asked_natively(program: Program) -> None:  # K4
    async with scripted(native('{"path": "."}')) as server:
        await in_database(row)(server, "vllm", ENFORCED)
        answer = await program.ask("made/m", tool_choice="required")
        [body] = server.bodies
    assert calls_in(answer) == [{"path": "."}]
    assert (body["tool_choice"], "response_format" in body) == ("required", False)
    assert body["tools"][0]["function"]["strict"] is True  # K5


@pytest.mark.asyncio
async def test_a_model_without_tools_makes_a_required_call(program: Program) -> None:  # K4
    async with scripted(FORCED) as server:
        await in_database(row)(server, "llamacpp", {"tools": False, "format": False, "constrains": "enforced"})
        answer = await program.ask("made/m", tool_choice={"type": "function", "function": {"name": "list_directory"}})
    assert calls_in(answer) == [{"path": "."}]


@pytest.mark.asyncio
@pytest.mark.parametrize(("last", "status"), [(FORCED, 200), (CUT, 422)])
async def test_a_constrained_reply_that_is_cut_is_tried_again(
    program: Program, last: list[Step], status: int
) -> None:  # G9
    async with scripted(CUT, CUT, last) as server:
        await in_database(row)(server, "llamacpp", {"tools": False, "format": False, "constrains": "enforced"})
        answer = await program.ask("made/m", tool_choice="required")
    assert answer.status_code == status, answer.content


@pytest.mark.asyncio
async def test_an_untested_server_may_show_that_it_enforces(program: Program) -> None:  # K4
    async with scripted(WORDS, FORCED) as server:
        await in_database(row)(server, "llamacpp", {"tools": True})
        answer = await program.ask("made/m", tool_choice="required")
    assert calls_in(answer) == [{"path": "."}]


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("known", "second"),
    [
        ({"tools": True}, WORDS),
        ({"tools": True}, REFUSED),
        ({"tools": True, "constrains": "accepted"}, WORDS),
        (ENFORCED, WORDS),
        (ENFORCED, REFUSED),
        (ENFORCED, CUT),
    ],
)
async def test_a_call_that_never_comes_is_no_failure_of_the_server(
    program: Program, known: dict[str, Any], second: list[Step]
) -> None:  # K4
    async with scripted(WORDS, second, WORDS) as server:
        await in_database(row)(server, "llamacpp", known)
        answer = await program.ask("made/m", tool_choice="required")
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "tool_choice_not_met")


TOO_LARGE: list[Step] = [
    b"HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\ncontent-length: 32\r\n\r\n"
    b'{"error": "schema is too large"}'
]
GOOD = native('{"path": "."}')
HELD = {"tools": False, "format": "forced_json", "constrains": "enforced"}


def refusing(status: int, body: str) -> list[Step]:
    head = f"HTTP/1.1 {status} No\r\ncontent-type: application/json\r\ncontent-length: {len(body.encode())}\r\n\r\n"
    return [head.encode() + body.encode()]


REFUSALS = {
    "too large": refusing(400, '{"error": "schema is too large"}'),
    "an unknown field": refusing(400, '{"error": {"message": "Unrecognized request argument"}}'),
    "a grammar": refusing(500, '{"error": {"message": "failed to parse grammar", "code": 500}}'),
    "validation": refusing(422, '{"detail": [{"loc": ["body", "x"], "msg": "Extra inputs are not permitted"}]}'),
    "no words": refusing(400, ""),
    "not implemented": refusing(501, "not implemented"),
}


async def whole(answer: Any, stream: bool) -> str:
    assert answer.status_code == 200, answer.content
    data = b"".join([piece async for piece in answer.streaming_content]) if stream else answer.content
    return str(data.decode())


@pytest.mark.asyncio
@pytest.mark.parametrize("kind", ["llamacpp", "ollama", "openai.com"])
@pytest.mark.parametrize("choice", ["auto", "required"])
async def test_a_refused_schema_is_sent_in_a_simpler_form(program: Program, kind: str, choice: str) -> None:  # K2, K4
    good = FORCED if kind != "ollama" else SIMPLE_OLLAMA
    async with scripted(REFUSALS["too large"], good) as server:
        await in_database(row)(server, kind, HELD)
        answer = await program.ask("made/m", tool_choice=choice)
        first, second = (body.get("format") or body["response_format"] for body in server.bodies)
    assert calls_in(answer) == [{"path": "."}]
    assert answer.headers["X-Toolsupport-Format"] == "forced_json"
    assert "list_directory" in json.dumps(second) and '"path"' in json.dumps(first)
    assert '"path"' not in json.dumps(second) and len(json.dumps(second)) < len(json.dumps(first))


SIMPLE_OLLAMA: list[Step] = [
    b"HTTP/1.1 200 OK\r\ncontent-type: application/x-ndjson\r\ntransfer-encoding: chunked\r\n\r\n",
    chunk(
        orjson.dumps({"message": {"content": '{"tool": "list_directory", "arguments": {"path": "."}}'}, "done": False})
        + b"\n"
        + orjson.dumps({"message": {"content": ""}, "done": True, "done_reason": "stop"})
        + b"\n"
    ),
    LAST_CHUNK,
]


@pytest.mark.asyncio
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("choice", ["auto", "required"])
@pytest.mark.parametrize("refusal", REFUSALS)
async def test_a_model_that_needs_the_refused_schema_writes_text(
    program: Program, refusal: str, choice: str, stream: bool
) -> None:  # K2, K4
    no = REFUSALS[refusal]
    async with scripted(no, no, says({"content": HERMES})) as server:
        await in_database(row)(server, "llamacpp", HELD)
        answer = await program.ask("made/m", tool_choice=choice, stream=stream)
        text = await whole(answer, stream)
        bodies = server.bodies
    assert "list_directory" in text and "tool_calls" in text
    assert ["response_format" in body for body in bodies] == [True, True, False]
    assert "tools" not in bodies[-1] and "<tool_call>" in json.dumps(bodies[-1]["messages"])
    said = json.loads([line for line in text.split("\n") if "x_toolsupport" in line][-1].removeprefix("data: "))
    facts = said["x_toolsupport"]
    assert (facts["format"], facts["forced"], facts["tools_left_out"]) == ("hermes", None, None)
    assert "refused the schema" in facts["format_reason"] and "hermes" in facts["format_reason"].casefold()
    assert "127.0.0.1" not in facts["format_reason"]  # the server's words, without its address
    if not stream:
        assert answer.headers["X-Toolsupport-Format-Reason"].startswith("Its server refused the schema")
    assert await in_database(constrains)() == "enforced"


@pytest.mark.asyncio
async def test_a_refusal_for_another_reason_is_that_of_the_request(program: Program) -> None:  # K2
    async with scripted(refusing(400, '{"error": "image input is not supported"}')) as server:
        await in_database(row)(server, "llamacpp", HELD)
        answer = await program.ask("made/m")
        assert len(server.bodies) == 1
    assert answer.status_code == 400 and b"image input" in answer.content


@pytest.mark.asyncio
async def test_a_required_call_is_asked_for_in_text_where_its_schema_is_ignored(program: Program) -> None:  # K4
    async with scripted(WORDS, says({"content": HERMES})) as server:
        await in_database(row)(server, "llamacpp", HELD)
        answer = await program.ask("made/m", tool_choice="required")
        first, second = server.bodies
    assert calls_in(answer) == [{"path": "."}]
    assert ("response_format" in first, "response_format" in second) == (True, False)
    assert answer.headers["X-Toolsupport-Format"] == "hermes" and "X-Toolsupport-Forced" not in answer.headers


@pytest.mark.asyncio
@pytest.mark.parametrize("choice", ["auto", "required"])
@pytest.mark.parametrize(
    ("known", "plain"), [({"tools": True}, GOOD), ({"tools": False, "format": "hermes"}, says({"content": HERMES}))]
)
async def test_a_refused_schema_is_left_out(
    program: Program, known: dict[str, Any], plain: list[Step], choice: str
) -> None:  # K3
    misfit = MISFIT if known["tools"] else says({"content": HERMES_MISFIT})
    first = [TOO_LARGE] if choice == "required" else [misfit]
    async with scripted(*first, TOO_LARGE, plain) as server:
        await in_database(row)(server, "llamacpp", {**known, "constrains": "enforced"})
        answer = await program.ask("made/m", tool_choice=choice)
        *_, refused, last = server.bodies
    assert calls_in(answer) == [{"path": "."}]
    assert ("tools" in refused, "response_format" in refused) == (False, True)
    assert ("tools" in last, "response_format" in last) == (known["tools"], False)
    assert "X-Toolsupport-Forced" not in answer.headers
    assert answer.headers["X-Toolsupport-Format"] == ("native" if known["tools"] else "hermes")
    assert await in_database(constrains)() == "enforced"  # it shows nothing of smaller ones


@pytest.mark.asyncio
@pytest.mark.parametrize("stream", [False, True])
async def test_a_constrained_retry_that_is_cut_is_tried_again(program: Program, stream: bool) -> None:  # K3
    async with scripted(MISFIT, CUT, FORCED) as server:
        await in_database(row)(server, "llamacpp", ENFORCED)
        answer = await program.ask("made/m", stream=stream)
        text = b"".join([piece async for piece in answer.streaming_content]) if stream else answer.content
        assert len(server.bodies) == 3
    assert answer.status_code == 200 and rb"{\"path\":\".\"}" in text, text


@pytest.mark.asyncio
async def test_the_team_may_turn_it_off(program: Program) -> None:  # K10
    await in_database(switches.put)({"force": "off"})
    async with scripted(MISFIT, native('{"path": "."}')) as server:
        await in_database(row)(server, "llamacpp", ENFORCED)
        answer = await program.ask("made/m")
        bodies = server.bodies
    assert calls_in(answer) == [{"path": "."}]
    assert "X-Toolsupport-Forced" not in answer.headers
    assert all("tools" in body and "response_format" not in body for body in bodies)


@pytest.mark.asyncio
async def test_a_format_of_a_program_is_never_beside_native_tools(program: Program) -> None:  # K6
    async with scripted(native('{"path": "."}')) as server:
        await in_database(row)(server, "openai", {"tools": True})
        await program.ask("made/m", tools=[LIST], response_format={"type": "json_object"})
        [body] = server.bodies
    assert "tools" in body and "response_format" not in body
