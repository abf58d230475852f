"""Models that think, on a server with OpenAI's protocol: tried with thinking on and off if that can be set."""

from __future__ import annotations

import itertools
import json
import random
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.tables import every
from tests.toolsupport.detection.test_silent_servers import server
from toolsupport.core.types import Capabilities, RequestSpec
from toolsupport.core.verdicts import Verdict
from toolsupport.detection import ProbeRunner, ProbeTarget, ProbeTrial
from toolsupport.detection.probe_run import StepProgress, examine

WISH = re.compile(r'with ticket "([A-Z0-9-]+)" and copies (\d+)')
Body = dict[str, Any]
# What a request asks → (text, whether it calls, finish reason).
Model = Callable[[Body], tuple[str, bool, str]]


class Asked:
    """A server with one model, and the demands that came to it: with tools, or all of them."""

    def __init__(self, model: Model, without_tools: bool = False) -> None:
        self.model = model
        self.without_tools = without_tools
        self.demands: list[Body] = []

    def answer(self, _: int, raw: bytes) -> tuple[int, bytes]:
        body = json.loads(raw) if raw else {}
        if "messages" not in body:
            return 404, b"{}"
        wanted = WISH.search(body["messages"][-1]["content"])
        message: Body = {"role": "assistant", "content": "Hello."}
        finish = "stop"
        if wanted and (body.get("tools") or self.without_tools):
            self.demands.append(body)
            message["content"], calls, finish = self.model(body)
            if calls:
                arguments = json.dumps({"ticket": wanted[1], "copies": int(wanted[2])})
                function = {"name": "lookup_ticket", "arguments": arguments}
                message["tool_calls"] = [{"id": "call_1", "type": "function", "function": function}]
                finish = "tool_calls"
        choice = {"index": 0, "message": message, "finish_reason": finish}
        usage = {"prompt_tokens": 9, "completion_tokens": body["max_tokens"] if finish == "length" else 9}
        if finish == "not given":
            choice["finish_reason"], usage = "stop", {}
        return 200, json.dumps({"choices": [choice], "usage": usage}).encode()


async def verdict_for(asked: Asked, kind: str, thinks: bool | None = None, think: bool | None = None) -> Verdict:
    async def keep(trial: ProbeTrial) -> None: ...

    async def tell(step: StepProgress) -> None: ...

    async with server(asked.answer) as endpoint:
        subject = ProbeTarget(
            replace(endpoint, kind=kind), RequestSpec("some", Capabilities({}), think=think), thinks=thinks
        )
        return await examine(ProbeRunner(subject, keep, random.Random(1)), "tools", tell, lambda step: False)


def switched(body: Body) -> bool | None:
    """How thinking was set by the request."""
    found: bool | None = body.get("chat_template_kwargs", {}).get("enable_thinking")
    return found


def only_off(body: Body) -> tuple[str, bool, str]:
    return ("", True, "stop") if switched(body) is False else ("<think>A call?</think>Shall I?", False, "stop")


def only_on(body: Body) -> tuple[str, bool, str]:
    return ("Shall I?", False, "stop") if switched(body) is False else ("<think>A call.</think>", True, "stop")


def long(body: Body) -> tuple[str, bool, str]:
    """Thinks in its text for a thousand tokens, unless that is switched off."""
    if switched(body) is False:
        return "", True, "stop"
    return ("<think>Then", False, "length") if body["max_tokens"] < 1000 else ("<think>Then</think>", True, "stop")


def endless(body: Body) -> tuple[str, bool, str]:
    return ("", True, "stop") if switched(body) is False else ("<think>Then", False, "length")


def hidden(body: Body) -> tuple[str, bool, str]:
    """Thinks as long, and its server shows nothing of it."""
    return ("", False, "length") if body["max_tokens"] < 1000 else ("", True, "stop")


def unmarked(body: Body) -> tuple[str, bool, str]:
    """Thinks for a thousand tokens without a mark; its server reports neither their number nor that it cut them."""
    return ("Then " * 512, False, "not given") if body["max_tokens"] < 1000 else ("Then " * 1000, True, "not given")


def unmarked_and_endless(body: Body) -> tuple[str, bool, str]:
    return "Then " * int(body["max_tokens"]), False, "not given"


def muses(body: Body) -> tuple[str, bool, str]:
    """Thinks of a call and makes none; its server has no switch, or ignores it."""
    return "<think>I could call lookup_ticket.</think>Hello.", False, "stop"


def stubborn(body: Body) -> tuple[str, bool, str]:
    """Thinks and calls, whatever the switch says."""
    return "<think>A call.</think>", True, "stop"


def cut_every_second_time() -> Model:
    """Makes no call; every second reply is cut in its thoughts."""
    ends = itertools.cycle((("<think>Then", False, "length"), ("<think>No.</think>Hello.", False, "stop")))
    return lambda body: next(ends)


# Model, kind of server, whether it is known to think → verdict, tools_thinking.
MODELS = {  # D6
    "only off": (only_off, "llamacpp", True, "native", "off_only"),
    "only off, as nobody knew": (only_off, "vllm", None, "native", "off_only"),
    "only on": (only_on, "llamacpp", True, "native", "on_only"),
    "thinks long": (long, "llamacpp", True, "native", "both"),
    "thinks long where it cannot be switched": (long, "openai", None, "native", None),
    "thinks without end": (endless, "llamacpp", True, "native", "off_only"),
    "thinks without end where it cannot be switched": (endless, "openai", None, "inconclusive", None),
    "only thinks of calling where it cannot be switched": (muses, "openai", None, "ignored", None),
    "only thinks of calling, and is known to think": (muses, "openai", True, "ignored", None),
    "only thinks of calling, as its server ignores the switch": (muses, "llamacpp", True, "ignored", None),
    "the same, as nobody knew": (muses, "vllm", None, "ignored", None),
    "calls, and its server ignores the switch": (stubborn, "llamacpp", True, "native", None),
    "is cut every second time": (cut_every_second_time(), "openai", None, "inconclusive", None),
    "thinks in secret": (hidden, "openai", None, "native", None),
    "thinks long without marks or counts": (unmarked, "openai", None, "native", None),
    "thinks without end, marks or counts": (unmarked_and_endless, "openai", None, "inconclusive", None),
}


@pytest.mark.asyncio
@every("name", MODELS)
async def test_a_model_that_thinks_gets_its_verdict(name: str) -> None:
    model, kind, thinks, verdict, found = MODELS[name]
    asked = Asked(model)
    judged = await verdict_for(asked, kind, thinks)
    assert (judged.name, judged.values.get("tools_thinking")) == (verdict, found), judged
    assert max(body["max_tokens"] for body in asked.demands) == 4096
    if kind == "openai":
        assert not any("chat_template_kwargs" in body for body in asked.demands)


@pytest.mark.asyncio
async def test_later_steps_ask_the_way_that_works() -> None:  # D6
    asked = Asked(only_off)
    judged = await verdict_for(asked, "llamacpp", thinks=True)
    assert judged.values["tools_thinking"] == "off_only"
    assert {switched(body) for body in asked.demands[-2:]} == {False}


@pytest.mark.asyncio
async def test_what_a_person_set_stays_for_the_later_steps() -> None:  # D6
    asked = Asked(only_off)
    await verdict_for(asked, "llamacpp", thinks=True, think=True)
    assert switched(asked.demands[-1]) is True


@pytest.mark.asyncio
async def test_empty_replies_prove_nothing() -> None:  # D6
    judged = await verdict_for(Asked(lambda body: ("", False, "stop")), "openai")
    assert (judged.name, dict(judged.values)) == ("inconclusive", {})


@pytest.mark.asyncio
async def test_thoughts_and_then_nothing_prove_nothing() -> None:  # D6
    judged = await verdict_for(Asked(lambda body: (" ", False, "stop")), "vllm")
    assert (judged.name, dict(judged.values)) == ("inconclusive", {})
