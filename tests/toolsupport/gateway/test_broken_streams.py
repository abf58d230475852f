"""A reply of a model server that breaks becomes an error in the shape of each API, never a good end."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import orjson
import pytest
from channels.db import database_sync_to_async as in_database

from tests.toolsupport.gateway.conftest import PATH, Program
from tests.toolsupport.gateway.test_required_calls import ASKED, HEAD, error_in, post, row, said
from tests.toolsupport.providers.scripted import LAST_CHUNK, chunk, scripted

Knows = Callable[..., Any]
WORD = said(delta={"content": "Let me look."})
DONE = chunk(b"data: [DONE]\n\n")


def call(arguments: str, **more: Any) -> bytes:
    function = {"name": "list_directory", "arguments": arguments}
    return said(delta={"tool_calls": [{"index": 0, "id": "c", "type": "function", "function": function}]}, **more)


# What the server sends after its first words.
BROKEN: dict[str, Sequence[bytes]] = {
    "no end mark": (LAST_CHUNK,),
    "a cut connection": (),
    "no JSON": (chunk(b"data: {nonsense}\n\n"), LAST_CHUNK),
    "an error": (chunk(b'data: {"error": {"message": "out of memory"}}\n\n'), LAST_CHUNK),
    "half a call": (call('{"path": "'), LAST_CHUNK),
    "a call that is none": (said(delta={"tool_calls": "f"}), said(finish_reason="tool_calls"), DONE, LAST_CHUNK),
    "calls that never came": (said(finish_reason="tool_calls"), DONE, LAST_CHUNK),
}


@pytest.mark.asyncio
@pytest.mark.parametrize("path", ASKED)
async def test_a_broken_stream_is_an_error_in_the_shape_of_its_api(program: Program, path: str) -> None:
    auto = {"type": "auto"} if path == "/v1/messages" else "auto"
    body = ASKED[path][0] | {"tool_choice": auto, "model": "made/m"}
    async with scripted((HEAD,)) as server:
        await in_database(row)(server, "vllm")
        for name, rest in BROKEN.items():
            server.answers[:] = [(HEAD, WORD, *rest)]
            whole = await post(program, path, **body)
            assert whole.status_code == 502 and error_in(path, whole.json())[1], (name, whole.content)
            answer = await post(program, path, **body, stream=True)
            text = b"".join([piece async for piece in answer.streaming_content]).decode()
            event, data = text.strip().split("\n")[-2:]
            assert "[DONE]" not in text and "message_stop" not in text and "response.completed" not in text, name
            told = json.loads(data.removeprefix("data: "))
            if path == "/v1/responses":
                assert event == "event: response.failed" and told["response"]["error"]["message"], name
                assert told["response"]["error"]["code"] == "server_error", name
            else:
                assert event == "event: error" and error_in(path, told)[1], name


HALF = '<tool_call>\n{"name": "list_directory", "argum'


@pytest.mark.asyncio
@pytest.mark.parametrize("path", ASKED)
async def test_a_call_in_text_that_a_broken_stream_cut_is_the_servers_fault(program: Program, path: str) -> None:
    auto = {"type": "auto"} if path == "/v1/messages" else "auto"
    body = ASKED[path][0] | {"tool_choice": auto, "model": "made/m"}
    async with scripted((HEAD,)) as server:
        await in_database(row)(server, "vllm", format="hermes")
        for name, code in {"a cut connection": "cut", "an error": "server"}.items():
            server.answers[:] = [(HEAD, WORD, said(delta={"content": HALF}), *BROKEN[name])]
            for stream in (False, True):
                before = len(server.requests)
                answer = await post(program, path, **body, stream=stream)
                content = b"".join([piece async for piece in answer.streaming_content]) if stream else answer.content
                field = "type" if stream and path == "/v1/responses" else "code"
                assert f'"{field}":"{code}"' in content.decode().replace('": "', '":"'), (name, content)
                assert len(server.requests) == before + 1, name


@pytest.mark.asyncio
@pytest.mark.parametrize("path", ASKED)
async def test_words_and_a_call_of_one_reply_both_arrive_and_no_argument_is_lost(program: Program, path: str) -> None:
    auto = {"type": "auto"} if path == "/v1/messages" else "auto"
    body = ASKED[path][0] | {"tool_choice": auto, "model": "made/m"}
    pieces = [call(part) for part in ('{"pa', 'th": ', '"."}')]
    async with scripted((HEAD, WORD, *pieces, said(finish_reason="tool_calls"), DONE, LAST_CHUNK)) as server:
        await in_database(row)(server, "vllm")
        whole = orjson.dumps((await post(program, path, **body)).json()).decode()
        answer = await post(program, path, **body, stream=True)
        text = b"".join([piece async for piece in answer.streaming_content]).decode()
    for found in (whole, text):
        assert "Let me look." in found and "list_directory" in found
    parts = [json.loads(line[6:]) for line in text.split("\n") if line.startswith("data: {")]
    assert json.loads("".join(map(arguments_of, parts))) == {"path": "."}


@pytest.mark.asyncio
@pytest.mark.parametrize(("kind", "after"), [("vllm", ["user"]), ("mistral", ["assistant", "user"])])
async def test_words_beside_results_follow_them(program: Program, kind: str, after: list[str]) -> None:  # G6
    used = {"type": "tool_use", "id": "c", "name": "list_directory", "input": {"path": "."}}
    results = [{"type": "tool_result", "tool_use_id": "c", "content": "a.txt"}, {"type": "text", "text": "Be brief."}]
    messages = [
        {"role": "user", "content": "What is here?"},
        {"role": "assistant", "content": [used]},
        {"role": "user", "content": results},
    ]
    body = ASKED["/v1/messages"][0] | {"tool_choice": {"type": "auto"}, "model": "made/m", "messages": messages}
    async with scripted((HEAD, WORD, said(finish_reason="stop"), DONE, LAST_CHUNK)) as server:
        await in_database(row)(server, kind)
        assert (await post(program, "/v1/messages", **body)).status_code == 200
        roles = [one["role"] for one in server.bodies[-1]["messages"]]
    assert roles == ["system", "user", "assistant", "tool", *after]


MIXED = {"type": "object", "properties": {"path": {"type": "string"}, "deep": {"type": "boolean"}}}


@pytest.mark.asyncio
@pytest.mark.parametrize("path", ASKED)
@pytest.mark.parametrize("single", [False, True])
async def test_calls_keep_their_order_where_one_waits_for_its_end(program: Program, path: str, single: bool) -> None:
    """The first has a parameter that may have to be repaired, so it is sent when it is whole."""
    anthropic = path == "/v1/messages"
    body = json.loads(json.dumps(ASKED[path][0]).replace(json.dumps(PATH), json.dumps(MIXED)))
    second = json.loads(json.dumps(ASKED[path][0]["tools"]).replace("list_directory", "read_file"))
    body |= {"model": "made/m", "stream": True, "tools": [*body["tools"], *second]}
    body["tool_choice"] = {"type": "auto", "disable_parallel_tool_use": single} if anthropic else "auto"
    body |= {} if anthropic else {"parallel_tool_calls": not single}
    names = ("list_directory", "read_file", "list_directory")
    calls = [numbered(number, name, part) for number, name in enumerate(names) for part in ('{"path":', '"."}')]
    async with scripted((HEAD, *calls, said(finish_reason="tool_calls"), DONE, LAST_CHUNK)) as server:
        await in_database(row)(server, "vllm")
        answer = await post(program, path, **body)
        text = b"".join([piece async for piece in answer.streaming_content]).decode()
    found = [name for line in text.split("\n") if line.startswith("data: {") for name in begun(json.loads(line[6:]))]
    assert found == list(names[:1] if single else names), text


def numbered(number: int, name: str, part: str) -> bytes:
    function = {"name": name, "arguments": part}
    piece = {"index": number, "id": f"c{number}", "type": "function", "function": function}
    return said(delta={"tool_calls": [piece]})


def begun(event: dict[str, Any]) -> list[str]:
    """The name of the call that begins with an event of any of the APIs."""
    if event.get("type") == "response.output_item.added":
        return [event["item"]["name"]]
    if event.get("type") == "content_block_start":
        return [event["content_block"]["name"]]
    deltas = [choice["delta"] for choice in event.get("choices", ())]
    calls = [call["function"] for delta in deltas for call in delta.get("tool_calls", ())]
    return [call["name"] for call in calls if "name" in call]


def arguments_of(event: dict[str, Any]) -> str:
    """The piece of arguments in an event of any of the APIs."""
    if event.get("type") == "response.function_call_arguments.delta":
        return str(event["delta"])
    if event.get("type") == "content_block_delta":
        return str(event["delta"].get("partial_json", ""))
    calls = event["choices"][0]["delta"].get("tool_calls", []) if event.get("choices") else []
    return "".join(call["function"].get("arguments", "") for call in calls)


@pytest.mark.asyncio
@pytest.mark.parametrize("path", ASKED)
async def test_what_a_program_sends_breaks_no_header(program: Program, knows: Knows, path: str) -> None:
    await knows("sim-honest", tools=True)
    auto = {"type": "auto"} if path == "/v1/messages" else "auto"
    hosted = [{"type": kind} for kind in ("\0", "a\r\nSet-Cookie: b=c", "\x7f", "天")]
    body = ASKED[path][0] | {"model": "sim-honest", "tool_choice": auto, "tools": [*ASKED[path][0]["tools"], *hosted]}
    answer = await post(program, path, **body)
    assert (answer.status_code, answer.headers["X-Toolsupport-Tools-Skipped"]) == (200, "?,a??Set-Cookie: b=c,?,?")
