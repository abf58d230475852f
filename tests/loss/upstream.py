"""A server for models that write given calls: the name of a model is its format, the question names the case."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.loss import gold

CASE = re.compile(r"case (\d+), cut at (-?\d+)")
EACH = -1  # cut after every character; -5 means after every fifth


def question(seed: int, cut: int) -> str:
    return f"Do what has to be done: case {seed}, cut at {cut}"


def pieces(text: str, cut: int) -> list[str]:
    if cut < 0:
        return [text[place : place - cut] for place in range(0, len(text), -cut)]
    return [piece for piece in (text[:cut], text[cut:]) if piece]


def native(made: gold.Gold, cut: int) -> list[dict[str, Any]]:
    """The calls as pieces of OpenAI's stream: the arguments of each are cut at the same place."""
    found: list[dict[str, Any]] = []
    for index, (name, arguments) in enumerate(made):
        opening = {
            "index": index,
            "id": f"call_{index}",
            "type": "function",
            "function": {"name": name, "arguments": ""},
        }
        parts = pieces(json.dumps(arguments), cut)
        found += [opening, *({"index": index, "function": {"arguments": part}} for part in parts)]
    return [{"tool_calls": [one]} for one in found]


def length(format: str, seed: int) -> int:
    """The characters that can be cut."""
    made = gold.calls(seed, format)
    if format == gold.NATIVE:
        return max(len(json.dumps(arguments)) for _, arguments in made)
    return len(gold.written(format, made))


@dataclass
class Upstream:
    """`asked` counts the requests of each format, case and cut; `latest` is the latest one."""

    port: int = 0
    asked: Counter[tuple[str, int, int]] = field(default_factory=Counter)
    latest: dict[str, Any] = field(default_factory=dict)

    async def models(self, request: web.Request) -> web.Response:
        data = [{"id": name, "object": "model", "owned_by": "test"} for name in (gold.NATIVE, *gold.TEXT)]
        return web.json_response({"object": "list", "data": data})

    async def complete(self, request: web.Request) -> web.StreamResponse:
        body = self.latest = await request.json()
        # The case is in the latest of the person's messages that names one: a retry adds others.
        found = CASE.findall(json.dumps(body["messages"]))
        seed, cut = map(int, found[-1])
        self.asked[body["model"], seed, cut] += 1
        made = gold.calls(seed, body["model"])
        if body["model"] == gold.NATIVE:
            deltas, end = native(made, cut), "tool_calls"
        else:
            text = gold.written(body["model"], made)
            deltas, end = [{"content": part} for part in pieces(text, cut)], "stop"
        used = {"prompt_tokens": 5000, "completion_tokens": 50, "total_tokens": 5050}
        answer = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await answer.prepare(request)
        for delta in deltas:
            await answer.write(event(body["model"], {"delta": delta, "finish_reason": None}))
        await answer.write(event(body["model"], {"delta": {}, "finish_reason": end}, usage=used) + b"data: [DONE]\n\n")
        return answer


def event(model: str, choice: dict[str, Any], **more: Any) -> bytes:
    whole = {"id": "x", "object": "chat.completion.chunk", "model": model, "choices": [{"index": 0, **choice}], **more}
    return b"data: " + json.dumps(whole).encode() + b"\n\n"


@asynccontextmanager
async def running() -> AsyncIterator[Upstream]:
    upstream = Upstream()
    app = web.Application(client_max_size=2**24)
    app.add_routes([web.get("/v1/models", upstream.models), web.post("/v1/chat/completions", upstream.complete)])
    runner = web.AppRunner(app)
    await runner.setup()
    listening = web.TCPSite(runner, "127.0.0.1", 0)
    await listening.start()
    upstream.port = runner.addresses[0][1]
    try:
        yield upstream
    finally:
        await runner.cleanup()
