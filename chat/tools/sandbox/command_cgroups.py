"""Puts each command into a control group of its own (cgroup v2), where the machine delegates one to the server."""

from __future__ import annotations

import errno
import functools
import os
import secrets
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from chat.tools.sandbox import server_cgroup, usage
from chat.tools.sandbox.bwrap import SandboxLimits

CONTROLLERS = frozenset({"memory", "pids"})
# The group that the server itself moves into: a group has either processes or groups with controllers.
SERVER = "toolsupport-server"
DELEGATED = ("user.delegate", "trusted.delegate")  # systemd marks the groups that it delegates to a service
PATIENCE, PAUSE = 1.0, 0.02  # seconds until the processes of a killed group have ended, and between two tries
# In addition to the processes of the command: bubblewrap and its helpers.
HELPERS = 8


@dataclass(frozen=True, slots=True)
class Delegation:
    """The directory in which groups can be made, or the reason why there is none."""

    directory: Path | None
    why: str = ""


@functools.cache
def delegation() -> Delegation:
    """Return the delegation of this machine; the first call may move the server into a group of its own."""
    try:
        return find(*server_cgroup.own_group(), usage.used_by(os.getpid()).members)
    except OSError as error:
        return Delegation(None, f"it cannot be used ({error.strerror})")


def find(own: Path | None, is_top: bool, family: Sequence[int]) -> Delegation:
    """Return the delegation for a process in the group `own`; `is_top`: it is the top of what is mounted here.

    `family` are the processes that may be moved: those of this server. Raises OSError.
    """
    if own is None:
        return Delegation(None, "this machine has no control groups of version 2")
    own = own.parent if own.name == SERVER else own
    missing = CONTROLLERS - _words(own / "cgroup.controllers")
    if missing:
        return Delegation(None, f"the server's group has no controller {' and '.join(sorted(missing))}")
    if not os.access(own / "cgroup.subtree_control", os.W_OK) or not (is_top or _is_delegated(own)):
        return Delegation(None, "it is not delegated to the server (systemd: Delegate=memory pids)")
    if not _words(own / "cgroup.subtree_control") >= CONTROLLERS:
        processes = {int(word) for word in _words(own / "cgroup.procs")}
        if processes - {*family, 1}:
            return Delegation(None, "other programs run in the server's group")
        _move(processes, own / SERVER)
        (own / "cgroup.subtree_control").write_text("+memory +pids")
    return Delegation(own)


def _words(path: Path) -> frozenset[str]:
    return frozenset(path.read_text().split())


def _is_delegated(own: Path) -> bool:
    """Root could write everywhere, so a mark of systemd is needed; other users can write only their own groups."""
    if os.geteuid() != 0:
        return os.access(own, os.W_OK)
    for name in DELEGATED:
        with suppress(OSError):
            return os.getxattr(own, name) == b"1"
    return False


def _move(processes: Sequence[int] | set[int], group: Path) -> None:
    group.mkdir(exist_ok=True)
    for process in processes:
        with suppress(ProcessLookupError):
            (group / "cgroup.procs").write_text(str(process))


def make(limits: SandboxLimits) -> Path | None:
    """Return a new group with the limits, None if there can be none."""
    directory = delegation().directory
    if directory is None:
        return None
    group = directory / f"command-{secrets.token_hex(8)}"
    try:
        group.mkdir()
        (group / "memory.max").write_text(str(limits.with_temporary))
        (group / "pids.max").write_text(str(limits.processes + HELPERS))
        for name, value in (("memory.swap.max", "0"), ("memory.oom.group", "1")):
            with suppress(OSError):  # without swap, or on an old kernel
                (group / name).write_text(value)
    except OSError:
        remove(group)
        return None
    return group


def joined(group: Path | None, argv: list[str]) -> list[str]:
    """Return the command that enters a group first."""
    return argv if group is None else ["sh", "-c", 'echo $$ > "$0/cgroup.procs" && exec "$@"', str(group), *argv]


def ran_out_of_memory(group: Path | None) -> bool:
    """Return whether the kernel ended the group because of memory."""
    return _count(group, "oom_kill") > 0


def reached_its_limit(group: Path | None) -> bool:
    """Return whether that was the memory of the group itself, and not of the machine or of a group above it."""
    return _count(group, "oom") > 0


def _count(group: Path | None, event: str) -> int:
    if group is not None:
        with suppress(OSError):
            return int(dict(line.split() for line in (group / "memory.events").read_text().splitlines()).get(event, 0))
    return 0


def remove(group: Path | None) -> None:
    """Kill the remaining processes of a group and remove it."""
    if group is None:
        return
    with suppress(OSError):
        (group / "cgroup.kill").write_text("1")
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            group.rmdir()
            return
        except OSError as error:
            if error.errno != errno.EBUSY:  # processes that have not ended yet
                return
        time.sleep(PAUSE)
