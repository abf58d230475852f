"""Tests every simulated model again and again, and counts the verdicts and the side findings.

python -m tests.nightly.quirks --times 30 [--first 1000] [--models sim-honest sim-flaky]
"""

from __future__ import annotations

import argparse
import asyncio
import random
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from toolsupport import providers
from toolsupport.core.types import Capabilities, Endpoint, RequestSpec
from toolsupport.core.verdicts import Verdict
from toolsupport.detection import ProbeRunner, ProbeTarget, ProbeTrial
from toolsupport.detection.probe_run import StepProgress, examine
from toolsupport.detection.text_formats import formats_for
from toolsupport.simulator.models import MODELS
from toolsupport.simulator.server import Simulator

YES = {"tools": True}
NO = {"tools": False}
FILES = ("read_file", "write_file", "list_directory")

# What is true of each model: its verdict with the values that must have been measured.
TRUE: dict[str, tuple[str, dict[str, Any]]] = {
    **{name: ("native", YES) for name in ("sim-honest", "sim-thinks", "sim-unknown", "sim-slow-load", "sim-long")},
    **{name: ("native", YES) for name in ("sim-drifts", "sim-truncates", "sim-sees")},
    "sim-thinks-long": ("native", YES | {"tools_thinking": "both"}),
    **{name: ("native", YES | {"tools_thinking": "off_only"}) for name in ("sim-thinks-endless", "sim-thinks-off")},
    "sim-fickle": ("native", YES),
    "sim-parallel-less": ("native", YES | {"parallel": False}),
    "sim-loops": ("native", YES | {"multi_turn": False}),
    "sim-shell": ("native", YES | {f"tool:{name}": "via_bash" for name in FILES}),
    "sim-hallucinates": ("flaky", NO),
    "sim-ignores": ("ignored", NO),
    "sim-speaks": ("ignored", NO),
    **{name: ("refused", NO) for name in ("sim-refuses", "sim-claims")},
    "sim-misconfigured": ("misconfigured", {"tools": None}),
    **{name: ("inconclusive", {"tools": None}) for name in ("sim-dies", "sim-silent")},
    "sim-hermes": ("text", NO | {"format": "hermes"}),
    **{name: ("text", NO | {"format": "hermes"}) for name in ("sim-thinks-aloud", "sim-thinks-inside")},
    "sim-broken-json": ("text", NO | {"format": "hermes"}),
    **{name: ("text", NO | {"format": "mistral"}) for name in ("sim-mistral", "sim-mistral-args")},
    **{name: ("text", NO | {"format": "pythonic"}) for name in ("sim-pythonic", "sim-python")},
    "sim-olmo3": ("text", NO | {"format": "olmo3_pythonic"}),
    **{f"sim-{name}": ("text", NO | {"format": f"{name}_pythonic"}) for name in ("llama4", "lfm2")},
    **{name: ("text", NO | {"format": "llama3_json"}) for name in ("sim-json", "sim-llama3-json")},
    "sim-qwen3-coder-xml": ("text", NO | {"format": "qwen3_coder_xml"}),
    "sim-code": ("text", NO | {"format": "code_mode"}),
    "sim-hopeless-json": ("refused", NO),
    **{name: ("refused", NO) for name in ("sim-noise", "sim-unconstrained", "sim-no-schemas", "sim-fails-open")},
    **{f"sim-{name}": ("text", NO | {"format": "forced_json"}) for name in ("constrained", "constrained-thinks")},
}
# It calls for two wordings out of three, or for every second one: three right ones in a row happen, and so do six of
# nine; nothing else may come out.
BY_CHANCE = {"sim-flaky": ("flaky", "native"), "sim-halves": ("flaky", "native")}

# What is true of each model that calls, besides that it does; MIXED: half of the time, which is neither yes nor no.
MIXED = "mixed"
TOOLS = tuple(f"tool:{name}" for name in FILES)
HONEST: dict[str, Any] = {"parallel": True, "multi_turn": True, "leaves_alone": True} | dict.fromkeys(TOOLS, "native")
SIDE: dict[str, dict[str, Any]] = {
    "sim-honest": HONEST,
    "sim-thinks": HONEST,
    "sim-flaky": HONEST,
    "sim-halves": HONEST,
    "sim-fickle": dict.fromkeys(HONEST, MIXED) | dict.fromkeys(TOOLS, "native"),
    "sim-parallel-less": HONEST | {"parallel": False},
    "sim-loops": HONEST | {"parallel": False, "multi_turn": False},
    "sim-shell": HONEST | dict.fromkeys(TOOLS, "via_bash"),
}


@dataclass(frozen=True, slots=True)
class Found:
    """One test of one model, with the number of its requests."""

    model: str
    verdict: Verdict
    seconds: float
    requests: int

    @property
    def true(self) -> bool:
        if self.model in BY_CHANCE:
            return self.verdict.name in BY_CHANCE[self.model] and self.verdict.values.get("streaming") is not False
        name, values = TRUE[self.model]
        return self.verdict.name == name and all(self.verdict.values.get(key) == value for key, value in values.items())

    def side(self, capability: str) -> str:
        """Whether a side finding is right, unknown or wrong; "" where it was not looked for."""
        if self.model not in SIDE or self.verdict.values.get("tools") is not True:
            return ""
        found, true = self.verdict.values.get(capability), SIDE[self.model][capability]
        if found is None:
            return "right" if true == MIXED else "unknown"
        return "right" if found == true else "wrong"


async def one_test(url: str, model: str, seed: int) -> Found:
    made: list[ProbeTrial] = []

    async def keep(trial: ProbeTrial) -> None:
        made.append(trial)

    async def tell(step: StepProgress) -> None: ...

    thinks, request_spec = MODELS[model].thinks, RequestSpec(model, Capabilities({}))
    subject = ProbeTarget(Endpoint("ollama", url), request_spec, formats_for(()), thinks, runs_code=model == "sim-code")
    began = time.monotonic()
    verdict = await examine(ProbeRunner(subject, keep, random.Random(seed)), "tools", tell, lambda step: False)
    return Found(model, verdict, time.monotonic() - began, len(made))


async def run(seeds: Sequence[int], models: Sequence[str]) -> list[Found]:
    """Every model with every seed: each time with other words and numbers."""
    simulator = Simulator(pace_ms=0.0, load_seconds=0.2)
    await simulator.start()
    try:
        return [await one_test(simulator.url, model, seed) for seed in seeds for model in models]
    finally:
        await providers.close()
        await simulator.stop()


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--times", type=int, default=30)
    arguments.add_argument("--first", type=int, default=0, help="the first seed")
    arguments.add_argument("--models", nargs="*", default=[name for name, model in MODELS.items() if model.chats])
    asked = arguments.parse_args()
    found = asyncio.run(run(range(asked.first, asked.first + asked.times), asked.models))
    for model in asked.models:
        mine = [one for one in found if one.model == model]
        verdicts = ", ".join(f"{name} {count}" for name, count in Counter(one.verdict.name for one in mine).items())
        longest, requests = max(one.seconds for one in mine), sum(one.requests for one in mine) / len(mine)
        true = f"{sum(one.true for one in mine)} of {len(mine)}"
        print(f"| `{model}` | {verdicts} | {true} | {requests:.0f} | {longest:.2f} s |")
    for model in (model for model in SIDE if model in asked.models):
        counts = [side_counts([one for one in found if one.model == model], name) for name in GROUPS]
        print(f"| `{model}` | {' | '.join(counts)} |")


# What is counted together in the table of side findings.
GROUPS = {"parallel": ("parallel",), "second turn": ("multi_turn",), "control": ("leaves_alone",), "per tool": TOOLS}


def side_counts(found: Sequence[Found], group: str) -> str:
    """`30 / 0 / 0`: how many side findings were right, unknown and wrong."""
    told = Counter(one.side(capability) for one in found for capability in GROUPS[group])
    return " / ".join(str(told[word]) for word in ("right", "unknown", "wrong"))


if __name__ == "__main__":
    main()
