"""Verdicts on scripted models with Ollama's protocol: the behaviour of each, and the permitted conclusions."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

from tests.tables import every
from tests.toolsupport.detection.test_silent_servers import examined, server
from toolsupport.detection.probe_limits import ProbeLimits

LIMITS = ProbeLimits(load=3, first=2, silent=1, answer=2, total=30, thinking=40, pause=0.1)
Reply = tuple[int, bytes]
TICKET = re.compile(r'with ticket "([\w-]+)" and copies (\d+)')


def reply(body: bytes, content: str = "", reason: str = "stop", **more: Any) -> Reply:
    """One answer; the server counts the tokens of the whole request, so tools show in their number."""
    tokens = more.pop("tokens", 20)
    told = {"message": {"role": "assistant", "content": content, **more}, "done": False}
    counts = {"prompt_eval_count": 50 + len(body) // 4, "eval_count": tokens}
    end = {"message": {"role": "assistant", "content": ""}, "done": True, "done_reason": reason, **counts}
    return 200, f"{json.dumps(told)}\n{json.dumps(end)}\n".encode()


def good(body: bytes, **more: Any) -> Reply:
    """A model that calls when it is asked to, uses the result, and greets."""
    asked = json.loads(body)
    last = asked["messages"][-1]
    if last["role"] == "tool":
        return reply(body, f"It says: {last['content']}", **more)
    calls = [
        {"function": {"name": "lookup_ticket", "arguments": {"ticket": ticket, "copies": int(copies)}}}
        for ticket, copies in TICKET.findall(last["content"] if asked.get("tools") else "")
    ]
    told: dict[str, Any] = {"tool_calls": calls} if calls else {}
    return reply(body, "" if calls else "Hello.", **told, **more)


def error(status: int, words: str) -> Reply:
    return status, json.dumps({"error": words}).encode()


def with_tools(body: bytes) -> bool:
    return b'"tools"' in body


def demanded(body: bytes) -> bool:
    return with_tools(body) and b"Call the tool" in body and json.loads(body)["messages"][-1]["role"] == "user"


def instead(where: Callable[[bytes], bool], answer: Callable[[bytes], Reply]) -> Callable[[bytes], Reply]:
    return lambda body: answer(body) if where(body) else good(body)


def every_second(answer: Callable[[bytes], Reply]) -> Callable[[], Callable[[bytes], Reply]]:
    """Every second demand is answered like this, each time from the beginning."""

    def made() -> Callable[[bytes], Reply]:
        number = count()
        return lambda body: answer(body) if demanded(body) and next(number) % 2 else good(body)

    return made


REFUSAL = "registry.ollama.ai/library/some:1b does not support tools"
PAGE = f"<Error><Code>BadRequest</Code><Message>{REFUSAL}</Message></Error>".encode()
FLAG = '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'
LONG = {"thinking": "hm " * 3900, "tokens": 3990}
# What the model or its server does → the verdict, and the value for everyone.
MODELS: dict[str, tuple[str, bool | None, Callable[[bytes], Reply]]] = {
    "calls": ("native", True, good),
    "thinks 3,990 tokens before each answer": ("native", True, lambda body: good(body, **LONG)),
    "thinks until its tokens are used up": (
        "inconclusive",
        None,
        instead(with_tools, lambda body: reply(body, thinking="hm " * 4000, reason="length", tokens=4096)),
    ),
    "the same, with another word for it": (
        "inconclusive",
        None,
        instead(with_tools, lambda body: reply(body, thinking="hm " * 900, reason="incomplete", tokens=1000)),
    ),
    "answers nothing to everything": ("inconclusive", None, lambda body: reply(body, tokens=1)),
    "answers nothing to demands": ("inconclusive", None, instead(demanded, lambda body: reply(body, tokens=1))),
    "answers white space to demands": ("inconclusive", None, instead(demanded, lambda body: reply(body, " \n "))),
    "only talks": ("ignored", False, lambda body: reply(body, "I cannot do that.")),
    "writes calls that cannot be read": (
        "flaky",
        False,
        instead(demanded, lambda body: error(500, "Unknown role: functions.lookup_ticket")),
    ),
    "its server refuses the tools": ("refused", False, instead(with_tools, lambda body: error(400, REFUSAL))),
    "its server refuses everything": ("inconclusive", None, lambda body: error(400, REFUSAL)),
    "a page of XML": ("inconclusive", None, instead(with_tools, lambda body: (400, PAGE))),
    "a part of a page": ("inconclusive", None, instead(with_tools, lambda body: (400, f"Bad<br>{REFUSAL}".encode()))),
    "a gateway": ("inconclusive", None, instead(with_tools, lambda body: error(502, REFUSAL))),
    "a flag is missing": ("misconfigured", None, instead(with_tools, lambda body: error(400, FLAG))),
    "its server goes away": ("inconclusive", None, instead(with_tools, lambda body: (0, b""))),
}
HALVES = {
    "talks": ("flaky", every_second(lambda body: reply(body, "I will look that up."))),
    "cannot be read": (
        "flaky",
        every_second(lambda body: error(500, "failed to parse JSON: unexpected end of JSON input")),
    ),
}


@pytest.mark.asyncio
@every("case", MODELS)
async def test_the_verdict_on_a_scripted_model(case: str) -> None:  # D6
    name, tools, answer = MODELS[case]
    async with server(lambda received, body: answer(body)) as endpoint:
        verdict, _ = await examined(endpoint, LIMITS)
    assert (verdict.name, verdict.values.get("tools")) == (name, tools), verdict.reason


@pytest.mark.asyncio
@pytest.mark.parametrize("case", HALVES)
async def test_a_model_that_calls_every_second_time_is_flaky(case: str) -> None:  # D6
    name, made = HALVES[case]
    answer = made()
    async with server(lambda received, body: answer(body)) as endpoint:
        verdict, _ = await examined(endpoint, LIMITS)
    assert (verdict.name, verdict.values.get("tools")) == (name, False), verdict.reason
    assert "4 of 8" in str(verdict.reason)
