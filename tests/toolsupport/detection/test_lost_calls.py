"""Servers that lose calls, or refuse tools now and then, leave a no open."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from tests.toolsupport.detection.test_silent_servers import server, verdict_of

WISH = re.compile(r'with ticket "([A-Z0-9-]+)" and copies (\d+)')
TALK = {"role": "assistant", "content": "I would rather talk."}
Body = dict[str, Any]
# (the request, how many like it came before) → status and what the server answers with.
Serves = Callable[[Body, int], tuple[int, Body]]


def reply(message: Body, tokens: int = 9, status: int = 200) -> tuple[int, Body]:
    return status, {"message": message, "done": True, "done_reason": "stop", "eval_count": tokens}


def right(body: Body) -> tuple[int, Body]:
    wanted = WISH.search(body["messages"][-1]["content"])
    assert wanted is not None
    arguments = {"ticket": wanted[1], "copies": int(wanted[2])}
    call = {"function": {"name": "lookup_ticket", "arguments": arguments}}
    return reply({"role": "assistant", "content": "", "tool_calls": [call]})


def swallows_two_of_three(body: Body, before: int) -> tuple[int, Body]:
    return reply(TALK) if before % 3 == 2 else reply({"role": "assistant", "content": ""}, 40)


def cuts_and_calls_it_stop(body: Body, before: int) -> tuple[int, Body]:
    return reply({"role": "assistant", "content": "word " * 512}, 512)


def calls_every_second_time(body: Body, before: int) -> tuple[int, Body]:
    return reply(TALK) if before % 2 else right(body)


def loses_streamed_calls(body: Body, before: int) -> tuple[int, Body]:
    return reply({"role": "assistant", "content": ""}, 40) if body["stream"] else right(body)


def always_calls(body: Body, before: int) -> tuple[int, Body]:
    return right(body)


REFUSAL = (400, {"error": "registry.ollama.ai/library/some:1b does not support tools"})


def never(body: Body, before: int) -> bool:
    return False


def streamed(body: Body, before: int) -> bool:
    return bool(body["stream"])


def first(body: Body, before: int) -> bool:
    return before == 0


# How demands are served, which requests with tools are refused → verdict, tools, streaming.
SERVERS: dict[str, tuple[Serves, Callable[[Body, int], bool], str, bool | None, bool | None]] = {  # D6
    "two of three calls are swallowed": (swallows_two_of_three, never, "inconclusive", None, None),
    "cut at the budget": (cuts_and_calls_it_stop, never, "inconclusive", None, None),
    "calls every second time": (calls_every_second_time, never, "flaky", False, None),
    "loses calls while it streams": (loses_streamed_calls, never, "native", True, False),
    "refuses while it streams": (always_calls, streamed, "native", True, False),
    "refuses once": (always_calls, first, "native", True, True),
}


@pytest.mark.asyncio
@pytest.mark.parametrize("name", SERVERS)
async def test_what_a_server_loses_is_no_no(name: str) -> None:
    serves, refuses, verdict, tools, streaming = SERVERS[name]
    seen: Counter[str] = Counter()

    def answer(_: int, raw: bytes) -> tuple[int, bytes]:
        body = json.loads(raw) if raw else {}
        if "messages" not in body:
            return 404, b"{}"
        status, told = reply({"role": "assistant", "content": "Hello."})
        if body.get("tools"):
            seen["tools"] += 1
            if refuses(body, seen["tools"] - 1):
                status, told = REFUSAL
            elif len(WISH.findall(body["messages"][-1]["content"])) == 1:
                seen["demands"] += 1
                status, told = serves(body, seen["demands"] - 1)
        return status, json.dumps(told).encode() + b"\n"

    async with server(answer) as endpoint:
        judged = await verdict_of(endpoint)
    values = judged.values
    assert (judged.name, values.get("tools"), values.get("streaming")) == (verdict, tools, streaming), judged


PARSED = "<function=lookup_ticket>{}</function>"
GROQ = {"message": "Failed to call a function. See 'failed_generation'.", "code": "tool_use_failed"}


@pytest.mark.asyncio
async def test_a_call_that_only_an_error_shows_is_no_native_one_but_names_its_format() -> None:
    """It shows what the model writes, and that the server does not read it."""
    tried: list[str] = []

    def answer(received: int, body: bytes) -> tuple[int, bytes]:
        asked = json.loads(body)
        wanted = WISH.search(asked.get("messages", [{"content": ""}])[-1]["content"])
        if wanted is None:
            status, told = reply(TALK)
            return status, json.dumps(told).encode()
        written = PARSED.format(json.dumps({"ticket": wanted[1], "copies": int(wanted[2])}))
        if "tools" in asked:
            return 400, json.dumps({"error": GROQ | {"failed_generation": written}}).encode()
        tried.append(asked["messages"][0]["content"])
        status, told = reply({"role": "assistant", "content": written})
        return status, json.dumps(told).encode()

    async with server(answer) as endpoint:
        verdict = await verdict_of(endpoint)
    assert verdict.values == {"tools": False, "format": "qwen3_coder_xml"}
    assert "<function=the_name>" in tried[0]
