"""Measures a process and all its children from outside, while they run."""

from __future__ import annotations

import os
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True)
class ResourceUsage:
    """`memory` in bytes; `cpu` in seconds, including children that have ended."""

    memory: int
    cpu: float
    processes: int


def used_by(root: int) -> ResourceUsage:
    """Return the present usage of the process `root` and its descendants. Blocks on reading /proc."""
    below, cpu = _processes()
    waiting, family = [root], []
    while waiting:
        one = waiting.pop()
        family.append(one)
        waiting += below.get(one, [])
    return ResourceUsage(sum(map(_memory, family)), sum(cpu.get(one, 0) for one in family), len(family))


def _processes() -> tuple[dict[int, list[int]], dict[int, float]]:
    """Return the children and the CPU time of every process of this machine."""
    below: dict[int, list[int]] = defaultdict(list)
    cpu: dict[int, float] = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            # The name of a program stands in brackets and may hold anything.
            fields = Path("/proc", name, "stat").read_text(errors="replace").rpartition(")")[2].split()
            below[int(fields[1])].append(int(name))
            cpu[int(name)] = sum(map(int, fields[11:15])) / TICKS
    return below, cpu


def _memory(process: int) -> int:
    """Return its proportional memory use; 0 if the process has ended."""
    with suppress(OSError):
        for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    with suppress(OSError):
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * PAGE
    return 0


def memory_left() -> int:
    """Return the memory that programs of this machine could still get, in bytes."""
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return 0
