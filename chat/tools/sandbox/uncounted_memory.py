"""Computes upper bounds of the memory that a command can hold outside of its processes.

Shared memory and memory of the kernel are known for the whole machine only, and other programs use them as well. So
before their growth ends a command, these functions measure what its processes hold. `members` are the processes.
"""

from __future__ import annotations

import functools
import math
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from chat.tools.sandbox.usage import PAGE, temporary, with_memory

LOOK_AT_ALL = 0.2  # seconds of processor time, enough for the mappings and open files of any ordinary command
# Bytes of the kernel, rounded up: a thread with its stack, an open file, a mapping or a lock or a watch.
THREAD, FILE, ENTRY = 32 * 1024, 1024, 256
PIPE = 16 * PAGE
LINES_OF_A_FILE = 8  # lines of /proc/PID/fdinfo before those of locks and watches

Look = Callable[[Sequence[int]], Iterator[float]]


def shared(members: Sequence[int], largest: int) -> float:
    """Return an upper bound of the bytes that the processes share; `largest` is that of a mapping of unknown size."""
    return _sum(_shared(members, largest))


def kernel(members: Sequence[int]) -> float:
    """Return an upper bound of the bytes that the kernel holds for the processes."""
    return _sum(_kernel(members))


def written(members: Iterable[int]) -> float:
    """Return an upper bound of the bytes that the processes and their ended children wrote to disks.

    Not every file system counts them, so the bytes written anywhere are used if they are more.
    """
    places = [Path(f"/proc/{one}/io") for one in members]
    return max(_sum(_fields(place, name) for place in places) for name in ("write_bytes", "wchar"))


def _sum(parts: Iterable[float]) -> float:
    """Return the sum; infinity if a process may not be read, or if there are too many entries to read."""
    end, total = time.thread_time() + LOOK_AT_ALL, 0.0
    try:
        for part in parts:
            total += part
            if time.thread_time() > end:
                return math.inf
    except PermissionError:
        return math.inf
    return total


def _shared(members: Sequence[int], largest: int) -> Iterator[float]:
    yield temporary(members).size
    seen: set[str] = set()
    for process in members:
        place = with_memory(process)
        for line in _lines(place / "maps"):
            addresses, rights, _, device, inode = line.split(maxsplit=5)[:5]
            new = rights.endswith("s") and device == _device_of_shared() and inode not in seen
            if new:
                seen.add(inode)
            # A file can keep more memory than is mapped now.
            yield _size(place, addresses, largest) if new else 0


def _size(place: Path, addresses: str, otherwise: int) -> int:
    """Return the size of the mapped object; only a privileged server may ask."""
    start, end = (int(one, 16) for one in addresses.split("-"))
    try:
        return os.stat(place / "map_files" / f"{start:x}-{end:x}").st_blocks * 512
    except FileNotFoundError:
        return 0
    except OSError:
        return otherwise


@functools.cache
def _device_of_shared() -> str:
    """Return the device that anonymous shared memory has in /proc/PID/maps."""
    file = os.memfd_create("device")
    try:
        device = os.fstat(file).st_dev
    finally:
        os.close(file)
    return f"{os.major(device):02x}:{os.minor(device):02x}"


def _kernel(members: Sequence[int]) -> Iterator[float]:
    yield _sockets(members)
    pipes: set[str] = set()
    for process in members:
        place = with_memory(process)
        yield _fields(place / "status", "VmPTE") * 1024
        yield from (ENTRY for _ in _lines(place / "maps"))
        for task in _names(Path(f"/proc/{process}/task")):
            yield THREAD
            for file in _names(task / "fd"):
                kind = _link(file)
                yield FILE + (PIPE if kind.startswith("pipe:") and kind not in pipes else 0)
                pipes.add(kind)
                lines = sum(1 for _ in _lines(task / "fdinfo" / file.name))
                yield ENTRY * max(0, lines - LINES_OF_A_FILE)


def _sockets(members: Sequence[int]) -> float:
    """Return an upper bound of the memory of the sockets in the command's network, those in flight included."""
    here = _link(Path("/proc/self/ns/net"))
    for process in members:
        place = Path(f"/proc/{process}")
        if _link(place / "ns/net") not in ("", here):
            used = _fields(place / "net/sockstat", "sockets")
            known = sum(_fields(place / f"net/sockstat{six}", f"TCP{six}") for six in ("", "6"))
            return used * _largest_buffers() + min(known * _largest_tcp(), _tcp_memory(place))
    return 0


def _fields(path: Path, name: str) -> int:
    """Return the first number in the line of this name, 0 without one."""
    for line in _lines(path):
        key, _, rest = line.partition(":")
        if key == name:
            return next((int(word) for word in rest.split() if word.isdigit()), 0)
    return 0


def _tcp_memory(place: Path) -> int:
    """Return the bytes that TCP holds for the whole machine."""
    for line in _lines(place / "net/sockstat"):
        words = line.split()
        if words[0] == "TCP:":
            return int(words[words.index("mem") + 1]) * PAGE
    return 0


def _largest_buffers() -> int:
    """Return an upper bound for one socket: the kernel doubles the requested size, and lets one message exceed it."""
    names = ("wmem_max", "wmem_default", "rmem_max", "rmem_default", "optmem_max")
    return 4 * max(_setting(f"core/{name}") for name in names)


def _largest_tcp() -> int:
    return _setting("ipv4/tcp_wmem") + _setting("ipv4/tcp_rmem")


def _setting(name: str) -> int:
    return max((int(word) for line in _lines(Path("/proc/sys/net", name)) for word in line.split()), default=0)


def _lines(path: Path) -> Iterator[str]:
    """Yield the lines of a file of /proc, none if its process has ended. Raises PermissionError."""
    try:
        with path.open(errors="replace") as file:
            yield from file
    except PermissionError:
        raise
    except OSError:
        return


def _names(directory: Path) -> list[Path]:
    try:
        return [directory / name for name in os.listdir(directory)]
    except PermissionError:
        raise
    except OSError:
        return []


def _link(path: Path) -> str:
    try:
        return os.readlink(path)
    except PermissionError:
        raise
    except OSError:
        return ""
