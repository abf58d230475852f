"""Tests models that do one thing only part of the time, again and again, and counts what is found of each.

python -m tests.nightly.flaky_models --times 40 [--pause 0.6] [--only streamed]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from tests.toolsupport.detection.test_faults import honest
from tests.toolsupport.detection.test_silent_servers import server
from toolsupport.core.types import Capabilities, RequestSpec
from toolsupport.core.verdicts import Verdict
from toolsupport.detection import ProbeRunner, ProbeTarget, ProbeTrial
from toolsupport.detection.probe_run import StepProgress, examine

Body = dict[str, Any]
FILES = ("tool:read_file", "tool:write_file", "tool:list_directory")
TALK = {"content": "I shall see to it."}


@dataclass(frozen=True)
class Flaky:
    """`fails` tells from a request whether it is one of those that go wrong at times, `wrong` what is said then.

    `whole` is the chance where the answer is not streamed, if it is another one.
    """

    fails: Callable[[Body], bool]
    chance: float
    found: tuple[str, ...]
    wrong: Callable[[Body], Body] = lambda body: TALK
    whole: float | None = None

    def chance_of(self, body: Body) -> float:
        return self.chance if self.whole is None or body["stream"] else self.whole


def _tool(body: Body) -> str:
    return str(body["tools"][0]["function"]["name"]) if body.get("tools") else ""


def _words(body: Body) -> str:
    return str(body["messages"][-1]["content"])


def _greeted(body: Body) -> bool:
    return bool(body.get("tools")) and "greet me back" in _words(body)


def _calls_for_nothing(body: Body) -> Body:
    return {"content": "", "tool_calls": [{"function": {"name": _tool(body), "arguments": {"building": "Cinema"}}}]}


def _one_of_two(body: Body) -> Body:
    return {"content": "", "tool_calls": honest(body)["tool_calls"][:1]}


def _demanded(body: Body) -> bool:
    return bool(_tool(body)) and body["messages"][-1]["role"] != "tool" and not _greeted(body)


# (streamed, not streamed): percentages of calls that arrive.
STREAMED = ((0, 100), (5, 100), (10, 90), (25, 100), (30, 70), (50, 50), (50, 90), (50, 100), (70, 100), (90, 90))

MODELS = {
    "two calls at once, half of the time": Flaky(
        lambda body: "both calls at once" in _words(body), 0.5, ("parallel",), _one_of_two
    ),
    "greets with a call, half of the time": Flaky(_greeted, 0.5, ("leaves_alone",), _calls_for_nothing),
    "greets with a call, 25 %": Flaky(_greeted, 0.25, ("leaves_alone",), _calls_for_nothing),
    "uses a result, half of the time": Flaky(lambda body: body["messages"][-1]["role"] == "tool", 0.5, ("multi_turn",)),
    "each of three file tools, half of the time": Flaky(
        lambda body: _tool(body).endswith(("_file", "_directory")), 0.5, FILES
    ),
    "calls, half of the time": Flaky(lambda body: "Then tell me the seat" in _words(body), 0.5, ("tools",)),
    **{
        f"calls, {streamed} % streamed, {whole} % not": Flaky(
            _demanded, 1 - streamed / 100, ("streaming",), whole=1 - whole / 100
        )
        for streamed, whole in STREAMED
    },
}


async def one_test(model: Flaky, seed: int, pause: float) -> tuple[Verdict, int]:
    """(verdict, trials)."""
    made: list[ProbeTrial] = []
    chance = random.Random(f"{model.found}, {model.chance}, {seed}")

    async def keep(trial: ProbeTrial) -> None:
        made.append(trial)
        runner._spent += pause  # as if the answer had taken longer

    async def tell(step: StepProgress) -> None: ...

    def answer(_: int, raw: bytes) -> tuple[int, bytes]:
        body = json.loads(raw)
        if "messages" not in body:
            return 404, b"{}"
        message = model.wrong(body) if model.fails(body) and chance.random() < model.chance_of(body) else honest(body)
        whole = {"message": {"role": "assistant", **message}, "done": True, "done_reason": "stop"}
        return 200, json.dumps(whole).encode() + b"\n"

    async with server(answer) as endpoint:
        runner = ProbeRunner(ProbeTarget(endpoint, RequestSpec("some:1b", Capabilities({}))), keep, random.Random(seed))
        return await examine(runner, "tools", tell, lambda step: False), len(made)


def counts(found: Iterable[Verdict], names: Iterable[str]) -> str:
    """`1 / 3 / 36`: how many of these findings were yes, no and unknown."""
    values = [verdict.values.get(name) for verdict in found for name in names]
    told = Counter("unknown" if value is None else "no" if value in (False, "refused") else "yes" for value in values)
    return " / ".join(str(told[word]) for word in ("yes", "no", "unknown"))


async def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--times", type=int, default=40)
    arguments.add_argument("--only", default="", help="test the models whose names hold this")
    arguments.add_argument("--pause", type=float, default=0.0, help="seconds that each answer counts for in addition")
    asked = arguments.parse_args()
    for name, model in ((name, model) for name, model in MODELS.items() if asked.only in name):
        tests = [await one_test(model, seed, asked.pause) for seed in range(asked.times)]
        verdicts = ", ".join(f"{word} {n}" for word, n in Counter(verdict.name for verdict, _ in tests).items())
        requests = sum(trials for _, trials in tests) / len(tests)
        print(f"| {name} | {counts((verdict for verdict, _ in tests), model.found)} | {verdicts} | {requests:.0f} |")


if __name__ == "__main__":
    asyncio.run(main())
