"""Streams through the chat, beside a direct connection to the same model server in the same run.

`python -m tests.bench.streams [--quick]` prints one line for each scenario, with what is promised beside what was seen.
Quote the ratios and the added times, never the absolute ones: they belong to the machine.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tests.bench import load, processes
from tests.bench.load import Figures, Scenario

SCENARIOS = (
    Scenario("paced 1", 1, 50, 20, rounds=5),
    Scenario("paced 50", 50, 50, 20, rounds=2),
    Scenario("paced 200", 200, 50, 20, rounds=2),
    Scenario("flood 10", 10, 5000, 0, rounds=1),
)
QUICK = (Scenario("paced 1", 1, 50, 20, rounds=2), Scenario("paced 50", 50, 50, 20, rounds=1))


@dataclass(frozen=True)
class Promise:
    """A figure that must be reached: at least `least`, or at most `most`."""

    figure: str
    most: float = float("inf")
    least: float = 0.0

    def words(self) -> str:
        return f"≥ {self.least:,g}" if self.least else f"≤ {self.most:,g}"


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


def kept(promise: Promise, seen: Mapping[str, float]) -> bool:
    return promise.least <= seen[promise.figure] <= promise.most


def report(name: str, seen: Mapping[str, float], errors: Sequence[str]) -> None:
    print(f"\n{name}: " + " · ".join(f"{figure} {value:,.2f}" for figure, value in seen.items()), flush=True)
    for promise in PROMISES.get(name, ()):
        verdict = "kept  " if kept(promise, seen) else "MISSED"
        print(f"  {verdict} {promise.figure} {seen[promise.figure]:,.2f} (promised {promise.words()})", flush=True)
    for error in sorted(set(errors))[:3]:
        print(f"  error: {error}", flush=True)


def environment(directory: str, upstream: int) -> dict[str, str]:
    """The settings of the server that is measured: one model server, no simulated models, no limits in the way."""
    return {
        "DJANGO_SETTINGS_MODULE": "toolsupport.settings",
        "TOOLSUPPORT_DATA_DIR": directory,
        "TOOLSUPPORT_SERVERS": f"bench=ollama+http://127.0.0.1:{upstream}",
        "TOOLSUPPORT_SIMULATOR": "off",
        "TOOLSUPPORT_ADMIN": "starter:a-password-for-measuring-1",
        "TOOLSUPPORT_RUNNING_TURNS": "1000",
        "TOOLSUPPORT_TURNS_PER_PERSON": "1000",
        "TOOLSUPPORT_SOCKETS_PER_PERSON": "1000",
        "TOOLSUPPORT_DRAIN_SECONDS": "1",
        "OLLAMA_HOST": "",
    }


def once(command: list[str], env: Mapping[str, str]) -> str:
    """Run a Python command to its end; its output. Raises CalledProcessError."""
    whole = {**os.environ, **env}
    return subprocess.run(
        [sys.executable, *command], cwd=processes.ROOT, env=whole, stdout=subprocess.PIPE, check=True
    ).stdout.decode()


def prepare(scenarios: Sequence[Scenario], env: Mapping[str, str]) -> tuple[str, dict[str, list[str]]]:
    """A database with the model server's models and enough conversations: (cookie, paths by model)."""
    once(["manage.py", "migrate", "--no-input", "--verbosity", "0"], env)
    once(["manage.py", "refresh_models"], env)
    counts: dict[str, int] = {}
    for scenario in scenarios:
        counts[scenario.model] = max(scenario.streams, counts.get(scenario.model, 0))
    made = json.loads(once(["-m", "tests.bench.seed", json.dumps(counts)], env).splitlines()[-1])
    return made["cookie"], made["paths"]


def main(scenarios: Sequence[Scenario]) -> None:
    processes.pin(processes.OURS)
    upstream, port = processes.free_port(), processes.free_port()
    with (
        tempfile.TemporaryDirectory() as directory,
        processes.running(["-m", "tests.bench.upstream", "--port", str(upstream)], processes.OURS) as model_server,
    ):
        env = environment(directory, upstream)
        processes.wait_until_answers(f"http://127.0.0.1:{upstream}/api/version", model_server)
        cookie, paths = prepare(scenarios, env)
        with processes.running(["manage.py", "serve", "--port", str(port)], processes.THEIRS, env) as server:
            ready = processes.wait_until_answers(f"http://127.0.0.1:{port}/healthz", server)
            busy = f"{os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
            print(f"ready after {ready:.1f} s (promised ≤ 3), load average {busy}", flush=True)
            for scenario in scenarios:
                ours = load.chat(port, cookie, paths[scenario.model], server.pid)
                plain = asyncio.run(load.measure(load.direct(upstream), scenario))
                seen = asyncio.run(load.measure(ours, scenario))
                report(scenario.name, compare(seen, plain), seen.errors)


if __name__ == "__main__":
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--quick", action="store_true", help="only the short scenarios")
    main(QUICK if given.parse_args().quick else SCENARIOS)
