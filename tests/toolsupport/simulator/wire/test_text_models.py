"""Calls as text on both wires, however they are cut."""

from __future__ import annotations

import json
import re
from typing import Any

import httpx
import pytest

from tests.toolsupport.simulator.raw import LIST, TOOLS, ask
from toolsupport.simulator.models import TEXT

NAMES = [model.name for model in TEXT]
SYSTEM = "Tools:\n" + "\n".join(map(json.dumps, TOOLS))
NOTE = '{"path": "a \\"note\\".md", "content": "one\\ntwo\\\\ é"}'
WORDS = f"Call write_file with {NOTE}"
MARK = re.compile(r"</?\w{4,}|\[[A-Z_]{4,}\]|<\|\w+\|>|\\.")


def told(model: str, **more: Any) -> dict[str, Any]:
    body = ask(WORDS, model, **more)
    return {**body, "messages": [{"role": "system", "content": SYSTEM}, *body["messages"]]}


async def native(http: httpx.AsyncClient, model: str) -> list[str]:
    answer = await http.post("/api/chat", json=told(model))
    messages = [json.loads(line)["message"] for line in answer.text.splitlines()]
    assert not any("tool_calls" in message for message in messages)
    return [message["content"] for message in messages]


async def openai(http: httpx.AsyncClient, model: str) -> list[str]:
    answer = await http.post("/v1/chat/completions", json=told(model, stream=True))
    frames = [line.removeprefix("data: ") for line in answer.text.splitlines() if line]
    assert frames.pop() == "[DONE]"
    choices = [json.loads(frame)["choices"][0] for frame in frames]
    assert choices[-1]["finish_reason"] == "stop"
    return [choice["delta"]["content"] for choice in choices]


@pytest.mark.asyncio
@pytest.mark.parametrize("name", NAMES)
async def test_both_wires_carry_the_same_text_in_awkward_pieces(http: httpx.AsyncClient, name: str) -> None:  # M8
    pieces = await native(http, name)
    assert pieces == await openai(http, name)
    whole = (await http.post("/api/chat", json=told(name, stream=False))).json()["message"]
    assert whole == {"role": "assistant", "content": "".join(pieces)}
    assert not [piece for piece in pieces if MARK.search(piece)], "a mark or an escape came in one piece"


@pytest.mark.asyncio
@pytest.mark.parametrize("name", NAMES)
async def test_native_tools_are_refused_on_both_wires(http: httpx.AsyncClient, name: str) -> None:
    refusal = f"registry.ollama.ai/library/{name}:latest does not support tools"
    native_one = await http.post("/api/chat", json=ask("hi", name, tools=[LIST]))
    assert (native_one.status_code, native_one.json()) == (400, {"error": refusal})
    openai_one = await http.post("/v1/chat/completions", json=ask("hi", name, tools=[LIST]))
    inner = {"message": refusal, "type": "api_error", "param": None, "code": None}
    assert (openai_one.status_code, openai_one.json()) == (400, {"error": inner})


@pytest.mark.asyncio
async def test_every_boundary_of_a_mark_is_met_by_some_wording(http: httpx.AsyncClient) -> None:
    mark, met = "</tool_call>", set[int]()
    for length in range(5):
        body = told("sim-hermes")
        body["messages"][-1]["content"] = f"Read a{'b' * length}.txt"
        lines = (await http.post("/api/chat", json=body)).text.splitlines()
        pieces = [json.loads(line)["message"]["content"] for line in lines]
        start, ends = "".join(pieces).index(mark), [len("".join(pieces[:count])) for count in range(len(pieces))]
        met |= {end - start for end in ends if 0 <= end - start < len(mark)}
    assert met == set(range(len(mark)))
