"""Streams through the chat, beside a direct connection to the same model server in the same run."""

from __future__ import annotations

import asyncio

from tests.bench import load
from tests.bench.load import Figures, Scenario
from tests.bench.site import Bench
from tests.bench.verdicts import Line, Promise, judge

SCENARIOS = (
    Scenario("paced 1", 1, 50, 20, rounds=5),
    Scenario("paced 50", 50, 50, 20, rounds=2),
    Scenario("paced 200", 200, 50, 20, rounds=2),
    Scenario("flood 10", 10, 5000, 0, rounds=1),
)
QUICK = (Scenario("paced 1", 1, 50, 20, rounds=2), Scenario("paced 50", 50, 50, 20, rounds=1))


PROMISES = {
    "paced 1": (Promise("added first", 10), Promise("added token", 5)),
    "paced 200": (
        Promise("share", least=0.95),
        Promise("added first", 15),
        Promise("added token", 25),
        Promise("added token p95", 60),
        Promise("cpu s/100k", 25),
        Promise("memory MiB", 180),
        Promise("errors", 0),
    ),
    "flood 10": (Promise("tokens/s", least=30_000), Promise("errors", 0)),
}


def compare(ours: Figures, plain: Figures) -> dict[str, float]:
    """Our figures as ratios and differences to the direct connection of the same run."""
    return {
        "share": ours.rate / plain.rate if plain.rate else 0.0,
        "added first": ours.first - plain.first,
        "added token": ours.token - plain.token,
        "added token p95": ours.token_95 - plain.token_95,
        "cpu s/100k": ours.cpu,
        "memory MiB": ours.memory,
        "tokens/s": ours.rate,
        "errors": float(len(ours.errors)),
    }


def measured(bench: Bench, scenario: Scenario) -> list[Line]:
    """One scenario, beside a direct connection in the same run; prints all it saw."""
    port, pid = bench.served[0]
    ours = load.chat(port, bench.cookie, bench.paths[scenario.model][: scenario.streams], pid)
    plain = asyncio.run(load.measure(load.direct(bench.upstream), scenario))
    seen = asyncio.run(load.measure(ours, scenario))
    figures = compare(seen, plain)
    print(f"{scenario.name}: " + " · ".join(f"{name} {value:,.2f}" for name, value in figures.items()), flush=True)
    for error in sorted(set(seen.errors))[:3]:
        print(f"  error: {error}", flush=True)
    return judge(scenario.name, PROMISES.get(scenario.name, ()), figures)
