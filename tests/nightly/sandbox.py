"""Attacks on the sandbox, again and again: how far each gets, how long it lives, what is left of it."""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import shutil
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from chat.tools.files.workspace import Workspace
from chat.tools.sandbox import bwrap, shell_process, usage
from chat.tools.sandbox.bwrap import MIB
from chat.tools.sandbox.shell_process import LIMITS

QUOTA = 100 * MIB
SECONDS = 4
MARK = "4747"  # in the command line of what would be left over


def python(code: str) -> str:
    return f"cat > /tmp/attack.py <<'END'\n{code}\nEND\npython3 /tmp/attack.py"


# What the kernel keeps for a program, which no limit on processes counts.
SEMAPHORES = """
import ctypes, time
kernel = ctypes.CDLL(None)
for _ in range(2000):
    kernel.semget(0, 32000, 0o1600)
time.sleep(4747)"""
SOCKETS = """
import os, socket, time
kept = [os.fork() for _ in range(5)]
try:
    while True:
        kept.append(socket.socketpair())
        for one in kept[-1]:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 24)
            one.setblocking(False)
            try:
                while True:
                    one.send(b"x" * 65536)
            except OSError:
                pass
except OSError:
    time.sleep(4747)"""
MAPPINGS = """
import ctypes, os, time
kernel = ctypes.CDLL(None)
kernel.mmap.restype = ctypes.c_void_p
kernel.mmap.argtypes = [ctypes.c_void_p] + [ctypes.c_long] * 5
kernel.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_long, ctypes.c_long]
[os.fork() for _ in range(5)]
start = kernel.mmap(None, 260 << 20, 0, 0x22, -1, 0)
for place in range(start, start + (260 << 20), 8192):
    kernel.mprotect(place, 4096, 1)
time.sleep(4747)"""
PINNED = """
import ctypes, mmap, os, time
kernel = ctypes.CDLL(None)
class Piece(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("size", ctypes.c_size_t)]
kept = []
while len(kept) < 100:
    kept.append(os.pipe())
    for _ in range(15):
        large = mmap.mmap(-1, 4 << 20)
        large.madvise(14)
        start = ctypes.addressof(ctypes.c_char.from_buffer(large)) + (2 << 20) - 1 & ~((2 << 20) - 1)
        ctypes.memset(start, 1, 2 << 20)
        piece = Piece(start, 4096)
        kernel.vmsplice(kept[-1][1], ctypes.byref(piece), ctypes.c_ulong(1), 2)
        kernel.munmap(ctypes.c_void_p(start), ctypes.c_size_t(2 << 20))
time.sleep(4747)"""
SHARED = """
import mmap, os, time
[os.fork() for _ in range(2)]
kept = []
for _ in range(9):
    kept.append(mmap.mmap(-1, 40 << 20))
    for place in range(0, 40 << 20, 4096):
        kept[-1][place] = 1
    kept[-1].madvise(mmap.MADV_DONTNEED)
time.sleep(4747)"""
LOCKS = """
import fcntl, os, time
files = [os.open("/tmp/%d" % one, os.O_CREAT | os.O_RDWR) for one in range(200)]
for place in range(100000):
    for one in files:
        fcntl.lockf(one, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, 2 * place)"""
EMPTY = """
import os
os.chdir("PLACE")
for one in range(1000000):
    os.close(os.open(str(one), os.O_CREAT | os.O_WRONLY))"""

ATTACKS = {
    "semaphores": python(SEMAPHORES),
    "buffers of sockets": python(SOCKETS),
    "mappings": python(MAPPINGS),
    "pages kept in pipes": python(PINNED),
    "shared memory": python(SHARED),
    "locks on files": python(LOCKS),
    "empty files in /tmp": python(EMPTY.replace("PLACE", "/tmp")),
    "empty files in /dev/shm": python(EMPTY.replace("PLACE", "/dev/shm")),
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
    """Seconds it lived; bytes its workspace held at the end; the most memory it was seen to have; processes left.

    `kernel` is the most memory that the kernel was seen to use beyond what it used before.
    """

    kind: str
    seconds: float
    held: int
    memory: int
    kernel: int
    left: int
    why: str


def shared_objects() -> set[tuple[str, str]]:
    """Semaphores, shared memory and message queues of the user that commands run as, by kind and number."""
    user = str(os.geteuid() or bwrap.NOBODY)
    found: set[tuple[str, str]] = set()
    for kind in ("sem", "shm", "msg"):
        names, *rows = (line.split() for line in Path("/proc/sysvipc", kind).read_text().splitlines())
        found |= {(kind, row[1]) for row in rows if row[names.index("cuid")] == user}
    return found


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
    peak, before, kernel = 0, usage.kernel_memory(), 0
    look = usage.used_by

    def used_by(root: int, enough: int = 0) -> usage.ResourceUsage:
        nonlocal peak, kernel
        used = look(root, enough)
        peak = max(peak, used.memory)
        kernel = max(kernel, usage.kernel_memory() - before)
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
    return Attack(kind, seconds, held, peak, kernel, left_over(), ended.why)


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
        memory, kernel = max(one.memory for one in these) / MIB, max(one.kernel for one in these) / MIB
        whys, left = " / ".join(sorted({one.why for one in these})), sum(one.left for one in these)
        yield f"| {kind} | {seconds:.2f} s | {held:.0f} MiB | {memory:.0f} MiB | {kernel:.0f} MiB | {left} | {whys} |"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=20)
    chosen = parser.parse_args()
    shared = shared_objects()
    print("\n".join(table(run(chosen.times))))
    print("objects of the kernel that were left:", "some" if shared_objects() != shared else "none")
    delays = stop(chosen.times)
    print(f"stops: {len(delays)}, median {delays[len(delays) // 2] * 1000:.0f} ms, longest {delays[-1] * 1000:.0f} ms")
