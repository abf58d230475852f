"""Reads the limits on memory of the control groups that this process is in (Linux, both versions)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc/self")
NO_LIMIT = 2**60  # bytes: version 1 writes the largest number it has; version 2 writes "max"


@dataclass(frozen=True, slots=True)
class _Version:
    """The names of one version: its file system, the controller in /proc/self/cgroup, its files."""

    filesystem: str
    controller: str
    limit: str
    used: str
    reclaimable: str


VERSIONS = (
    _Version("cgroup2", "", "memory.max", "memory.current", "inactive_file"),
    _Version("cgroup", "memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
)


def memory_left(proc: Path = PROC) -> Iterator[int]:
    """Yield the bytes that are left below each limit; nothing without a limit."""
    for version in VERSIONS:
        for directory in _directories(version, proc):
            with suppress(OSError, ValueError):
                limit = int((directory / version.limit).read_text())
                if limit < NO_LIMIT:
                    yield limit - int((directory / version.used).read_text()) + _reclaimable(directory, version)


def own_group(proc: Path = PROC) -> tuple[Path | None, bool]:
    """Return the directory of this process's group of version 2, and whether it is the top of what is mounted."""
    found = list(_directories(VERSIONS[0], proc))
    return (found[0], len(found) == 1) if found and (found[0] / "cgroup.procs").exists() else (None, False)


def _reclaimable(directory: Path, version: _Version) -> int:
    lines = (directory / "memory.stat").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith(version.reclaimable + " "))


def _directories(version: _Version, proc: Path) -> Iterator[Path]:
    """Yield the directory of this process's group and those above it, as far as they are mounted."""
    for line in _lines(proc / "cgroup"):
        _, controllers, path = line.split(":", 2)
        if version.controller in controllers.split(","):
            for root, mounted in _mounts(version, proc):
                with suppress(ValueError):
                    below = Path(path).relative_to(root)
                    yield from (mounted / one for one in (below, *below.parents))


def _mounts(version: _Version, proc: Path) -> Iterator[tuple[Path, Path]]:
    """Yield (the group that is mounted, where)."""
    for line in _lines(proc / "mountinfo"):
        before, _, after = line.partition(" - ")
        filesystem, _, options = after.split(" ", 2)
        if filesystem == version.filesystem and version.controller in ["", *options.split(",")]:
            yield Path(before.split()[3]), Path(before.split()[4])


def _lines(path: Path) -> list[str]:
    with suppress(OSError):
        return path.read_text().splitlines()
    return []
