"""From a program through the whole site to a simulated model and back."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.toolsupport.gateway.conftest import FOLDER, LIST, Program, pieces
from tests.toolsupport.providers.scripted import DONE, FINE, HEAD, LAST_CHUNK, answer, chunk, scripted
from toolsupport.models import Server

pytestmark = pytest.mark.asyncio
Knows = Callable[..., Any]

# The simulated model that writes its calls as text → the format in which it does.
LANGUAGES = {
    "sim-hermes": "hermes",
    "sim-mistral": "mistral",
    "sim-pythonic": "pythonic",
    "sim-json": "pure_json",
    "sim-llama3-json": "llama3_json",
    "sim-qwen3-coder-xml": "qwen3_coder_xml",
    "sim-broken-json": "hermes",
}


@pytest.mark.parametrize("kind", ["simulator", "vllm"])
async def test_two_rounds_of_a_native_model(program: Program, knows: Knows, kind: str) -> None:  # G1
    await knows("sim-honest", kind, tools=True)
    answer = await program.ask("box/sim-honest")
    body = answer.json()
    [choice] = body["choices"]
    [call] = choice["message"]["tool_calls"]
    assert (choice["finish_reason"], call["function"]["name"]) == ("tool_calls", "list_directory")
    assert json.loads(call["function"]["arguments"]) == {"path": "."}
    assert answer.headers["X-Toolsupport-Format"] == "native" and body["usage"]["prompt_tokens"] > 0
    result = {"role": "tool", "tool_call_id": call["id"], "content": "config.json"}
    last = (await program.ask("sim-honest", messages=[FOLDER, choice["message"], result])).json()["choices"][0]
    assert last["finish_reason"] == "stop" and "config.json" in last["message"]["content"]


@pytest.mark.parametrize("kind", ["simulator", "vllm"])
async def test_a_stream_grows_into_the_same_call(program: Program, knows: Knows, kind: str) -> None:  # G1
    await knows("sim-honest", kind, tools=True)
    objects = pieces(await program.stream("box/sim-honest", stream_options={"include_usage": True}))
    deltas = [piece["choices"][0]["delta"] for piece in objects if piece["choices"]]
    calls = [call for delta in deltas for call in delta.get("tool_calls", [])]
    assert deltas[0]["role"] == "assistant" and calls[0]["function"]["name"] == "list_directory"
    assert json.loads("".join(call["function"]["arguments"] for call in calls)) == {"path": "."}
    assert [bool(call.get("id")) for call in calls] == [True, *[False] * (len(calls) - 1)]
    assert objects[-2]["choices"][0]["finish_reason"] == "tool_calls"
    assert objects[-2]["x_toolsupport"]["format"] == "native"
    assert objects[-1]["choices"] == [] and objects[-1]["usage"]["total_tokens"] > 0
    assert all(piece["usage"] is None for piece in objects[:-1])


async def test_a_decided_yes_is_kept_where_the_server_refuses_native_tools(program: Program, knows: Knows) -> None:
    # K4: nothing is known of text formats, and its server lacks the flags, or refuses.
    for name in ("sim-hermes", "sim-misconfigured"):
        await knows(name, tools=True)
        answer = await program.ask(name)
        assert answer.headers["X-Toolsupport-Format"] == "hermes", answer.content
        assert "X-Toolsupport-Tools-Left-Out" not in answer.headers
    await knows("sim-refuses", tools=True, format=False)
    answer = await program.ask("sim-refuses")
    assert answer.headers["X-Toolsupport-Tools-Left-Out"] == "refused"


@pytest.mark.parametrize("choice", ["required", {"type": "function", "function": {"name": "list_directory"}}])
async def test_a_model_without_tools_cannot_be_made_to_call(program: Program, knows: Knows, choice: Any) -> None:  # G9
    await knows("sim-honest", tools=False)
    answer = await program.ask("sim-honest", tool_choice=choice)
    error = answer.json()["error"]
    assert (answer.status_code, error["param"], error["code"]) == (422, "tool_choice", "tool_choice_not_met")


async def test_a_choice_of_none_is_kept(program: Program, knows: Knows) -> None:
    await knows("sim-honest", tools=True)
    answer = await program.ask("sim-honest", tool_choice="none")
    assert "tool_calls" not in answer.json()["choices"][0]["message"]


async def test_a_call_of_a_tool_that_was_not_offered_is_never_passed_on(program: Program, knows: Knows) -> None:  # F11
    await knows("sim-hallucinates", tools=True)
    answer = await program.ask("sim-hallucinates")
    assert int(answer.headers["X-Toolsupport-Retries"]) >= 1
    made = answer.json().get("choices", [{"message": {}}])[0]["message"].get("tool_calls", [])
    assert {call["function"]["name"] for call in made} <= {"list_directory"}


async def test_a_server_that_refuses_tools_is_asked_in_a_format_that_works(program: Program, knows: Knows) -> None:
    await knows("sim-hermes", tools=True, format="hermes")
    answer = await program.ask("sim-hermes")
    assert (answer.headers["X-Toolsupport-Format"], answer.headers["X-Toolsupport-Retries"]) == ("hermes", "1")
    assert answer.json()["choices"][0]["finish_reason"] == "tool_calls"


async def test_every_language_becomes_the_same_call(program: Program, knows: Knows) -> None:  # G1 F11
    for name, format_ in LANGUAGES.items():
        await knows(name, tools=False, format=format_)
        answer = await program.ask(name)
        assert answer.headers["X-Toolsupport-Format"] == format_, answer.content
        calls = answer.json()["choices"][0]["message"].get("tool_calls", [])
        assert [json.loads(call["function"]["arguments"]) for call in calls] == [{"path": "."}], name
        streamed = [piece["choices"][0]["delta"] for piece in pieces(await program.stream(name))]
        written = [made["function"]["arguments"] for delta in streamed for made in delta.get("tool_calls", [])]
        assert json.loads("".join(written)) == {"path": "."}, name
        assert "".join(delta.get("content", "") for delta in streamed).strip() == "", name


async def test_an_unknown_model_is_not_found(program: Program) -> None:  # G4
    answer = await program.ask("nothing")
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "model_not_found")


@pytest.mark.parametrize("body", ["{", "[]", '{"model": "m"}'])
async def test_a_request_that_cannot_be_read_is_told_so(program: Program, body: str) -> None:  # G4
    answer = await program.post(body)
    assert (answer.status_code, answer.json()["error"]["type"]) == (400, "invalid_request_error")


async def test_a_server_that_is_away_is_a_502_whole_and_streamed(program: Program, knows: Knows) -> None:  # G4
    await knows("sim-honest", tools=True)
    await Server.objects.aupdate(base_url="http://127.0.0.1:1")
    for stream in (False, True):
        answer = await program.ask("sim-honest", stream=stream)
        assert (answer.status_code, answer.json()["error"]["code"]) == (502, "unreachable")


async def test_a_stream_that_breaks_has_an_error_and_no_end_mark(program: Program, knows: Knows) -> None:  # G4
    await knows("sim-dies", tools=True)
    lines = await program.stream("sim-dies", tools=[], messages=[{"role": "user", "content": "Tell me a story"}])
    assert lines[-2] == "event: error" and "[DONE]" not in "".join(lines)
    assert json.loads(lines[-1].removeprefix("data: "))["error"]["code"] == "cut"
    whole = await program.ask("sim-dies", tools=[], messages=[{"role": "user", "content": "Tell me a story"}])
    assert whole.status_code == 502


async def test_only_one_call_where_the_program_wants_one(program: Program, knows: Knows) -> None:
    await knows("sim-honest", tools=True)
    wish = {"role": "user", "content": "Read config.json and notes.txt"}
    read = {"type": "function", "function": {**LIST["function"], "name": "read_file"}}  # type: ignore[dict-item]
    for parallel, most in ((True, 9), (False, 1)):
        answer = await program.ask("sim-honest", messages=[wish], tools=[read], parallel_tool_calls=parallel)
        assert 1 <= len(answer.json()["choices"][0]["message"]["tool_calls"]) <= most


GARBLED = answer(500, b'{"error":"XML syntax error on line 14: element <parameter> closed by </function>"}')


@pytest.mark.parametrize("stream", [False, True])
async def test_a_call_its_server_cannot_read_is_asked_for_again(program: Program, knows: Knows, stream: bool) -> None:
    await knows("m", "ollama", tools=True)
    async with scripted(GARBLED, FINE) as server:
        await Server.objects.aupdate(base_url=server.endpoint().base_url)
        reply = await program.ask("m", stream=stream)
        whole = b"".join([piece async for piece in reply.streaming_content]) if stream else reply.content
    assert reply.status_code == 200 and b"Hi" in whole and b"XML" not in whole
    if not stream:
        assert reply.headers["X-Toolsupport-Retries"] == "1"


@pytest.mark.parametrize("stream", [False, True])
async def test_and_given_up_with_a_sentence(program: Program, knows: Knows, stream: bool) -> None:
    await knows("m", "ollama", tools=True)
    async with scripted(GARBLED) as server:
        await Server.objects.aupdate(base_url=server.endpoint().base_url)
        reply = await program.ask("m", stream=stream)
        assert len(server.bodies) == 3
    assert (reply.status_code, reply.json()["error"]["code"]) == (502, "unreadable_call")
    assert "3 times in a row" in reply.json()["error"]["message"]


LISTED = {"function": {"name": "list_directory", "arguments": {"path": "."}}}
CALLED = chunk(json.dumps({"message": {"role": "assistant", "tool_calls": [LISTED]}, "done": False}).encode() + b"\n")
BROKEN = chunk(b'{"error":"failed to parse XML: XML syntax error on line 2: unexpected EOF"}\n')


async def test_a_call_of_an_attempt_that_failed_is_passed_on_once(program: Program, knows: Knows) -> None:
    await knows("m", "ollama", tools=True)
    async with scripted((HEAD, CALLED, BROKEN, LAST_CHUNK), (HEAD, CALLED, DONE, LAST_CHUNK)) as server:
        await Server.objects.aupdate(base_url=server.endpoint().base_url)
        reply = await program.ask("m")
    assert len(reply.json()["choices"][0]["message"]["tool_calls"]) == 1


@pytest.mark.asyncio
@pytest.mark.parametrize(("found", "calls"), [("off_only", True), ("both", False)])
async def test_tools_are_asked_for_with_thinking_as_it_was_found(
    program: Program, knows: Knows, found: str, calls: bool
) -> None:  # D6
    await knows("sim-thinks-off", tools=True, tools_thinking=found)
    [choice] = (await program.ask("box/sim-thinks-off")).json()["choices"]
    assert (choice["finish_reason"] == "tool_calls") is calls
