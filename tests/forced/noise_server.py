"""A server that enforces a schema as its kind of server does, around a model that writes noise.

Its model decides nothing: the tool, the number of calls and every value are drawn. Kinds differ in the keywords that
they enforce: grammars of llama.cpp know no multiples, and match a pattern against the JSON text.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any

from aiohttp import web

from toolsupport.providers import PROVIDERS
from toolsupport.simulator.fitting import scalars
from toolsupport.simulator.fitting.fitting import fitted

EVENTS = {"content-type": "text/event-stream"}


def enforced(schema: Any, kind: str) -> Any:
    """Return what this kind enforces of a schema: keywords that it does not know are ignored."""
    known = {"pattern", "multipleOf"} if PROVIDERS[kind].sets_strict else {"pattern"}
    if isinstance(schema, list):
        return [enforced(one, kind) for one in schema]
    if not isinstance(schema, dict):
        return schema
    ignored = {name for name in ("multipleOf", "pattern", "format") if isinstance(schema.get(name), str | int | float)}
    return {name: enforced(one, kind) for name, one in schema.items() if name not in ignored - known}


def is_anchored(schema: Any) -> bool:
    """Return whether llama.cpp takes the patterns of a schema."""
    if isinstance(schema, list):
        return all(map(is_anchored, schema))
    if not isinstance(schema, dict):
        return True
    pattern = schema.get("pattern")
    whole = not isinstance(pattern, str) or (pattern.startswith("^") and pattern.endswith("$") and "\\d" not in pattern)
    return whole and all(map(is_anchored, schema.values()))


@dataclass
class NoiseServer:
    """`asked` counts requests by kind and whether they had a schema."""

    port: int = 0
    asked: Counter[tuple[str, bool]] = field(default_factory=Counter)
    number: int = 0

    async def complete(self, request: web.Request) -> web.StreamResponse:
        kind, body = request.match_info["kind"], await request.json()
        named = (body.get("response_format") or {}).get("json_schema") or {}
        schema = body.get("format") or named.get("schema")
        self.number += 1
        self.asked[kind, schema is not None] += 1
        if schema is not None and not is_anchored(schema):
            return web.json_response({"error": "failed to parse grammar"}, status=400)
        chance = Random(f"{kind} {self.number}")
        text = scalars.noise(chance, 40) if schema is None else fitted(enforced(schema, kind), None, chance)
        return await (self._native(request, text) if kind == "ollama" else self._openai(request, text))

    async def _openai(self, request: web.Request, text: str) -> web.StreamResponse:
        answer = web.StreamResponse(headers=EVENTS)
        await answer.prepare(request)
        for choice in ({"delta": {"content": text}}, {"delta": {}, "finish_reason": "stop"}):
            whole = {"id": "x", "object": "chat.completion.chunk", "choices": [{"index": 0, **choice}]}
            await answer.write(b"data: " + json.dumps(whole).encode() + b"\n\n")
        await answer.write(b"data: [DONE]\n\n")
        return answer

    async def _native(self, request: web.Request, text: str) -> web.StreamResponse:
        answer = web.StreamResponse(headers={"content-type": "application/x-ndjson"})
        await answer.prepare(request)
        for content, more in ((text, {"done": False}), ("", {"done": True, "done_reason": "stop"})):
            line = {"model": "noise", "message": {"role": "assistant", "content": content}, **more}
            await answer.write(json.dumps(line).encode() + b"\n")
        return answer


@asynccontextmanager
async def running() -> AsyncIterator[NoiseServer]:
    server = NoiseServer()
    app = web.Application(client_max_size=2**24)
    app.add_routes([web.post("/{kind}/{path:.*}", server.complete)])
    runner = web.AppRunner(app)
    await runner.setup()
    listening = web.TCPSite(runner, "127.0.0.1", 0)
    await listening.start()
    server.port = runner.addresses[0][1]
    try:
        yield server
    finally:
        await runner.cleanup()
