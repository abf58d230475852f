"""Memory and disk space that other programs take end no command; the command that takes them ends."""

from __future__ import annotations

import asyncio
import fcntl
import functools
import itertools
import mmap
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from chat.tools.files.workspace import Workspace
from chat.tools.sandbox import command_cgroups, shell_process, uncounted_memory, usage
from chat.tools.sandbox.bwrap import MIB
from chat.tools.sandbox.command_cgroups import Delegation
from chat.tools.sandbox.shell_process import LIMITS, CommandResult
from tests.installed import needs

pytestmark = [pytest.mark.asyncio, needs("bwrap")]

# It reads the file "go" without an end of its own: it ends when the test has written it.
WAIT = "mkfifo go; echo here; cat go; echo ok"
SHARE = """
import mmap, sys
kept = mmap.mmap(-1, 700 << 20)
for place in range(0, 700 << 20, 4096):
    kept[place] = 1
print("done", flush=True)
sys.stdin.read()
"""


class Looks:
    """Counts the looks at commands: a look that began after a moment has seen what was there then."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.ended = 0
        look = shell_process.CommandMonitor._look

        def counted(monitor: Any, process: int) -> str:
            why = look(monitor, process)
            self.ended += 1
            return why

        monkeypatch.setattr(shell_process.CommandMonitor, "_look", counted)

    async def more(self) -> None:
        """Wait for a look that began later than now."""
        wanted = self.ended + 2
        async with asyncio.timeout(60):
            while self.ended < wanted:
                await asyncio.sleep(0.01)


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> Looks:
    return Looks(monkeypatch)


async def run(workspace: Workspace, command: str, heard: list[str] | None = None, **limits: Any) -> CommandResult:
    workspace.root.mkdir(parents=True, exist_ok=True)
    say = (lambda _: None) if heard is None else heard.append
    return await shell_process.run(workspace, command, say, replace(LIMITS, seconds=300, **limits))


async def until(heard: list[str], word: str) -> None:
    async with asyncio.timeout(60):
        while word not in "".join(heard):
            await asyncio.sleep(0.01)


async def outside(program: str) -> asyncio.subprocess.Process:
    """Start a program of this machine and wait until it has what it takes."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", program, stdin=pipe, stdout=pipe)
    assert process.stdout is not None
    async with asyncio.timeout(60):
        assert await process.stdout.readline() == b"done\n"
    return process


# S5: a program of the machine that shares more than a command may.
async def test_what_another_program_shares_ends_no_command(workspace: Workspace, looks: Looks) -> None:
    heard: list[str] = []
    running = asyncio.create_task(run(workspace, WAIT, heard))
    await until(heard, "here")
    other = await outside(SHARE)
    try:
        await looks.more()
        (workspace.root / "go").write_text("")
        ended = await running
    finally:
        running.cancel()
        other.kill()
        await other.wait()
    assert ended == CommandResult("here\nok\n", 0)


@pytest.mark.parametrize("kind", ["kernel_memory", "shared_memory"])
async def test_what_the_machine_takes_ends_no_command(
    workspace: Workspace, looks: Looks, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    heard: list[str] = []
    running = asyncio.create_task(run(workspace, WAIT, heard))
    await until(heard, "here")
    monkeypatch.setattr(usage, kind, lambda: 2**60)
    await looks.more()
    (workspace.root / "go").write_text("")
    assert await running == CommandResult("here\nok\n", 0)


ATTACKS = {
    "shares": """
import mmap, os, time
[os.fork() for _ in range(2)]
kept = []
for _ in range(4):
    kept.append(mmap.mmap(-1, 40 << 20))
    for place in range(0, 40 << 20, 4096):
        kept[-1][place] = 1
    kept[-1].madvise(mmap.MADV_DONTNEED)
time.sleep(60)
""",
    "fills sockets": """
import os, socket, time
kept = [os.fork() for _ in range(3)]
for _ in range(100):
    kept.append(socket.socketpair())
    kept[-1][0].setblocking(False)
    try:
        while True:
            kept[-1][0].send(b"x" * 65536)
    except OSError:
        pass
time.sleep(60)
""",
    "fills pipes": """
import os, time
kept = [os.fork() for _ in range(4)]
for _ in range(100):
    kept.append(os.pipe())
    os.set_blocking(kept[-1][1], False)
    try:
        while True:
            os.write(kept[-1][1], b"x" * 65536)
    except OSError:
        pass
time.sleep(60)
""",
}
SMALL: dict[str, Any] = {"kernel": 24 * MIB, "memory": 200 * MIB, "temporary": 4 * MIB}


# S5: two people, one of whom attacks.
@pytest.mark.parametrize("kind", ATTACKS)
async def test_the_attacker_ends_and_the_other_goes_on(
    tmp_path: Path, looks: Looks, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    # Other programs give back as much as an attack takes: so the figures of the machine always grow here.
    for name in ("kernel_memory", "shared_memory"):
        monkeypatch.setattr(usage, name, functools.partial(next, itertools.count(0, 2**30)))
    bob, mallory = (Workspace(tmp_path / name) for name in ("bob", "mallory"))
    mallory.write("attack.py", [ATTACKS[kind].encode()])
    heard: list[str] = []
    running = asyncio.create_task(run(bob, WAIT, heard, **SMALL))
    try:
        await until(heard, "here")
        attacked = await run(mallory, "python3 attack.py", **SMALL)
        assert attacked.why in (
            "the server's kernel uses 24 MiB more memory than before it began",
            "the server's programs share 208 MiB more memory than before it began",
        )
        await looks.more()
        (bob.root / "go").write_text("")
        ended = await running
    finally:
        running.cancel()
    assert ended == CommandResult("here\nok\n", 0)


async def test_little_memory_of_the_machine_ends_only_what_has_some(
    workspace: Workspace, looks: Looks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(usage, "memory_left", lambda: 0)
    heard: list[str] = []
    running = asyncio.create_task(run(workspace, WAIT, heard))
    await until(heard, "here")
    await looks.more()
    (workspace.root / "go").write_text("")
    assert await running == CommandResult("here\nok\n", 0)
    ended = await run(workspace, "python3 -c 'kept = b\"x\" * 100_000_000; import time; time.sleep(60)'")
    assert ended.why == "the server has nearly no memory left"


async def test_a_full_disk_ends_only_what_writes(
    workspace: Workspace, looks: Looks, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[str] = []
    running = asyncio.create_task(run(workspace, WAIT, heard))
    await until(heard, "here")
    usage_of = shutil.disk_usage
    monkeypatch.setattr(shutil, "disk_usage", lambda place: usage_of(place)._replace(free=0))
    await looks.more()
    (workspace.root / "go").write_text("")
    assert await running == CommandResult("here\nok\n", 0)


async def test_a_file_that_was_deleted_counts_on_a_full_disk(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[str] = []
    writing = "exec 3> kept; rm kept; head -c 45M /dev/zero >&3; echo here; sleep 60"
    running = asyncio.create_task(run(workspace, writing, heard))
    await until(heard, "here")
    usage_of = shutil.disk_usage
    monkeypatch.setattr(shutil, "disk_usage", lambda place: usage_of(place)._replace(free=0))
    assert (await running).why == "the disk of the server is nearly full"


# S5: with a group of its own the kernel judges a command, by that group alone.
async def test_in_a_group_nothing_of_the_machine_counts(
    workspace: Workspace, tmp_path: Path, looks: Looks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command_cgroups, "delegation", lambda: Delegation(tmp_path))
    for name in ("kernel_memory", "shared_memory"):
        monkeypatch.setattr(usage, name, functools.partial(next, itertools.count(0, 2**40)))
    monkeypatch.setattr(usage, "memory_left", lambda: 0)
    monkeypatch.setattr(uncounted_memory, "kernel", lambda _: 2**60)
    monkeypatch.setattr(uncounted_memory, "shared", lambda *_: 2**60)
    heard: list[str] = []
    running = asyncio.create_task(run(workspace, WAIT, heard))
    await until(heard, "here")
    await looks.more()
    (workspace.root / "go").write_text("")
    assert await running == CommandResult("here\nok\n", 0)


# S5: the first thread of a process ends, the others go on: its own memory was seen as none.
async def test_memory_behind_a_first_thread_that_ended_counts(workspace: Workspace) -> None:
    code = """
import ctypes, os, threading, time
[os.fork() for _ in range(2)]
def hold():
    while " Z " not in open("/proc/self/stat").read():
        pass
    kept = b"x" * 40_000_000
    time.sleep(60)
threading.Thread(target=hold).start()
ctypes.CDLL(None).syscall(EXIT, 0)
""".replace("EXIT", "60" if os.uname().machine == "x86_64" else "93")
    workspace.write("hide.py", [code.encode()])
    ended = await run(workspace, "python3 hide.py; sleep 60", memory=100 * MIB)
    assert ended.why == "it used more than 100 MiB of memory"


@contextmanager
def shared_memory(size: int) -> Iterator[mmap.mmap]:
    with mmap.mmap(-1, size) as kept:
        for place in range(0, size, mmap.PAGESIZE):
            kept[place] = 1
        yield kept


async def test_what_is_shared_is_counted_once_and_as_a_whole() -> None:
    before = uncounted_memory.shared([os.getpid()], 5)
    with shared_memory(4 * MIB) as kept:
        kept.madvise(mmap.MADV_DONTNEED)
        grown = uncounted_memory.shared([os.getpid(), os.getpid()], 5) - before
    # Only root may ask for the size of a mapping; otherwise each counts as the largest there can be.
    assert grown == (4 * MIB if os.geteuid() == 0 else 5)


async def test_what_may_not_be_looked_at_counts_without_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise PermissionError

    members = [os.getpid()]
    assert uncounted_memory.kernel(members) < 100 * MIB and uncounted_memory.kernel([2**30]) == 0
    monkeypatch.setattr(Path, "open", refused)
    assert uncounted_memory.kernel(members) == uncounted_memory.shared(members, 1) == float("inf")


async def test_locks_and_mappings_are_counted(tmp_path: Path) -> None:
    before = uncounted_memory.kernel([os.getpid()])
    with (tmp_path / "file").open("w") as file:
        for place in range(2000):
            fcntl.lockf(file, fcntl.LOCK_EX, 1, 2 * place)
        assert uncounted_memory.kernel([os.getpid()]) - before > 400_000
