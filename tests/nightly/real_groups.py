"""Commands in control groups of a real kernel: memory.max and pids.max, and what is left when they end.

`python -m tests.nightly.real_groups` starts the kernel of Debian's package user-mode-linux as a program, which has a
hierarchy of version 2 of its own whatever this machine has, and prints one JSON object for each command.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from chat.tools.files.workspace import Workspace
from chat.tools.sandbox import command_cgroups, shell_process, usage
from chat.tools.sandbox.active_guards import guards
from chat.tools.sandbox.bwrap import MIB, SandboxLimits
from tests import house
from tests.nightly import sandbox

KERNEL = "linux.uml"
LONGEST = 300  # seconds
POWER_OFF = 0x4321FEDC
LIMITS = SandboxLimits(memory=200 * MIB)
HOG = "python3 -c 'a = bytearray({size} << 20); import time; time.sleep(9)' &"
COMMANDS = {
    "plain": "echo here",
    "memory of all": " ".join([HOG.format(size=90)] * 12) + " wait",
    "processes": "for i in $(seq 200); do sleep 9 & done 2>/dev/null; echo made",
    "shared memory that is given back": sandbox.python(sandbox.SHARED),
    "buffers of sockets": sandbox.python(sandbox.SOCKETS),
    "beside a program that shares 400 MiB": "sleep 20; echo ok",
    "left behind": "setsid sh -c 'trap \"\" TERM HUP INT; sleep 999' & setsid sleep 999 & echo gone",
}
FORKS = """import os, time
for _ in range(40):
    if os.fork() == 0:
        os.closerange(0, 3)
        time.sleep(99)
"""
SHARES = """import mmap, time
kept = mmap.mmap(-1, 400 << 20)
for place in range(0, 400 << 20, 1 << 20):
    kept[place : place + (1 << 20)] = b"x" * (1 << 20)
time.sleep(99)
"""
MEMORY = "a = bytearray(100 << 20)"
FILES = ("memory.max", "memory.peak", "memory.events", "pids.max", "pids.peak", "pids.events")
TOP, GROUP = Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/site")
SCRIPT = """#!/bin/sh
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/mnt TMPDIR=/mnt LANG=C.UTF-8 PYTHONDONTWRITEBYTECODE=1
mount -t proc proc /proc && mount -t sysfs sys /sys && mount -t cgroup2 groups /sys/fs/cgroup
mount -t tmpfs -o size=1g mnt /mnt
cd {root} && {python} -m tests.nightly.real_groups inside
{python} -c "import ctypes; ctypes.CDLL(None).reboot({power_off})"
"""


def outcomes() -> list[dict[str, Any]]:
    """Boot, run everything inside, and return what was printed there."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "init")
        script.write_text(SCRIPT.format(root=house.ROOT, python=sys.executable, power_off=POWER_OFF))
        script.chmod(0o755)
        words = ["root=/dev/root", "rootfstype=hostfs", "rootflags=/", "ro", "mem=3G", f"init={script}"]
        console = ["con=null", "con0=null,fd:1", "quiet"]
        ran = subprocess.run(
            [KERNEL, *words, *console], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LONGEST
        )
    return [json.loads(line) for line in ran.stdout.splitlines() if line.startswith('{"')]


def inside() -> None:
    """As the first program of that kernel: make a group as systemd does for a service, enter it and run commands."""
    GROUP.mkdir()
    (TOP / "cgroup.subtree_control").write_text("+memory +pids")
    (GROUP / "cgroup.procs").write_text(str(os.getpid()))
    os.setxattr(GROUP, "trusted.delegate", b"1")
    show("machine", kernel=os.uname().release, found=str(command_cgroups.delegation()))
    show("guards", **{guard.name: guard.is_real for guard in guards()})
    asyncio.run(commands())
    show("pids.max", **beyond(FORKS, SandboxLimits(processes=4)))
    show("memory.max", **beyond(MEMORY, SandboxLimits(memory=40 * MIB, temporary=0)))


async def commands() -> None:
    workspace = Workspace(Path("/mnt/workspace"))
    workspace.root.mkdir()
    for name, command in COMMANDS.items():
        seen: dict[str, str] = {}
        removed = command_cgroups.remove

        def remove(group: Path | None, seen: dict[str, str] = seen, removed: Any = removed) -> None:
            seen |= facts(group)
            removed(group)

        command_cgroups.remove = remove
        other = subprocess.Popen([sys.executable, "-c", SHARES]) if name.startswith("beside") else None
        began = time.monotonic()
        ended = await shell_process.run(workspace, command, lambda _: None, LIMITS)
        command_cgroups.remove = removed
        if other:
            seen["shared by the machine"] = f"{usage.shared_memory() // MIB} MiB"
            other.kill()
            other.wait()
        seconds, left = round(time.monotonic() - began, 1), [one.name for one in GROUP.glob("command-*")]
        show(name, output=ended.output[-60:], code=ended.code, why=ended.why, seconds=seconds, left=left, **seen)


def beyond(script: str, limits: SandboxLimits) -> dict[str, Any]:
    """Run a program in a group without the sandbox, whose own limits would end it first."""
    group = command_cgroups.make(limits)
    ran = subprocess.run(
        command_cgroups.joined(group, [sys.executable, "-c", script]), capture_output=True, text=True, check=False
    )
    by_memory = command_cgroups.ran_out_of_memory(group)
    found = facts(group) | {"code": ran.returncode, "error": ran.stderr.strip()[-60:], "by memory": by_memory}
    command_cgroups.remove(group)
    return found | {"left": [one.name for one in GROUP.glob("command-*")]}


def facts(group: Path | None) -> dict[str, str]:
    return {name: (group / name).read_text().strip() for name in FILES if group and (group / name).exists()}


def show(of: str, **found: Any) -> None:
    print(json.dumps({"of": of, **found}), flush=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["inside"]:
        inside()
    else:
        for outcome in outcomes():
            print(json.dumps(outcome))
