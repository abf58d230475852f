"""Measures a process and all its children from outside, while they run."""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from chat.tools.sandbox import server_cgroup

TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")
LOOK_AT_SHARED = 0.1  # seconds


@dataclass(frozen=True, slots=True)
class ResourceUsage:
    """`memory` in bytes; `cpu` in seconds, including children that have ended; `members` are the processes."""

    memory: int
    cpu: float
    members: tuple[int, ...]


def used_by(root: int, enough: int = 0) -> ResourceUsage:
    """Return the present usage of the process `root` and its descendants. Blocks on reading /proc.

    Memory of at most `enough` bytes is an upper bound: pages that processes share are counted for each.
    """
    below, cpu = _processes()
    waiting, family = [root], []
    while waiting:
        one = waiting.pop()
        family.append(one)
        waiting += below.get(one, [])
    return ResourceUsage(_memory(family, enough), sum(cpu.get(one, 0) for one in family), tuple(family))


def _processes() -> tuple[dict[int, list[int]], dict[int, float]]:
    """Return the children and the CPU time of every process of this machine."""
    below: dict[int, list[int]] = defaultdict(list)
    cpu: dict[int, float] = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            # The name of a program is in brackets and may contain any character.
            fields = Path("/proc", name, "stat").read_text(errors="replace").rpartition(")")[2].split()
            below[int(fields[1])].append(int(name))
            cpu[int(name)] = sum(map(int, fields[11:15])) / TICKS
    return below, cpu


def _memory(family: list[int], enough: int) -> int:
    """Return the memory of the processes; shared pages are counted once if the sum matters, and if that is quick.

    The kernel needs milliseconds for the shared pages of a process with 65,000 mappings, which delayed all checks.
    """
    resident = {process: _resident(process) for process in family}
    end = time.monotonic() + LOOK_AT_SHARED
    for process in sorted(family, key=resident.__getitem__, reverse=True):
        if sum(resident.values()) <= enough or time.monotonic() > end:
            break
        resident[process] = _proportional(process, resident[process])
    return sum(resident.values())


def with_memory(process: int) -> Path:
    """Return the directory in /proc that shows a process's memory: not its own if its first thread has ended."""
    place = Path("/proc", str(process))
    if not _pages(place)[0]:
        with suppress(OSError):
            return next((one for one in (place / "task").iterdir() if _pages(one)[0]), place)
    return place


def _pages(place: Path) -> tuple[int, int]:
    """Return how many pages a process or a thread has: all, and those in memory."""
    with suppress(OSError):
        every, resident = (place / "statm").read_text().split()[:2]
        return int(every), int(resident)
    return 0, 0


def _resident(process: int) -> int:
    return _pages(with_memory(process))[1] * PAGE


def _proportional(process: int, otherwise: int) -> int:
    with suppress(OSError):
        for line in (with_memory(process) / "smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    return otherwise


def memory_left() -> int:
    """Return the memory that programs of this machine, or of this container, could still get, in bytes."""
    return min([_meminfo()["MemAvailable"], *server_cgroup.memory_left()])


# Memory of the machine that belongs to programs, holds copies of files, or can be given back.
_COUNTED = ("MemFree", "Buffers", "Cached", "SwapCached", "AnonPages", "SReclaimable")


def kernel_memory() -> int:
    """Return the memory that the kernel of this machine uses for itself, in bytes.

    No limit on processes counts it: buffers of sockets and pipes, locks, tables of mappings.
    """
    found = _meminfo()
    return found["MemTotal"] - sum(found[name] for name in _COUNTED)


def shared_memory() -> int:
    """Return the memory of this machine that programs share or temporary file systems hold, in bytes.

    Shared memory stays when a program releases its pages (MADV_DONTNEED), and then no process shows it.
    """
    return _meminfo()["Shmem"]


def _meminfo() -> dict[str, int]:
    lines = (line.split() for line in Path("/proc/meminfo").read_text().splitlines())
    return {fields[0].rstrip(":"): int(fields[1]) * 1024 for fields in lines}


TEMPORARY = ("tmp", "dev/shm")


@dataclass(frozen=True, slots=True)
class TemporaryFiles:
    """The files in the private temporary directories of a sandbox; `size` in bytes."""

    count: int = 0
    size: int = 0


def temporary(members: Iterable[int]) -> TemporaryFiles:
    """Return the contents of a sandbox's temporary directories, read through one of its processes."""
    here = os.stat("/").st_dev
    for process in members:
        with suppress(OSError):
            top = Path(f"/proc/{process}/root")
            if top.stat().st_dev != here:
                held = [os.statvfs(top / name) for name in TEMPORARY]
                size = sum((one.f_blocks - one.f_bfree) * one.f_frsize for one in held)
                return TemporaryFiles(sum(one.f_files - one.f_ffree for one in held), size)
    return TemporaryFiles()
