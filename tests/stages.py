"""Runs the parts of `make test`, or of `.ci/run`, side by side, and prints how long each of them took."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.fast_tests import SLOW

DAILY = "not nightly and not real_server and not clients and not agents"
# A file's tests share what they start, so they stay together.
WORKERS = ("--dist", "loadfile", "--no-loadscope-reorder")
# The build takes the tests in the order of their files, so that it can be repeated; `make test` shuffles them.
IN_ORDER = ("--randomly-dont-reorganize",)
AGAIN = ("--last-failed", "--last-failed-no-failures", "none")

LONE_TRIES = 2
BROWSER = "tests/e2e"
LONGEST = 2**24  # bytes of a line: what a failed comparison prints may be long
LIMIT = 3600.0  # seconds of a part: no promise, but an end
STUCK = 600.0  # seconds of one test: it fails some time before (tests/hung_tests.py), or its process ends
# What needs PostgreSQL or Redis, and what stores rows in ways of its own: `.ci/run` has servers for these.
ON_SERVERS = (
    *("tests/chat/test_several_processes.py", "tests/chat/test_redis_away.py"),
    *("tests/chat/test_person_deletion.py", "tests/toolsupport/sources/test_engines.py", "tests/upgrades"),
    *("tests/toolsupport/services/backups", "tests/toolsupport/config/test_postgresql_pool.py"),
    "tests/toolsupport/config/test_postgresql_locale.py",
)
# Here run: all that reaches rows itself (the registry, the transcript, migrations), one flow of each kind that writes
# from several tasks at once (answers, tests of models, exams, replays, batches), and what has several processes. Tests
# that reach rows only through those run on SQLite alone.
STORED = (
    *ON_SERVERS,
    *("tests/chat/transcript", "tests/toolsupport/registry", "tests/chat/turns/test_batch_writer.py"),
    *("tests/toolsupport/services/test_exam_worker.py", "tests/chat/turns/test_comparison_worker.py"),
    *(f"tests/chat/test_{name}.py" for name in ("end_to_end", "learning", "model_questions")),
)
SERVERS = ("TOOLSUPPORT_TEST_DATABASE_URL", "TOOLSUPPORT_TEST_REDIS_URL")


@dataclass(frozen=True)
class Part:
    """One run of pytest; `words` name its tests."""

    name: str
    processes: int
    words: tuple[str, ...]
    marked: str = DAILY
    environment: Mapping[str, str] = field(default_factory=dict)
    limit: float = LIMIT
    order: tuple[str, ...] = ()

    def command(self, *more: str) -> tuple[str, ...]:
        # What failed last is noted for each part by itself: they run at the same time.
        noted = ("-o", f"cache_dir=.pytest_cache/{self.name}")
        return (
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "--durations=40",
            "-m",
            self.marked,
            *noted,
            *("-p", "tests.hung_tests"),
            *("-o", f"faulthandler_timeout={STUCK}", "-o", "faulthandler_exit_on_timeout=true"),
            *self.order,
            *self.words,
            *more,
        )

    def first(self) -> tuple[str, ...]:
        """What its first run takes; what failed is then tried alone."""
        return ("-n", str(self.processes), *WORKERS, "--max-worker-restart=2")

    async def run(self, *more: str) -> bool:
        """Whether it passed. Its lines are printed behind its name, then its time."""
        began = time.monotonic()
        process = await asyncio.create_subprocess_exec(
            *self.command(*more),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            limit=LONGEST,
            env={**os.environ, **self.environment},
            start_new_session=True,
        )
        try:
            async with asyncio.timeout(self.limit):
                await self.show(process)
                passed = await process.wait() == 0
        except TimeoutError:
            print(f"== {self.name}: not finished after {self.limit:.0f} s, so it was ended", flush=True)
            passed = False
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # with all that it started
            await process.wait()
        print(f"== {self.name}: {'passed' if passed else 'FAILED'} after {time.monotonic() - began:.0f} s", flush=True)
        return passed

    async def show(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout
        async for line in process.stdout:
            print(f"{self.name:>8} | {line.decode(errors='replace')}", end="", flush=True)


class Target(Part):
    """A target of the Makefile; where it fails, it runs again as a whole: a download may have failed."""

    def command(self, *more: str) -> tuple[str, ...]:
        return ("make", *self.words)

    def first(self) -> tuple[str, ...]:
        return ()


def parts(kind: str) -> list[Part]:
    """The tests in a browser have processes of their own: a worker without them starts no Chromium."""
    if kind == "fast":
        # Files without a fast test are not even collected, which each process would do.
        left = [BROWSER, *(f"tests/{file}" for file in sorted(SLOW) if "::" not in file)]
        return [Part("fast", 3, ("tests", *(f"--ignore={path}" for path in left)), f"fast and {DAILY}")]
    if kind == "everything":
        return everything()
    rest = Part("rest", 3, ("tests", f"--ignore={BROWSER}"))
    return [rest, Part("browser", 2, (BROWSER,))] if os.environ.get("CHROMIUM") else [rest]


def everything() -> list[Part]:
    """What `.ci/run` runs: nothing waits for another part, so that both cores always have work."""
    left = tuple(f"--ignore={path}" for path in (BROWSER, *ON_SERVERS))
    alone = dict.fromkeys(SERVERS, "")
    return [
        Target("check", 1, ("check",), limit=600),
        Part("rest", 3, ("tests", *left), environment=alone, order=IN_ORDER),
        Part("browser", 2, (BROWSER,), environment=alone, order=IN_ORDER),
        Part("servers", 2, STORED, order=IN_ORDER),
        Target("real", 1, ("real",), environment=alone, limit=1200),
    ]


async def main(kind: str) -> int:
    """The exit code. Some tests promise times, which a busy machine may miss: what failed runs alone, twice at most."""
    chosen = parts(kind)
    this = asyncio.current_task()
    assert this
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, this.cancel)
    ran = await asyncio.gather(*(part.run(*part.first()) for part in chosen))
    failed = [part for part, passed in zip(chosen, ran, strict=True) if not passed]
    for _ in range(LONE_TRIES):
        failed = [part for part in failed if not await part.run(*AGAIN)]
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(asyncio.run(main(*(sys.argv[1:] or ["all"]))))
