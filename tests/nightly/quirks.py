"""Tests every simulated model again and again, and counts the verdicts.

python -m tests.nightly.quirks --times 20
"""

from __future__ import annotations

import argparse
import asyncio
import random
import time
from collections import Counter
from dataclasses import dataclass
from typing import Any

from toolsupport import providers
from toolsupport.core.verdicts import Verdict
from toolsupport.core.words import Brief, Capabilities, Endpoint
from toolsupport.detection import Laboratory, Subject, Trial
from toolsupport.detection.examination import Step, examine
from toolsupport.detection.text_formats import formats_for
from toolsupport.simulator.models import MODELS
from toolsupport.simulator.server import Simulator

YES = {"tools": True}
NO = {"tools": False}
FILES = ("read_file", "write_file", "list_directory")

# What is true of each model: its verdict with the values that must have been measured.
TRUE: dict[str, tuple[str, dict[str, Any]]] = {
    **{name: ("native", YES) for name in ("sim-honest", "sim-thinks", "sim-unknown", "sim-slow-load", "sim-long")},
    **{name: ("native", YES) for name in ("sim-drifts", "sim-truncates")},
    "sim-parallel-less": ("native", YES | {"parallel": False}),
    "sim-loops": ("native", YES | {"multi_turn": False}),
    "sim-shell": ("native", YES | {f"tool:{name}": "via_bash" for name in FILES}),
    "sim-hallucinates": ("flaky", NO),
    "sim-ignores": ("ignored", NO),
    "sim-speaks": ("ignored", NO),
    "sim-refuses": ("refused", NO),
    "sim-misconfigured": ("misconfigured", {"tools": None}),
    "sim-dies": ("inconclusive", {"tools": None}),
    "sim-hermes": ("text", NO | {"format": "hermes"}),
    "sim-broken-json": ("text", NO | {"format": "hermes"}),
    # It takes the same JSON as Llama 3, which is tried before its own format.
    "sim-mistral": ("text", NO | {"format": "llama3_json"}),
    "sim-mistral-args": ("text", NO | {"format": "mistral"}),
    **{name: ("text", NO | {"format": "pythonic"}) for name in ("sim-pythonic", "sim-llama4", "sim-lfm2", "sim-olmo3")},
    **{name: ("text", NO | {"format": "llama3_json"}) for name in ("sim-json", "sim-llama3-json")},
    "sim-qwen3-coder-xml": ("text", NO | {"format": "qwen3_coder_xml"}),
    # A program in a fence is no call in text: whether code runs is measured with the tool that runs it.
    "sim-code": ("refused", NO),
    "sim-hopeless-json": ("refused", NO),
}
# It calls for two wordings out of three: three right ones in a row happen, and are no wrong yes.
BY_CHANCE = {"sim-flaky": ("flaky", "native")}


@dataclass(frozen=True, slots=True)
class Found:
    """One test of one model."""

    model: str
    verdict: Verdict
    seconds: float

    @property
    def true(self) -> bool:
        if self.model in BY_CHANCE:
            return self.verdict.name in BY_CHANCE[self.model]
        name, values = TRUE[self.model]
        return self.verdict.name == name and all(self.verdict.values.get(key) == value for key, value in values.items())


async def one_test(url: str, model: str, seed: int) -> Found:
    async def keep(trial: Trial) -> None: ...

    async def tell(step: Step) -> None: ...

    subject = Subject(Endpoint("ollama", url), Brief(model, Capabilities({})), formats_for(()), MODELS[model].thinks)
    began = time.monotonic()
    verdict = await examine(Laboratory(subject, keep, random.Random(seed)), "tools", tell, lambda step: False)
    return Found(model, verdict, time.monotonic() - began)


async def run(times: int) -> list[Found]:
    """Every model, so many times, each time with other words and numbers."""
    simulator = Simulator(pace_ms=0.0, load_seconds=0.2)
    await simulator.start()
    try:
        return [await one_test(simulator.url, model, seed) for seed in range(times) for model in MODELS]
    finally:
        await providers.close()
        await simulator.stop()


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--times", type=int, default=20)
    found = asyncio.run(run(arguments.parse_args().times))
    for model in MODELS:
        mine = [one for one in found if one.model == model]
        verdicts = ", ".join(f"{name} {count}" for name, count in Counter(one.verdict.name for one in mine).items())
        longest = max(one.seconds for one in mine)
        print(f"| `{model}` | {verdicts} | {sum(one.true for one in mine)} of {len(mine)} | {longest:.2f} s |")


if __name__ == "__main__":
    main()
