"""Attacks on the sandbox, again and again: how far each gets, how long it lives, what is left of it."""

from __future__ import annotations

import argparse
import asyncio
import random
import shutil
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from chat.tools.files.workspace import Workspace
from chat.tools.sandbox import shell_process, usage
from chat.tools.sandbox.bwrap import MIB
from chat.tools.sandbox.shell_process import LIMITS

QUOTA = 100 * MIB
SECONDS = 4
MARK = "4747"  # in the command line of what would be left over

ATTACKS = {
    "nothing": "true",
    "forks": f"f() {{ f | f & }}; f; sleep {MARK}",
    "memory of one": "python3 -c 'kept = []\nwhile True: kept.append(bytearray(10**7))'",
    "memory of many": "for n in {1..9}; do python3 -c 'kept = b\"x\" * 10**8; input()' <> /tmp/p$n & done; wait",
    "large files": "n=0; while :; do n=$((n+1)); head -c 49M /dev/zero > $n; done",
    "many files": "n=0; while :; do n=$((n+1)); : > $n; done",
    "deep directories": "while :; do mkdir -p d/d/d/d/d/d/d/d && cd d/d/d/d/d/d/d/d; done",
    "temporary files": f"cat /dev/zero > /tmp/full; cat /dev/zero > /dev/shm/full; sleep {MARK}",
    "processor": "for n in {1..8}; do while :; do :; done & done; wait",
    "flood": "yes a long line that comes again and again",
    "background": f"trap '' TERM; setsid sleep {MARK} & nohup sleep {MARK} & exec >/dev/null 2>&1; sleep {MARK}",
}


@dataclass(frozen=True, slots=True)
class Attack:
    """Seconds it lived; bytes its workspace held at the end; the most memory it was seen to have; processes left."""

    kind: str
    seconds: float
    held: int
    memory: int
    left: int
    why: str


def left_over() -> int:
    """Processes of this machine that an attack began."""
    found = 0
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            found += path.read_bytes().startswith(b"sleep\0" + MARK.encode())
    return found


async def attack(kind: str, root: Path) -> Attack:
    """One attack in a workspace of its own, removed afterwards."""
    workspace = Workspace(root, QUOTA)
    workspace.root.mkdir()
    peak = 0
    look = usage.used_by

    def used_by(root: int) -> usage.ResourceUsage:
        nonlocal peak
        used = look(root)
        peak = max(peak, used.memory)
        return used

    usage.used_by = used_by
    began = time.monotonic()
    try:
        ended = await shell_process.run(workspace, ATTACKS[kind], lambda _: None, replace(LIMITS, seconds=SECONDS))
    finally:
        usage.used_by = look
    seconds = time.monotonic() - began
    held = sum(path.lstat().st_blocks * 512 for path in root.rglob("*"))
    shutil.rmtree(root)
    return Attack(kind, seconds, held, peak, left_over(), ended.why)


def run(times: int, seed: int = 1) -> list[Attack]:
    """Every attack so many times, in any order."""
    kinds = [kind for kind in ATTACKS for _ in range(times)]
    random.Random(seed).shuffle(kinds)
    with TemporaryDirectory(prefix="toolsupport-attacks-") as place:
        return [asyncio.run(attack(kind, Path(place, str(number)))) for number, kind in enumerate(kinds)]


async def stopped(root: Path) -> float:
    """Seconds from a stop in the middle of a command until nothing of it is left."""
    workspace, received = Workspace(root), asyncio.Event()
    workspace.root.mkdir()
    command = f"trap '' TERM INT; for n in 1 2 3; do setsid sleep {MARK} & done; echo up; sleep {MARK}"
    running = asyncio.ensure_future(shell_process.run(workspace, command, lambda _: received.set()))
    async with asyncio.timeout(60):
        await received.wait()
    began = time.monotonic()
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running
    assert not left_over()
    return time.monotonic() - began


def stop(times: int) -> list[float]:
    """So many commands, each stopped while it runs."""
    with TemporaryDirectory(prefix="toolsupport-stops-") as place:
        return sorted(asyncio.run(stopped(Path(place, str(number)))) for number in range(times))


def table(found: list[Attack]) -> Iterator[str]:
    """A line for each kind, with the worst that was seen."""
    for kind in ATTACKS:
        these = [one for one in found if one.kind == kind]
        seconds, held = max(one.seconds for one in these), max(one.held for one in these) / MIB
        memory, left = max(one.memory for one in these) / MIB, sum(one.left for one in these)
        whys = sorted({one.why for one in these})
        yield f"| {kind} | {seconds:.2f} s | {held:.0f} MiB | {memory:.0f} MiB | {left} | {' / '.join(whys)} |"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=20)
    chosen = parser.parse_args()
    print("\n".join(table(run(chosen.times))))
    delays = stop(chosen.times)
    print(f"stops: {len(delays)}, median {delays[len(delays) // 2] * 1000:.0f} ms, longest {delays[-1] * 1000:.0f} ms")
