"""Runs the parts of `make test` side by side, and prints how long each of them took."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from dataclasses import dataclass

DAILY = "not nightly and not real_server and not clients"
# A file's tests share what they start, so they stay together.
WORKERS = ("--dist", "loadfile", "--no-loadscope-reorder")
AGAIN = ("--last-failed", "--last-failed-no-failures", "none")

BROWSER = "tests/e2e"
LONGEST = 2**24  # bytes of a line: what a failed comparison prints may be long


@dataclass(frozen=True)
class Part:
    """One run of pytest; `words` name its tests."""

    name: str
    processes: int
    words: tuple[str, ...]
    marked: str = DAILY

    def command(self, *more: str) -> tuple[str, ...]:
        # What failed last is noted for each part by itself: they run at the same time.
        noted = ("-o", f"cache_dir=.pytest_cache/{self.name}")
        return (sys.executable, "-m", "pytest", "-q", "-m", self.marked, *noted, *self.words, *more)

    async def run(self, *more: str) -> bool:
        """Whether it passed. Its lines are printed behind its name, then its time."""
        began = time.monotonic()
        command = self.command(*more)
        process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE, limit=LONGEST)
        assert process.stdout
        async for line in process.stdout:
            print(f"{self.name:>8} | {line.decode(errors='replace')}", end="", flush=True)
        passed = await process.wait() == 0
        print(f"== {self.name}: {'passed' if passed else 'FAILED'} after {time.monotonic() - began:.0f} s", flush=True)
        return passed


def parts(kind: str) -> list[Part]:
    """The tests in a browser have processes of their own: a worker without them starts no Chromium."""
    if kind == "fast":
        return [Part("fast", 2, ("tests", f"--ignore={BROWSER}"), f"fast and {DAILY}")]
    rest = Part("rest", 4, ("tests", f"--ignore={BROWSER}"))
    return [rest, Part("browser", 3, (BROWSER,))] if os.environ.get("CHROMIUM") else [rest]


async def main(kind: str) -> int:
    """The exit code. Some tests promise times, which a busy machine may miss: what failed runs once more, alone."""
    chosen = parts(kind)
    ran = await asyncio.gather(*(part.run("-n", str(part.processes), *WORKERS) for part in chosen))
    again = [part for part, passed in zip(chosen, ran, strict=True) if not passed]
    return int(not all([await part.run(*AGAIN) for part in again]))


if __name__ == "__main__":
    sys.exit(asyncio.run(main(*(sys.argv[1:] or ["all"]))))
