"""Compares ASGI servers with the product itself, in turns, by the CPU seconds of the server process.

`python -m tests.bench.servers ROUNDS NAME…` in an environment that has the servers, without names all that it has;
decision 023 has the figures.
"""

from __future__ import annotations

import asyncio
import shutil
import statistics
import sys
import tempfile
import time
import urllib.request
from collections import defaultdict
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tests.bench import load, processes, programs, site
from tests.bench.load import Scenario
from tests.bench.site import Bench

SCENARIOS = (
    Scenario("1", 1, 50, 20, rounds=8),
    Scenario("50", 50, 50, 20),
    Scenario("200", 200, 50, 20, rounds=1),
)
PAGES = 40
APPLICATION = "tests.bench.frozen:application"
UVICORN = ["-m", "uvicorn", APPLICATION, "--log-level", "warning", "--port", "{port}"]
GRANIAN = ["-m", "granian", APPLICATION, "--interface", "asgi", "--no-log", "--port", "{port}"]
HYPERCORN = ["-m", "hypercorn", APPLICATION, "--bind", "127.0.0.1:{port}"]
SERVERS = {
    "daphne": ["manage.py", "serve", "--port", "{port}"],
    "uvicorn-h11": [*UVICORN, "--http", "h11", "--loop", "asyncio", "--ws", "wsproto"],
    "uvicorn-httptools": [*UVICORN, "--http", "httptools", "--loop", "asyncio", "--ws", "websockets-sansio"],
    "uvicorn-uvloop": [*UVICORN, "--http", "httptools", "--loop", "uvloop", "--ws", "websockets-sansio"],
    "granian": [*GRANIAN, "--loop", "asyncio"],
    "granian-uvloop": [*GRANIAN, "--loop", "uvloop"],
    "hypercorn": HYPERCORN,
}
Rows = dict[tuple[str, str], list[float]]


def installed(name: str) -> bool:
    """Whether this environment has the server."""
    first, module, *_ = SERVERS[name]
    return first != "-m" or find_spec(module) is not None


def ask_pages(port: int, cookie: str, conversation: str) -> None:
    """Load a chat page, one after the other."""
    for _ in range(PAGES):
        asked = urllib.request.Request(f"http://127.0.0.1:{port}{conversation}", headers={"Cookie": cookie})
        with urllib.request.urlopen(asked, timeout=30) as answer:
            assert answer.status == 200 and len(answer.read()) > 1000


def run(bench: Bench, rows: Rows) -> None:
    """Measure pages, chats and the gateway once; adds CPU milliseconds, first token, memory and errors."""
    port, pid = bench.served[0]
    (path, cookie), *_ = bench.pages(SCENARIOS[0])
    path = path.removeprefix("/ws")
    ask_pages(port, cookie, path)  # the first ones load libraries
    before = processes.cost(pid)[0]
    ask_pages(port, cookie, path)
    rows["page", "CPU ms"].append((processes.cost(pid)[0] - before) / PAGES * 1000)
    for scenario in SCENARIOS:
        chat = load.chat(port, bench.pages(scenario), pid)
        for kind, target in (("chat", chat), ("gateway", programs.gateway(bench, scenario))):
            seen = load.summed(asyncio.run(load.measure(target, scenario)))
            name = f"{kind} {scenario.name}"
            rows[name, "CPU ms an answer"].append(seen.cpu / 1e5 * scenario.tokens * 1000)
            rows[name, "first token ms"].append(load.at(seen.firsts, 0.5))
            rows[name, "errors"].append(len(seen.errors))
            for error in sorted(set(seen.errors))[:2]:
                print(f"  {name}: {error}", flush=True)
    rows["all", "MiB"].append(processes.cost(pid)[1])


def serve(name: str, prepared: Path, env: dict[str, str], made: dict[str, Any], rows: Rows) -> None:
    """Run one server on a fresh copy of the prepared data directory."""
    with tempfile.TemporaryDirectory() as directory, ExitStack() as stack:
        shutil.copytree(prepared, directory, dirs_exist_ok=True)
        port = processes.free_port()
        own = env | {"TOOLSUPPORT_DATA_DIR": directory, "TOOLSUPPORT_ORIGINS": f"http://127.0.0.1:{port}"}
        command = [word.format(port=port) for word in SERVERS[name]]
        one = stack.enter_context(processes.running(command, processes.THEIRS, own))
        processes.wait_until_answers(f"http://127.0.0.1:{port}/healthz", one)
        time.sleep(2)  # what starts with the site ends first
        run(Bench([(port, one.pid)], 0, (0, 0), made, 0), rows)


def main(rounds: int, names: list[str]) -> None:
    rows: dict[str, Rows] = {name: defaultdict(list) for name in names}
    processes.pin(processes.OURS)
    upstream = processes.free_port()
    with tempfile.TemporaryDirectory() as directory, ExitStack() as stack:
        fake = ["-m", "tests.bench.upstream", "--port", str(upstream), *(each.model for each in SCENARIOS)]
        model_server = stack.enter_context(processes.running(fake, processes.OURS))
        env = site.environment(directory, upstream)
        processes.wait_until_answers(f"http://127.0.0.1:{upstream}/api/version", model_server)
        made = site.prepare(SCENARIOS, env)
        site.once(["manage.py", "collectstatic", "--no-input", "--verbosity", "0"], env)
        for turn in range(rounds):
            for name in names if turn % 2 == 0 else names[::-1]:
                print(f"round {turn + 1}: {name}", flush=True)
                serve(name, Path(directory), env, made, rows[name])
                show(rows, names)


def show(rows: dict[str, Rows], names: list[str]) -> None:
    """Print the medians as a table."""
    lines = dict.fromkeys(key for name in names for key in rows[name])
    print("| | " + " | ".join(names) + " |")
    for key in lines:
        cells = [f"{statistics.median(rows[name][key]):.1f}" if key in rows[name] else "" for name in names]
        print(f"| {', '.join(key)} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:] or [name for name in SERVERS if installed(name)])
