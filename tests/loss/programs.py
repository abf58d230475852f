"""Asks for one answer through each of the three APIs, streamed, and puts its calls together from the pieces."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import aiohttp

from tests.loss.gold import Gold

Event = dict[str, Any]
Tools = dict[str, dict[str, Any]]
CALLED = "An action that the person wants."


async def events(session: aiohttp.ClientSession, path: str, body: dict[str, Any]) -> AsyncIterator[Event]:
    """Yield the data of each event of the stream."""
    async with session.post(path, json={**body, "stream": True}) as answer:
        if answer.status == 429:
            raise RuntimeError(await answer.text())
        async for line in answer.content:
            if line.startswith(b"data: {"):
                yield json.loads(line[6:])


async def chat(session: aiohttp.ClientSession, model: str, question: str, offered: Tools) -> Gold:
    tools = [
        {"type": "function", "function": {"name": name, "description": CALLED, "parameters": schema}}
        for name, schema in offered.items()
    ]
    body = {"model": model, "messages": [{"role": "user", "content": question}], "tools": tools}
    written: dict[int, list[str]] = {}
    async for one in events(session, "/v1/chat/completions", body):
        for choice in one.get("choices", ()):
            for call in choice["delta"].get("tool_calls") or ():
                name, arguments = call["function"].get("name"), call["function"].get("arguments")
                written.setdefault(call["index"], [name, ""])[1] += arguments or ""
    return _read(written)


async def responses(session: aiohttp.ClientSession, model: str, question: str, offered: Tools) -> Gold:
    tools = [
        {"type": "function", "name": name, "description": CALLED, "parameters": schema}
        for name, schema in offered.items()
    ]
    written: dict[int, list[str]] = {}
    async for one in events(session, "/v1/responses", {"model": model, "input": question, "tools": tools}):
        if one["type"] == "response.output_item.added" and one["item"]["type"] == "function_call":
            written[one["output_index"]] = [one["item"]["name"], ""]
        elif one["type"] == "response.function_call_arguments.delta":
            written[one["output_index"]][1] += one["delta"]
    return _read(written)


async def messages(session: aiohttp.ClientSession, model: str, question: str, offered: Tools) -> Gold:
    tools = [{"name": name, "description": CALLED, "input_schema": schema} for name, schema in offered.items()]
    asked = [{"role": "user", "content": question}]
    body = {"model": model, "messages": asked, "tools": tools, "max_tokens": 1000}
    written: dict[int, list[str]] = {}
    async for one in events(session, "/v1/messages", body):
        if one["type"] == "content_block_start" and one["content_block"]["type"] == "tool_use":
            written[one["index"]] = [one["content_block"]["name"], ""]
        elif one["type"] == "content_block_delta" and one["delta"]["type"] == "input_json_delta":
            written[one["index"]][1] += one["delta"]["partial_json"]
    return _read(written)


def _read(written: dict[int, list[str]]) -> Gold:
    """The calls in order; what is no JSON counts as no call."""
    found: Gold = []
    for _, (name, arguments) in sorted(written.items()):
        try:
            found.append((name, json.loads(arguments or "{}")))
        except ValueError:
            continue
    return found


APIS: dict[str, Callable[..., Any]] = {"chat completions": chat, "responses": responses, "messages": messages}
