"""The exact bytes of Ollama's native chat."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from tests.toolsupport.simulator.raw import LIST, TOOLS, ask, body_of, exchange, post, timeless
from toolsupport.simulator.server import Simulator

CLOSE = "Connection: close"
STREAM_HEAD = (
    b"HTTP/1.1 200 OK\r\nServer: toolsupport-simulator\r\nContent-Type: application/x-ndjson\r\n"
    b"Date: D\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
)


def line(model: str, message: str, end: str = '"done":false') -> bytes:
    return f'{{"model":"{model}","created_at":T,"message":{{"role":"assistant",{message}}},{end}}}\n'.encode()


async def lines(http: httpx.AsyncClient, body: dict[str, Any]) -> list[dict[str, Any]]:
    answer = await http.post("/api/chat", json=body)
    assert answer.status_code == 200
    return [json.loads(text) for text in answer.text.splitlines()]


@pytest.mark.asyncio
async def test_a_stream_byte_for_byte(simulator: Simulator) -> None:
    answer = timeless(await exchange(simulator.port, post("/api/chat", ask("What is 17*23?"), CLOSE)))
    head, _, _ = answer.partition(b"\r\n\r\n")
    assert head + b"\r\n\r\n" == STREAM_HEAD
    end = (
        '"done":true,"done_reason":"stop","total_duration":N,"load_duration":N,"prompt_eval_count":5,'
        '"prompt_eval_duration":N,"eval_count":6,"eval_duration":N'
    )
    words = ["17", " ×", " 23", " =", " **391*", "*"]
    spoken = [line("sim-honest", f'"content":"{word}"') for word in words]
    raw = await exchange(simulator.port, post("/api/chat", ask("What is 17*23?"), CLOSE))
    assert timeless(body_of(raw)) == b"".join([*spoken, line("sim-honest", '"content":""', end)])
    assert raw.endswith(b"\r\n0\r\n\r\n")


@pytest.mark.asyncio
async def test_a_call_byte_for_byte_and_always_the_same(simulator: Simulator) -> None:
    asked = post("/api/chat", ask("What's in this folder?", "sim-honest:latest", tools=[LIST]), CLOSE)
    first, second = [timeless(body_of(await exchange(simulator.port, asked))) for _ in range(2)]
    assert first == second
    call, end = first.splitlines(keepends=True)
    found = json.loads(call.replace(b":T,", b":0,"))["message"]["tool_calls"][0]["id"]
    assert len(found) == 13
    function = '{"index":0,"name":"list_directory","arguments":{"path":"."}}'
    written = f'"content":"","tool_calls":[{{"id":"{found}","function":{function}}}]'
    assert call == line("sim-honest:latest", written)
    assert b'"done":true,"done_reason":"stop"' in end


@pytest.mark.asyncio
async def test_several_calls_have_their_own_index_and_id(http: httpx.AsyncClient) -> None:
    said = await lines(http, ask("List this folder and read a.txt", tools=TOOLS))
    calls = [call for piece in said for call in piece["message"].get("tool_calls", [])]
    assert [call["function"]["index"] for call in calls] == [0, 1]
    assert [call["function"]["name"] for call in calls] == ["list_directory", "read_file"]
    assert len({call["id"] for call in calls}) == 2


@pytest.mark.asyncio
async def test_a_whole_loop(http: httpx.AsyncClient) -> None:
    body = ask("Read config.json and tell me the version", tools=TOOLS, stream=False)
    called = (await http.post("/api/chat", json=body)).json()["message"]
    assert called["tool_calls"][0]["function"]["arguments"] == {"path": "config.json"}
    result = {"role": "tool", "tool_name": "read_file", "content": '{"version":"1.4.2"}'}
    answer = (await http.post("/api/chat", json={**body, "messages": [*body["messages"], called, result]})).json()
    assert answer["message"] == {"role": "assistant", "content": "The version in `config.json` is **1.4.2**."}
    assert (answer["done"], answer["done_reason"]) == (True, "stop")


@pytest.mark.asyncio
async def test_unstreamed_is_one_object_with_its_length(simulator: Simulator) -> None:
    raw = timeless(await exchange(simulator.port, post("/api/chat", ask("hello", stream=False), CLOSE)))
    head, _, body = raw.partition(b"\r\n\r\n")
    assert b"Content-Type: application/json; charset=utf-8\r\nContent-Length: " in head
    assert b'"content":"Hello! I am a simulated model' in body
    assert not body.endswith(b"\n")


ERRORS: list[tuple[Any, int, str]] = [
    (b"", 400, "missing request body"),
    (b"{", 400, "unexpected EOF"),
    ({}, 400, "model is required"),
    ({"model": "a b"}, 400, "model is required"),
    (ask("hi", "nope"), 404, "model 'nope' not found"),
    (ask("hi", "nope:7b"), 404, "model 'nope:7b' not found"),
    (ask("hi", think=True), 400, '"sim-honest" does not support thinking'),
    (ask("hi", think="low"), 400, '"sim-honest" does not support thinking'),
    (
        ask("hi", "sim-refuses", tools=[LIST]),
        400,
        "registry.ollama.ai/library/sim-refuses:latest does not support tools",
    ),
    (ask("hi", options={"num_ctx": "big"}), 500, 'option "num_ctx" must be of type integer'),
    (ask("hi", options={"temperature": True}), 500, 'option "temperature" must be of type float32'),
    (
        {
            "model": "sim-honest",
            "messages": [{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]}],
        },
        400,
        "json: cannot unmarshal string into Go struct field ChatRequest.messages.tool_calls.function.arguments"
        " of type api.ToolCallFunctionArguments",
    ),
]


@pytest.mark.asyncio
@pytest.mark.parametrize(("body", "status", "text"), ERRORS)
async def test_errors_byte_for_byte(simulator: Simulator, body: Any, status: int, text: str) -> None:
    raw = await exchange(simulator.port, post("/api/chat", body, CLOSE))
    assert raw.startswith(f"HTTP/1.1 {status} ".encode())
    assert raw.partition(b"\r\n\r\n")[2] == b'{"error":' + json.dumps(text).encode() + b"}"


@pytest.mark.asyncio
@pytest.mark.parametrize("body", [{"think": False}, {"tools": []}, {"tools": None}, {"tool_choice": "required"}])
async def test_what_asks_for_nothing_is_not_refused(http: httpx.AsyncClient, body: dict[str, Any]) -> None:
    assert (await lines(http, ask("hi", "sim-refuses", **body)))[-1]["done"] is True


@pytest.mark.asyncio
async def test_tools_are_ignored_without_a_word(http: httpx.AsyncClient) -> None:
    said = await lines(http, ask("What's in this folder?", "sim-ignores", tools=[LIST]))
    assert not any("tool_calls" in piece["message"] for piece in said)
    assert "no tool for it was offered" in "".join(piece["message"]["content"] for piece in said)
    bare = await lines(http, ask("What's in this folder?", "sim-ignores"))
    assert said[-1]["prompt_eval_count"] == bare[-1]["prompt_eval_count"]


@pytest.mark.asyncio
async def test_offered_tools_cost_tokens(http: httpx.AsyncClient) -> None:
    said = await lines(http, ask("hi", tools=[LIST]))
    assert said[-1]["prompt_eval_count"] > (await lines(http, ask("hi")))[-1]["prompt_eval_count"] + 10


@pytest.mark.asyncio
async def test_the_unknown_model_uses_tools(http: httpx.AsyncClient) -> None:
    assert "tool_calls" in (await lines(http, ask("ls", "sim-unknown", tools=[LIST])))[0]["message"]


@pytest.mark.asyncio
@pytest.mark.parametrize("think", [None, True, "high"])
async def test_thinking_comes_first_in_its_own_field(http: httpx.AsyncClient, think: Any) -> None:
    said = await lines(http, ask("ls", "sim-thinks", tools=[LIST], think=think))
    kinds = [next(iter(set(piece["message"]) - {"role", "content"}), "content") for piece in said]
    assert kinds == ["thinking"] * (len(said) - 2) + ["tool_calls", "content"]
    assert list(said[0]["message"]) == ["role", "content", "thinking"]


@pytest.mark.asyncio
async def test_thinking_can_be_switched_off(http: httpx.AsyncClient) -> None:
    said = await lines(http, ask("hi", "sim-thinks", think=False))
    assert not any("thinking" in piece["message"] for piece in said)


@pytest.mark.asyncio
async def test_dying_cuts_the_connection_after_40_tokens(simulator: Simulator) -> None:
    raw = await exchange(simulator.port, post("/api/chat", ask("hello", "sim-dies")))
    assert body_of(raw).count(b"\n") == 40
    assert b'"done":true' not in raw
    assert not raw.endswith(b"0\r\n\r\n")


@pytest.mark.asyncio
async def test_dying_looks_like_a_broken_stream_to_a_client(http: httpx.AsyncClient) -> None:
    with pytest.raises(httpx.RemoteProtocolError, match="incomplete chunked read"):
        await http.post("/api/chat", json=ask("hello", "sim-dies"))
    with pytest.raises(httpx.RemoteProtocolError):
        await http.post("/api/chat", json=ask("hello", "sim-dies", stream=False))


@pytest.mark.asyncio
async def test_dying_in_the_middle_of_a_call(simulator: Simulator) -> None:
    raw = await exchange(simulator.port, post("/api/chat", ask("ls", "sim-dies", tools=[LIST])))
    assert b'"tool_calls"' in raw
    assert b'"done":true' not in raw


@pytest.mark.asyncio
async def test_an_error_line_in_mid_stream(simulator: Simulator, http: httpx.AsyncClient) -> None:
    asked = ask("hello, error in mid-stream please", "sim-dies")
    raw = await exchange(simulator.port, post("/api/chat", asked, CLOSE))
    assert raw.startswith(b"HTTP/1.1 200 OK")
    last = body_of(raw).splitlines()[-1]
    assert last == b'{"error":"an error was encountered while running the model"}'
    assert raw.endswith(b"\r\n0\r\n\r\n")
    assert (await http.post("/api/chat", json={**asked, "stream": False})).status_code == 500


@pytest.mark.asyncio
async def test_a_limit_of_tokens_ends_the_answer(http: httpx.AsyncClient) -> None:
    said = await lines(http, ask("hello", options={"num_predict": 3}))
    assert [piece["message"]["content"] for piece in said] == ["Hello!", " I", " am", ""]
    assert (said[-1]["done_reason"], said[-1]["eval_count"]) == ("length", 3)


@pytest.mark.asyncio
@pytest.mark.parametrize("limit", [-1, 1e400, None])
async def test_no_limit_is_no_limit(http: httpx.AsyncClient, limit: Any) -> None:
    body = json.dumps(ask("hello", options={"num_predict": limit})).replace("Infinity", "1e400")
    said = (await http.post("/api/chat", content=body)).text.splitlines()
    assert json.loads(said[-1])["done_reason"] == "stop"


@pytest.mark.asyncio
async def test_a_request_without_messages_loads_and_unloads(http: httpx.AsyncClient) -> None:
    for keep, reason in ((None, "load"), (0, "unload")):
        answer = (await http.post("/api/chat", json={"model": "sim-honest", "keep_alive": keep})).json()
        assert answer["done_reason"] == reason
        loaded = [model["name"] for model in (await http.get("/api/ps")).json()["models"]]
        assert loaded == (["sim-honest:latest"] if keep is None else [])


@pytest.mark.asyncio
async def test_the_rendered_prompt_shows_whether_tools_reach_the_model(http: httpx.AsyncClient) -> None:
    seen = {}
    for model in ("sim-honest", "sim-ignores"):
        answer = await http.post("/api/chat", json=ask("hi", model, tools=[LIST], _debug_render_only=True))
        seen[model] = "list_directory" in answer.json()["_debug_info"]["rendered_template"]
    assert seen == {"sim-honest": True, "sim-ignores": False}


@pytest.mark.asyncio
async def test_generating_is_not_supported(http: httpx.AsyncClient) -> None:
    answer = await http.post("/api/generate", json={"model": "sim-honest", "prompt": "hi"})
    assert (answer.status_code, answer.json()) == (400, {"error": '"sim-honest" does not support generate'})
    assert (await http.post("/api/generate", json={"model": "nope"})).status_code == 404
