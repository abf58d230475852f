"""Servers that fail in the middle of a test, and models that fail in a way of their own: never a no by mistake."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.toolsupport.detection.test_silent_servers import Answer, server
from toolsupport.core.types import Capabilities, RequestSpec
from toolsupport.core.verdicts import Verdict
from toolsupport.detection import ProbeRunner, ProbeTarget, ProbeTrial
from toolsupport.detection.probe_limits import LIMITS, ProbeLimits
from toolsupport.detection.probe_run import StepProgress, examine
from toolsupport.providers import transport

Message = dict[str, Any]
# (how many answers there were, what an honest model would say) → what this one says.
Twist = Callable[[int, Message], Message]

DEMAND = re.compile(r'ticket "([A-Z0-9-]+)" and copies (\d+)')
FILES = ("tool:read_file", "tool:write_file", "tool:list_directory", "tool:edit_file", "tool:bash")
SIDE = ("multi_turn", "leaves_alone", "parallel", *FILES)
HTML = b"<html><head><title>502 Bad Gateway</title></head><body>tools are unavailable</body></html>"


def honest(body: Message) -> Message:
    """Does all that it is asked, in the words of Ollama."""
    last, tools = body["messages"][-1], [tool["function"]["name"] for tool in body.get("tools") or ()]
    if last["role"] == "tool" or not tools:
        return {"content": f"As I read: {last['content']}"}
    asked: list[Message] = [{"ticket": ticket, "copies": int(n)} for ticket, n in DEMAND.findall(last["content"])]
    if tools[0].endswith(("_file", "_directory", "bash")):
        asked = [dict.fromkeys(("path", "content", "old", "new", "command"), last["content"])]
    return {"content": "Hello."} if not asked else made(tools[0], *asked)


def made(tool: str, *arguments: Message) -> Message:
    return {"content": "", "tool_calls": [{"function": {"name": tool, "arguments": each}} for each in arguments]}


def ollama(twist: Twist = lambda received, message: message, fault: Answer | None = None) -> Answer:
    """`fault` answers first where it returns anything."""

    def answer(received: int, raw: bytes) -> tuple[int, bytes] | None:
        body = json.loads(raw)
        if "messages" not in body:
            return 404, b"{}"
        failed = fault(received, raw) if fault else None
        if failed:
            return failed
        message = {"role": "assistant", **twist(received, honest(body))}
        return 200, json.dumps({"message": message, "done": True, "done_reason": "stop"}).encode() + b"\n"

    return answer


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A request is repeated without a pause."""
    monkeypatch.setattr(transport, "PAUSES", (0.0, 0.0))
    monkeypatch.setattr(transport, "LOADING_PAUSE", 0.02)


# The limits of a test, a hundred times shorter: a server that hangs for 30 s hangs for 0.3 s.
SHORT = ProbeLimits(load=1.2, first=1.2, silent=0.3, answer=0.3, total=1.2, thinking=1.2, pause=0.001)


async def verdict_of(answer: Answer, limits: ProbeLimits = LIMITS) -> Verdict:
    async def keep(trial: ProbeTrial) -> None: ...

    async def tell(step: StepProgress) -> None: ...

    async with server(answer) as endpoint:
        subject = ProbeTarget(endpoint, RequestSpec("some:1b", Capabilities({})), ("hermes",))
        return await examine(ProbeRunner(subject, keep, random.Random(3), limits), "tools", tell, lambda step: False)


FAULTS: dict[str, tuple[int, bytes]] = {  # D6
    "an HTML page with 502": (502, HTML),
    "429": (429, b'{"error": "Too many requests. Tools are not supported in this tier now."}'),
    "a restart": (0, b""),
    "loading again": (503, b'{"error": {"message": "Loading model"}}'),
}


@pytest.mark.asyncio
@pytest.mark.parametrize("begins", [4, 6, 12])
@pytest.mark.parametrize("name", FAULTS)
async def test_a_fault_that_passes_costs_no_finding(name: str, begins: int) -> None:  # D6
    failed = range(begins, begins + 2)
    verdict = await verdict_of(ollama(fault=lambda received, raw: FAULTS[name] if received in failed else None))
    assert verdict.name in ("native", "inconclusive"), verdict
    assert not {False, "refused", "via_bash"} & set(verdict.values.values()), verdict
    if begins > 4:
        assert verdict.values["tools"] is True and set(SIDE) <= set(verdict.values), verdict


LASTING: dict[str, tuple[int, bytes] | None] = {**FAULTS, "silence": None}


@pytest.mark.asyncio
@pytest.mark.parametrize("begins", [5, 14])
@pytest.mark.parametrize("name", LASTING)
async def test_a_fault_that_stays_is_no_finding(name: str, begins: int) -> None:  # D6
    well = ollama()
    verdict = await verdict_of(
        lambda received, raw: LASTING[name] if received >= begins else well(received, raw), SHORT
    )
    assert verdict.name in ("native", "inconclusive"), verdict
    assert not {False, "refused", "via_bash"} & set(verdict.values.values()), verdict


def each_second(received: int, message: Message) -> Message:
    return {"content": "I shall see."} if "tool_calls" in message and received % 2 else message


# What a model does → the verdict and what is measured of tools.
MODELS: dict[str, tuple[Twist, str, bool | None]] = {  # D6
    "calls the wrong tool": (
        lambda received, said: made("list_rooms", {"building": "Cinema"}) if "tool_calls" in said else said,
        "flaky",
        False,
    ),
    "fails each second time": (each_second, "flaky", False),
    "answers nothing to demands": (
        lambda received, said: {"content": ""} if "tool_calls" in said else said,
        "inconclusive",
        None,
    ),
}


@pytest.mark.asyncio
@pytest.mark.parametrize("name", MODELS)
async def test_a_model_with_a_way_of_its_own(name: str) -> None:
    twist, expected, tools = MODELS[name]
    verdict = await verdict_of(ollama(twist))
    assert (verdict.name, verdict.values.get("tools")) == (expected, tools), verdict
