"""Streams through the chat and the gateway, beside a direct connection and the raw relay of the same run, in turns."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from tests.bench import load, programs
from tests.bench.load import Figures, Scenario, Target
from tests.bench.site import Bench
from tests.bench.verdicts import Line, Promise, judge

KINDS = ("chat", "gateway")
WARM = Scenario("warm", 4, 50, 1)
# The relay takes 1.3 to 2.3 ms for an answer, one round differs from the next: a ratio to it needs several.
SCENARIOS = (
    Scenario("1", 1, 50, 20, times=20),
    Scenario("50", 50, 50, 20, times=2),
    Scenario("200", 200, 50, 20, times=5),
    Scenario("flood", 10, 5000, 0, rounds=1),
)
QUICK = (Scenario("1", 1, 50, 20, times=4), Scenario("200", 200, 50, 20, rounds=1))
ERRORS = Promise("errors", 0)
FIRST, LATER = "first messages", "later ones"
# Of the first messages of new conversations; later ones are printed.
PROMISES = {
    "1": (Promise("added first", 5), Promise("added token", 5), ERRORS),
    "50": (Promise("share", least=0.98), Promise("added first", 15), ERRORS),
    "200": (
        Promise("share", least=0.9),
        Promise("added first", 150),
        Promise("added token", 25),
        Promise("added token p95", 60),
        Promise("cpu s/100k", 25),
        ERRORS,
    ),
    "flood": (Promise("tokens/s of the relay's", least=0.8), Promise("tokens/s", least=30_000), ERRORS),
}
TIMES = {"chat": Promise("times the relay's cpu", 5), "gateway": Promise("times the relay's cpu", 4)}
Found = dict[tuple[str, str], Figures]


def needed(scenarios: Sequence[Scenario], kinds: Sequence[str]) -> list[Scenario]:
    """Each scenario of each kind by a name of its own, so that none shares models, people or conversations."""
    return [named(kind, scenario) for kind in kinds for scenario in (WARM, *scenarios)]


def named(kind: str, scenario: Scenario) -> Scenario:
    return replace(scenario, name=f"{kind} {scenario.name}")


def measured(bench: Bench, scenarios: Sequence[Scenario], kinds: Sequence[str]) -> list[Line]:
    """All of them; what a process does only once, it does before."""
    for kind in kinds:
        one = named(kind, WARM)
        asyncio.run(load.measure(target(bench, kind, one, 0), one))
    asyncio.run(load.measure(load.relay(*bench.relay), WARM))
    return [line for scenario in scenarios for line in _scenario(bench, scenario, kinds)]


def target(bench: Bench, kind: str, scenario: Scenario, time: int) -> Target:
    if kind == "gateway":
        return programs.gateway(bench, scenario)
    port, pid = bench.served[0]
    return load.chat(port, bench.pages(scenario, time), pid)


def _scenario(bench: Bench, scenario: Scenario, kinds: Sequence[str]) -> list[Line]:
    found = _in_turns(bench, scenario, kinds)
    lines = []
    for (name, phase), seen in found.items():
        figures = compare(seen, found["direct", phase], found["relay", phase])
        print(f"{name} {scenario.name}, {phase}: {_words(figures)}", flush=True)
        for error in sorted(set(seen.errors))[:3]:
            print(f"  error: {error}", flush=True)
        if name in kinds and phase == FIRST:
            promised = PROMISES[scenario.name] + ((TIMES[name],) if scenario.name == "200" else ())
            lines += judge(f"{name}, {scenario.name}", promised, figures)
    return lines


def _in_turns(bench: Bench, scenario: Scenario, kinds: Sequence[str]) -> Found:
    """Direct, relay and each kind after the other, as often as the scenario wants it."""
    rounds: dict[tuple[str, str], list[Figures]] = defaultdict(list)
    for time in range(scenario.times):
        plain = {"direct": load.direct(bench.upstream), "relay": load.relay(*bench.relay)}
        targets = plain | {kind: target(bench, kind, named(kind, scenario), time) for kind in kinds}
        for name, one in targets.items():
            asked = named(name if name in kinds else kinds[0], scenario)
            for number, seen in enumerate(asyncio.run(load.measure(one, asked, time))):
                rounds[name, LATER if number else FIRST].append(seen)
    return {key: load.summed(each) for key, each in rounds.items()}


def compare(ours: Figures, plain: Figures, relay: Figures) -> dict[str, float]:
    """Our figures as ratios and differences to the direct connection and the relay of the same run."""
    return {
        "share": ours.rate / plain.rate if plain.rate else 0.0,
        "added first": load.at(ours.firsts, 0.5) - load.at(plain.firsts, 0.5),
        "added first p95": load.at(ours.firsts, 0.95) - load.at(plain.firsts, 0.95),
        "added token": load.at(ours.latencies, 0.5) - load.at(plain.latencies, 0.5),
        "added token p95": load.at(ours.latencies, 0.95) - load.at(plain.latencies, 0.95),
        "cpu s/100k": ours.cpu,
        "times the relay's cpu": ours.cpu / relay.cpu if relay.cpu else 0.0,
        "tokens/s": ours.rate,
        "tokens/s of the relay's": ours.rate / relay.rate if relay.rate else 0.0,
        "memory MiB": ours.memory,
        "errors": float(len(ours.errors)),
    }


def _words(figures: dict[str, float]) -> str:
    return " · ".join(f"{name} {value:,.2f}" for name, value in figures.items())
