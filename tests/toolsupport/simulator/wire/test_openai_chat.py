"""The exact bytes of the OpenAI-compatible chat."""

from __future__ import annotations

import json
import re
from typing import Any

import httpx
import pytest

from tests.toolsupport.simulator.raw import LIST, TOOLS, ask, body_of, exchange, post, timeless
from toolsupport.simulator.server import Simulator

PATH = "/v1/chat/completions"
CLOSE = "Connection: close"


def events(raw: bytes) -> list[bytes]:
    """The data of every server-sent event, with the id taken out."""
    parts = body_of(raw).split(b"\n\n")
    assert parts.pop() == b""
    assert all(part.startswith(b"data: ") for part in parts)
    return [re.sub(rb'"chatcmpl-\d{1,3}"', b"ID", timeless(part.removeprefix(b"data: "))) for part in parts]


def frame(choices: str, rest: str = "", model: str = "sim-honest") -> bytes:
    head = f'"id":ID,"object":"chat.completion.chunk","created":N,"model":"{model}","system_fingerprint":"fp_ollama"'
    return f'{{{head},"choices":[{choices}]{rest}}}'.encode()


def delta(fields: str, reason: str = "null") -> str:
    return f'{{"index":0,"delta":{{"role":"assistant",{fields}}},"finish_reason":{reason}}}'


@pytest.mark.asyncio
async def test_a_stream_byte_for_byte(simulator: Simulator) -> None:
    asked = ask("What is 2+2?", stream=True, stream_options={"include_usage": True})
    raw = await exchange(simulator.port, post(PATH, asked, CLOSE))
    assert b"Content-Type: text/event-stream\r\n" in raw
    usage = ',"usage":{"prompt_tokens":5,"completion_tokens":3,"total_tokens":8}'
    assert events(raw) == [
        frame(delta('"content":"2+2"')),
        frame(delta('"content":" ="')),
        frame(delta('"content":" **4**"')),
        frame(delta('"content":""', '"stop"')),
        frame("", usage),
        b"[DONE]",
    ]


@pytest.mark.asyncio
async def test_a_call_comes_whole_in_one_delta(simulator: Simulator) -> None:
    raw = await exchange(simulator.port, post(PATH, ask("ls", tools=[LIST], stream=True), CLOSE))
    call, end, done = events(raw)
    name = re.search(rb"call_[a-z0-9]{8}", call)
    assert name
    function = '{"name":"list_directory","arguments":"{\\"path\\":\\".\\"}"}'
    written = f'[{{"id":"{name.group().decode()}","index":0,"type":"function","function":{function}}}]'
    assert call == frame(delta(f'"content":"","tool_calls":{written}'))
    assert end == frame(delta('"content":""', '"tool_calls"'))
    assert done == b"[DONE]"


@pytest.mark.asyncio
async def test_unstreamed_is_the_default(simulator: Simulator) -> None:
    raw = await exchange(simulator.port, post(PATH, ask("What is 2+2?"), CLOSE))
    head, _, body = raw.partition(b"\r\n\r\n")
    assert b"Content-Type: application/json\r\n" in head
    body = re.sub(rb'"chatcmpl-\d{1,3}"', b"ID", timeless(body))
    assert body == (
        b'{"id":ID,"object":"chat.completion","created":N,"model":"sim-honest","system_fingerprint":"fp_ollama",'
        b'"choices":[{"index":0,"message":{"role":"assistant","content":"2+2 = **4**"},"finish_reason":"stop"}],'
        b'"usage":{"prompt_tokens":5,"completion_tokens":3,"total_tokens":8}}\n'
    )


@pytest.mark.asyncio
async def test_a_whole_loop(http: httpx.AsyncClient) -> None:
    body = ask("What's in this folder?", tools=TOOLS)
    choice = (await http.post(PATH, json=body)).json()["choices"][0]
    assert choice["finish_reason"] == "tool_calls"
    called = choice["message"]
    assert json.loads(called["tool_calls"][0]["function"]["arguments"]) == {"path": "."}
    result = {"role": "tool", "tool_call_id": called["tool_calls"][0]["id"], "content": "a\nb"}
    said = await http.post(PATH, json={**body, "messages": [*body["messages"], {**called, "content": None}, result]})
    assert said.json()["choices"][0]["message"]["content"].startswith("This folder holds 2 entries")


@pytest.mark.asyncio
async def test_content_may_come_in_parts(http: httpx.AsyncClient) -> None:
    parts = [{"type": "text", "text": "What is 2+2?"}, {"type": "image_url", "image_url": {"url": "data:,"}}]
    answer = await http.post(PATH, json=ask("", messages=[{"role": "user", "content": parts}]))
    assert answer.json()["choices"][0]["message"]["content"] == "2+2 = **4**"


@pytest.mark.asyncio
@pytest.mark.parametrize(("effort", "thinks"), [(None, True), ("low", True), ("none", False)])
async def test_thinking_is_reasoning(http: httpx.AsyncClient, effort: str | None, thinks: bool) -> None:
    answer = await http.post(PATH, json=ask("hi", "sim-thinks", reasoning_effort=effort))
    assert ("reasoning" in answer.json()["choices"][0]["message"]) is thinks


@pytest.mark.asyncio
async def test_a_limit_of_tokens_ends_the_answer(http: httpx.AsyncClient) -> None:
    choice = (await http.post(PATH, json=ask("hello", max_tokens=2))).json()["choices"][0]
    assert (choice["message"]["content"], choice["finish_reason"]) == ("Hello! I", "length")


INVALID, API = "invalid_request_error", "api_error"
ERRORS: list[tuple[Any, int, str, str]] = [
    (b"", 400, "EOF", INVALID),
    (b"{", 400, "unexpected EOF", INVALID),
    ({"model": "sim-honest"}, 400, "[] is too short - 'messages'", INVALID),
    (ask("", messages=[{"role": "user", "content": 1}]), 400, "invalid message content type: float64", INVALID),
    (ask("", messages=[{"role": "user"}]), 400, "invalid message content type: <nil>", INVALID),
    (
        ask("", messages=[{"role": "user", "content": {}}]),
        400,
        "invalid message content type: map[string]interface {}",
        INVALID,
    ),
    (ask("", messages=[{"role": "user", "content": ["x"]}]), 400, "invalid message format", INVALID),
    (
        ask("", messages=[{"role": "assistant", "tool_calls": [{"function": {"arguments": "[]"}}]}]),
        400,
        "invalid tool call arguments",
        INVALID,
    ),
    (
        ask("", messages=[{"role": "assistant", "tool_calls": [{"function": {"arguments": "{"}}]}]),
        400,
        "invalid tool call arguments",
        INVALID,
    ),
    (
        ask("", reasoning_effort="extreme"),
        400,
        'invalid reasoning value: \'extreme\' (must be "high", "medium", "low", or "none")',
        INVALID,
    ),
    (ask("hi", "nope"), 404, "model 'nope' not found", API),
    (
        ask("hi", "sim-refuses", tools=[LIST]),
        400,
        "registry.ollama.ai/library/sim-refuses:latest does not support tools",
        API,
    ),
]


@pytest.mark.asyncio
@pytest.mark.parametrize(("body", "status", "text", "kind"), ERRORS)
async def test_errors_byte_for_byte(simulator: Simulator, body: Any, status: int, text: str, kind: str) -> None:
    raw = await exchange(simulator.port, post(PATH, body, CLOSE))
    assert raw.startswith(f"HTTP/1.1 {status} ".encode())
    inner = f'"message":{json.dumps(text).replace("<", chr(92) + "u003c").replace(">", chr(92) + "u003e")}'
    written = f'{{"error":{{{inner},"type":"{kind}","param":null,"code":null}}}}\n'
    assert raw.partition(b"\r\n\r\n")[2] == written.encode()


@pytest.mark.asyncio
async def test_dying_cuts_the_stream(simulator: Simulator) -> None:
    raw = await exchange(simulator.port, post(PATH, ask("hello", "sim-dies", stream=True)))
    assert len(events(raw)) == 40
    assert b"[DONE]" not in raw
    assert not raw.endswith(b"0\r\n\r\n")


@pytest.mark.asyncio
async def test_an_error_in_mid_stream_is_swallowed_as_ollama_does(simulator: Simulator) -> None:
    asked = ask("error in mid-stream", "sim-dies")
    raw = await exchange(simulator.port, post(PATH, {**asked, "stream": True}, CLOSE))
    assert events(raw)[-1] == frame(delta('"content":""'), model="")
    assert raw.endswith(b"\r\n0\r\n\r\n")
    whole = await exchange(simulator.port, post(PATH, asked, CLOSE))
    assert whole.startswith(b"HTTP/1.1 500 ")
    assert b'"message":"an error was encountered while running the model","type":"api_error"' in whole
