"""A server for chats: it enforces a schema, ignores it, drops what it cannot read, or refuses it, by its address.

Its model writes noise: calls that fit and that do not, in every form that it is offered, words, thoughts, nothing.
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

from tests.chat import strict_wires
from tests.forced.noise_server import enforced, is_anchored
from toolsupport.simulator.fitting import scalars
from toolsupport.simulator.fitting.fitting import fitted

KINDS = ("ollama", "llamacpp", "vllm", "lmstudio")
MOODS = ("enforces", "ignores", "fails-open", "refuses-large", "refuses", "changes")
MODELS = ("native", "native-whole", "untested", "text", "forced", "toolless", "forced-required", "native-required")
# Fields of a message in a history that holds its calls as text.
TEXT_FIELDS = {"role", "content", "thinking", "reasoning_content", "reasoning"}
LARGE = 900  # characters of a schema
REFUSALS = (
    (400, '{"error": "schema is too large"}'),
    (400, '{"error": {"message": "Invalid schema for response_format: too many states"}}'),
    (422, '{"detail": [{"loc": ["body", "response_format"], "msg": "Extra inputs are not permitted"}]}'),
    (500, '{"error": {"code": 500, "message": "failed to parse grammar"}}'),
    (400, '{"error": "unknown field format"}'),
    (501, '{"error": "not implemented"}'),
    (400, ""),
)
UNREADABLE = '{"error": {"message": "Failed to parse tool call arguments as JSON", "code": 500}}'
KNOWN_CALLS: tuple[tuple[str, Any], ...] = (
    ("list_directory", {"path": "."}),
    ("read_file", {"path": "notes.md"}),
    ("write_file", {"path": "notes.md", "content": "x"}),
    ("list_directory", {"way": []}),
    ("read_file", {}),
    ("read_file", {"path": 7.5, "lines": "no"}),
    ("no_such_tool", {"a": 1}),
)
FORMS = (
    '<tool_call>\n{{"name": "{name}", "arguments": {arguments}}}\n</tool_call>',
    '{{"name": "{name}", "arguments": {arguments}}}',
    '{{"tool": "{name}", "arguments": {arguments}}}',
    '```json\n{{"tool": "{name}", "arguments": {arguments}}}\n```',
    '<tool_call>\n{{"name": "{name}", "arguments": {arguments}',
    '<tool_call>\n{{"name": {name}, "arguments": [\n</tool_call>',
    '{{"tool": "{name}", "arguments": {{"path',
    "[TOOL_CALLS]{name}[ARGS]{arguments}",
)


@dataclass(frozen=True, slots=True)
class MoodyReply:
    """A reply; `status` other than 200 has a `body` only."""

    text: str = ""
    thoughts: str = ""
    calls: tuple[tuple[str, str], ...] = ()
    status: int = 200
    body: str = ""
    ends: bool = True


@dataclass
class MoodyServer:
    """`asked` counts requests by kind, mood and what they had; `wrong` is what no server may be sent."""

    port: int = 0
    number: int = 0
    asked: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    async def get(self, request: web.Request) -> web.Response:
        path = request.match_info["path"]
        if path.endswith("api/tags"):
            details = {"family": "noise", "parameter_size": "70B", "families": ["noise"]}
            models = [{"name": name, "model": name, "size": 1, "digest": name, "details": details} for name in MODELS]
            return web.json_response({"models": models})
        if path.endswith("models"):
            return web.json_response({"data": [{"id": name, "object": "model"} for name in MODELS]})
        return web.json_response({"version": "0.30.0"} if path.endswith("version") else {}, status=200)

    async def post(self, request: web.Request) -> web.StreamResponse:
        kind, mood, path = (request.match_info[name] for name in ("kind", "mood", "path"))
        if not path.endswith(("api/chat", "chat/completions")):
            return web.json_response({"error": "not found"}, status=404)
        body = await request.json()
        named = (body.get("response_format") or {}).get("json_schema") or {}
        schema, tools = body.get("format") or named.get("schema"), body.get("tools")
        self.number += 1
        self.asked[kind, mood, "schema" if schema else "tools" if tools else "text"] += 1
        self._check(kind, body, schema)
        reply = made(Random(f"{kind} {mood} {self.number}"), kind, mood, body, schema)
        if reply.status != 200:
            return web.Response(status=reply.status, text=reply.body, content_type="application/json")
        return await (self._native if kind == "ollama" else self._openai)(request, reply, body.get("stream", True))

    def _check(self, kind: str, body: Any, schema: Any) -> None:
        tools, messages = body.get("tools") or [], body["messages"]
        if schema and tools:
            self.wrong.append(f"{kind}: a schema beside tools")
        if schema and not all(set(one) <= TEXT_FIELDS and one["role"] != "tool" for one in messages):
            fields = [sorted(one) for one in messages]
            self.wrong.append(f"{kind}: a schema, and a history that is no text: {fields}")
        if schema and kind == "llamacpp" and body.get("chat_template_kwargs") != {"enable_thinking": False}:
            self.wrong.append(f"{kind}: a schema, and thinking is not turned off")
        if kind != "vllm" and any("strict" in tool["function"] for tool in tools):
            self.wrong.append(f"{kind}: strict tools")
        if kind != "ollama":
            try:
                strict_wires.any_openai(body)
            except AssertionError as error:
                self.wrong.append(f"{kind}: {error!r} {json.dumps(body['messages'])[:2000]}")

    async def _openai(self, request: web.Request, reply: MoodyReply, stream: bool) -> web.StreamResponse:
        calls = [
            {"index": at, "id": f"call_{self.number}_{at}", "type": "function", "function": {"name": n, "arguments": a}}
            for at, (n, a) in enumerate(reply.calls)
        ]
        said: dict[str, Any] = {
            "content": reply.text,
            **({"reasoning_content": reply.thoughts} if reply.thoughts else {}),
        }
        said |= {"tool_calls": calls} if calls else {}
        usage = {"prompt_tokens": 50, "completion_tokens": 9, "total_tokens": 59}
        finish = {"finish_reason": "tool_calls" if calls else "stop"}
        if not stream:
            message = {"role": "assistant", **said}
            return web.json_response({"choices": [{"index": 0, "message": message, **finish}], "usage": usage})
        answer = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await answer.prepare(request)
        for choice in ({"delta": said}, {"delta": {}, **finish})[: 2 if reply.ends else 1]:
            line = {"id": "x", "object": "chat.completion.chunk", "choices": [{"index": 0, **choice}]}
            await answer.write(b"data: " + json.dumps(line).encode() + b"\n\n")
        await answer.write(b"data: [DONE]\n\n" if reply.ends else b"")
        return answer

    async def _native(self, request: web.Request, reply: MoodyReply, stream: bool) -> web.StreamResponse:
        calls = [{"function": {"name": name, "arguments": json.loads(given)}} for name, given in reply.calls]
        said: dict[str, Any] = {
            "role": "assistant",
            "content": reply.text,
            **({"thinking": reply.thoughts} if reply.thoughts else {}),
        }
        said |= {"tool_calls": calls} if calls else {}
        ended = {"done": True, "done_reason": "stop", "prompt_eval_count": 50, "eval_count": 9}
        if not stream:
            return web.json_response({"model": "noise", "message": said, **ended})
        answer = web.StreamResponse(headers={"content-type": "application/x-ndjson"})
        await answer.prepare(request)
        empty = {"role": "assistant", "content": ""}
        for message, more in ((said, {"done": False}), (empty, ended))[: 2 if reply.ends else 1]:
            await answer.write(json.dumps({"model": "noise", "message": message, **more}).encode() + b"\n")
        return answer


def made(chance: Random, kind: str, mood: str, body: Any, schema: Any) -> MoodyReply:
    thoughts = chance.choice(("", "", "Hm. I think."))
    if mood == "changes":
        mood = chance.choice(MOODS[:-1])
    if schema is None:
        reply = native(chance, kind, body) if body.get("tools") else MoodyReply(wild(chance))
    elif mood == "refuses" or (mood == "refuses-large" and len(json.dumps(schema)) > LARGE):
        status, text = chance.choice(REFUSALS)
        return MoodyReply(status=status, body=text)
    elif not is_anchored(schema):
        return MoodyReply(status=400, body='{"error": "failed to parse grammar"}')
    elif mood == "ignores" or (mood == "fails-open" and len(json.dumps(schema)) > LARGE):
        reply = MoodyReply(wild(chance))
    else:
        reply = MoodyReply(fitted(enforced(schema, kind), None, chance))
    if reply.status != 200:
        return reply
    return MoodyReply(reply.text, thoughts, reply.calls, ends=chance.random() > 0.02)


def native(chance: Random, kind: str, body: Any) -> MoodyReply:
    """A reply to a request with native tools."""
    required = body.get("tool_choice") == "required"
    way = chance.random()
    if way < 0.1 and not required:
        return MoodyReply(status=500, body=UNREADABLE)
    if way < 0.3 and not required:
        return MoodyReply(wild(chance))
    tool = chance.choice(body["tools"])["function"]
    fits = (tool["name"], fitted(tool["parameters"], None, chance))
    misfit, given = chance.choice(KNOWN_CALLS)
    calls = [fits if chance.random() < 0.5 or required else (misfit, json.dumps(given))]
    calls += [fits] if chance.random() < 0.1 else []
    return MoodyReply(chance.choice(("", "", "Let me see.")), calls=tuple(calls))


def wild(chance: Random) -> str:
    """What a model writes that nothing constrains."""
    way = chance.random()
    if way < 0.3:
        return chance.choice(("It is empty.", "I would rather talk.", "", "Done."))
    if way < 0.4:
        return scalars.noise(chance, 20)
    name, arguments = chance.choice(KNOWN_CALLS)
    written = chance.choice(FORMS).format(name=name, arguments=json.dumps(arguments))
    return chance.choice(("", "", "Let me see. ", "<think>Hm.</think>")) + written


@asynccontextmanager
async def running() -> AsyncIterator[MoodyServer]:
    server = MoodyServer()
    app = web.Application(client_max_size=2**24)
    app.add_routes([web.get("/{kind}/{mood}/{path:.*}", server.get), web.post("/{kind}/{mood}/{path:.*}", server.post)])
    runner = web.AppRunner(app)
    await runner.setup()
    listening = web.TCPSite(runner, "127.0.0.1", 0)
    await listening.start()
    server.port = runner.addresses[0][1]
    try:
        yield server
    finally:
        await runner.cleanup()
