"""Memory that is in no limit on processes, and that no process is seen to have, ends a command as well."""

from __future__ import annotations

import functools
import itertools
from dataclasses import replace
from typing import Any

import pytest

from chat.tools.files.workspace import Workspace
from chat.tools.sandbox import shell_process, usage
from chat.tools.sandbox.bwrap import MIB
from chat.tools.sandbox.shell_process import LIMITS, CommandResult
from tests.installed import needs

pytestmark = [pytest.mark.asyncio, needs("bwrap")]


@pytest.fixture(autouse=True)
def growing_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other programs of a machine give back as much as an attack takes: so its own figures always grow here."""
    for name in ("kernel_memory", "shared_memory"):
        monkeypatch.setattr(usage, name, functools.partial(next, itertools.count(0, 2**30)))


async def run(workspace: Workspace, program: str, **limits: Any) -> CommandResult:
    return await shell_process.run(workspace, f"python3 {program}", lambda _: None, replace(LIMITS, **limits))


# S5: what the kernel keeps for a program is in no limit on processes.
async def test_buffers_of_sockets_are_bounded(workspace: Workspace) -> None:
    code = """
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
time.sleep(20)
"""
    workspace.write("fill.py", [code.encode()])
    ended = await run(workspace, "fill.py", kernel=32 * MIB)
    assert ended.why == "the server's kernel uses 32 MiB more memory than before it began"


# S5: what is shared stays when a process gives it back, and then belongs to none that is looked at.
async def test_shared_memory_that_no_process_holds_is_bounded(workspace: Workspace) -> None:
    code = """
import mmap, os, time
[os.fork() for _ in range(2)]
kept = []
for _ in range(3):
    kept.append(mmap.mmap(-1, 40 << 20))
    for place in range(0, 40 << 20, 4096):
        kept[-1][place] = 1
    kept[-1].madvise(mmap.MADV_DONTNEED)
time.sleep(20)
"""
    workspace.write("hide.py", [code.encode()])
    ended = await run(workspace, "hide.py", memory=200 * MIB, temporary=4 * MIB)
    assert ended.why == "the server's programs share 208 MiB more memory than before it began"
