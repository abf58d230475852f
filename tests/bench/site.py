"""Starts the site that is measured, alone or as two processes on PostgreSQL and Redis."""

from __future__ import annotations

import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.bench import processes
from tests.bench.load import Scenario


@dataclass(frozen=True)
class Bench:
    """A running site: the processes as (port, pid), the ports of what it is compared with, and what `seed` made."""

    served: Sequence[tuple[int, int]]
    upstream: int
    relay: tuple[int, int]
    made: Mapping[str, Any]
    ready: float

    def pages(self, scenario: Scenario, time: int = 0) -> Sequence[Sequence[str]]:
        """(path, cookie) of each new conversation of a scenario, when it is measured for the first, second … time."""
        found: Sequence[Sequence[str]] = self.made[scenario.model]["pages"]
        return found[time * scenario.streams : (time + 1) * scenario.streams]

    def keys(self, scenario: Scenario) -> Sequence[str]:
        found: Sequence[str] = self.made[scenario.model]["keys"]
        return found


def environment(directory: str, upstream: int) -> dict[str, str]:
    """The settings of the server that is measured: one model server, no simulated models, no limits in the way."""
    return {
        "DJANGO_SETTINGS_MODULE": "toolsupport.config.settings",
        "TOOLSUPPORT_DATA_DIR": directory,
        "TOOLSUPPORT_SERVERS": f"bench=ollama+http://127.0.0.1:{upstream}",
        "TOOLSUPPORT_SIMULATOR": "off",
        "TOOLSUPPORT_ADMIN": "starter:a-password-for-measuring-1",
        "TOOLSUPPORT_RUNNING_TURNS": "1000",
        "TOOLSUPPORT_TURNS_PER_PERSON": "1000",
        "TOOLSUPPORT_SOCKETS_PER_PERSON": "10000",
        "TOOLSUPPORT_KEY_REQUESTS": "1000000",
        "TOOLSUPPORT_ANSWERS_PER_KEY": "1000",
        "TOOLSUPPORT_DRAIN_SECONDS": "1",
        "OLLAMA_HOST": "",
    }


def once(command: list[str], env: Mapping[str, str]) -> str:
    """Run a Python command to its end; its output. Raises CalledProcessError."""
    whole = {**os.environ, **env}
    return subprocess.run(
        [sys.executable, *command], cwd=processes.ROOT, env=whole, stdout=subprocess.PIPE, check=True
    ).stdout.decode()


def prepare(scenarios: Sequence[Scenario], env: Mapping[str, str]) -> dict[str, Any]:
    """A database with the model server's models and enough conversations: what `seed` says of it."""
    once(["manage.py", "migrate", "--no-input", "--verbosity", "0"], env)
    once(["manage.py", "refresh_models"], env)
    counts = {scenario.model: scenario.chats for scenario in scenarios}
    made: dict[str, Any] = json.loads(once(["-m", "tests.bench.seed", json.dumps(counts)], env).splitlines()[-1])
    return made


@contextmanager
def serving(scenarios: Sequence[Scenario], workers: int = 1, more: Mapping[str, str] | None = None) -> Iterator[Bench]:
    """The site, ready, with enough conversations for these scenarios."""
    processes.pin(processes.OURS)
    upstream = processes.free_port()
    with ExitStack() as stack:
        directory = stack.enter_context(tempfile.TemporaryDirectory())
        fake = ["-m", "tests.bench.upstream", "--port", str(upstream), *(each.model for each in scenarios)]
        model_server = stack.enter_context(processes.running(fake, processes.OURS))
        env = environment(directory, upstream) | dict(more or {})
        processes.wait_until_answers(f"http://127.0.0.1:{upstream}/api/version", model_server)
        relay = stack.enter_context(relaying(upstream))
        made = prepare(scenarios, env)
        served, ready = [], 0.0
        for _ in range(workers):
            port = processes.free_port()
            # Two of them share the cores with everything else.
            cores = processes.THEIRS if workers == 1 else processes.OURS | processes.THEIRS
            one = stack.enter_context(processes.running(["manage.py", "serve", "--port", str(port)], cores, env))
            ready = max(ready, processes.wait_until_answers(f"http://127.0.0.1:{port}/healthz", one))
            served.append((port, one.pid))
        yield Bench(served, upstream, relay, made, ready)


@contextmanager
def relaying(upstream: int) -> Iterator[tuple[int, int]]:
    """The relay that a site is compared with, as (port, pid); on the core that the site has."""
    port = processes.free_port()
    command = ["-m", "tests.bench.relay", "--port", str(port), "--upstream", str(upstream)]
    with processes.running(command, processes.THEIRS) as one:
        processes.wait_until_listens(port, one)
        yield port, one.pid


def programs() -> str | None:
    """Where PostgreSQL's own programs are; Debian keeps them off the path."""
    found = shutil.which("initdb", path=os.pathsep.join([os.environ["PATH"], *glob.glob("/usr/lib/postgresql/*/bin")]))
    return str(Path(found).parent) if found and shutil.which("redis-server") else None


@contextmanager
def databases(found: str) -> Iterator[dict[str, str]]:
    """A PostgreSQL and a Redis of our own, as the site's environment names them."""
    with tempfile.TemporaryDirectory() as directory:
        os.chmod(directory, 0o711)
        rows, log = Path(directory, "rows"), Path(directory, "log")
        rows.mkdir(mode=0o700)
        log.touch()
        root = os.getuid() == 0
        if root:
            shutil.chown(rows, "postgres")
            shutil.chown(log, "postgres")
        start = ["runuser", "-u", "postgres", "--"] if root else []
        port, redis_port = processes.free_port(), processes.free_port()
        made = [f"{found}/initdb", "-D", str(rows), "-U", "toolsupport", "-A", "trust", "-E", "UTF8"]
        subprocess.run([*start, *made], check=True, stdout=subprocess.DEVNULL)
        options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories="
        control = [*start, f"{found}/pg_ctl", "-D", str(rows)]
        subprocess.run([*control, "-l", str(log), "-o", options, "-w", "start"], check=True, stdout=subprocess.DEVNULL)
        kept = ["redis-server", "--bind", "127.0.0.1", "--port", str(redis_port), "--save", "", "--dir", directory]
        redis = subprocess.Popen(kept, stdout=subprocess.DEVNULL)
        try:
            yield {
                "DATABASE_URL": f"postgresql://toolsupport@127.0.0.1:{port}/postgres",
                "REDIS_URL": f"redis://127.0.0.1:{redis_port}",
            }
        finally:
            redis.terminate()
            redis.wait(10)
            subprocess.run([*control, "-m", "immediate", "stop"], check=True, stdout=subprocess.DEVNULL)
