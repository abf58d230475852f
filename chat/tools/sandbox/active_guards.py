"""Lists the guards of the sandbox that are in force on this machine, with the consequence of a missing one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from chat.tools.files.text_decoding import size_in_words
from chat.tools.sandbox import command_cgroups, server_cgroup, usage
from chat.tools.sandbox.shell_process import LIMITS


@dataclass(frozen=True, slots=True)
class Guard:
    """One guard: whether it is in force here, and the consequence."""

    name: str
    is_real: bool
    words: str


def guards() -> Iterator[Guard]:
    """Return the guards of `bash`, for a machine whose sandbox passed the self-test."""
    yield Guard(
        "isolation", True, "namespaces, the system call filter and the limits of the kernel were tried and hold"
    )
    delegation = command_cgroups.delegation()
    if delegation.directory is not None:
        words = "each command has one: the kernel bounds memory, its own included, and processes of all together"
        yield Guard("control group", True, words)
    else:
        words = (
            f"commands have none: {delegation.why}. Memory of all processes together, shared memory and that of "
            "the kernel are checked five times a second, and can be exceeded between two checks"
        )
        yield Guard("control group", False, words)
    left = size_in_words(usage.memory_left())
    limited = any(True for _ in server_cgroup.memory_left())
    judged = "the server's control group" if limited else "the whole machine: the server has no limit of its own"
    low = size_in_words(LIMITS.reserve)
    ended = "the kernel ends commands first" if delegation.directory else f"below {low} commands end that hold some"
    yield Guard("free memory", True, f"{left}, judged by {judged}; {ended}")
    words = f"counted five times a second: {LIMITS.temporary_files:,} in /tmp and /dev/shm, 10,000 in the workspace"
    yield Guard("number of files", True, words)
