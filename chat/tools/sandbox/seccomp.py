"""Builds the seccomp filter of system calls for commands in the sandbox."""

from __future__ import annotations

import errno
import os
import platform
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

# Memory outside of any process and disk space outside of a file's size, which escape the limits; kernel keys, and
# kernel interfaces that commands do not need. Name → number on x86_64, on aarch64.
REFUSED = {
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "shmget": (29, 194),
    "fallocate": (285, 47),
    "msgget": (68, 186),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
}

# linux/filter.h and linux/seccomp.h: load a word, compare, answer; a system call is (number, architecture, …).
LOAD, EQUAL, AT_LEAST, ANSWER = 0x20, 0x15, 0x35, 0x06
NUMBER, ARCHITECTURE = 0, 4
ALLOW, KILL, REFUSE = 0x7FFF0000, 0x80000000, 0x00050000 | errno.ENOSYS


@dataclass(frozen=True, slots=True)
class Architecture:
    """The kernel's name of a processor type, and the first number of foreign system calls."""

    column: int
    audit: int
    foreign: int = 0x40000000


MACHINES = {"x86_64": Architecture(0, 0xC000003E), "aarch64": Architecture(1, 0xC00000B7)}


def is_supported() -> bool:
    """Return whether the system call numbers of this machine are known."""
    return platform.machine() in MACHINES


def program(machine: Architecture) -> bytes:
    """Return the filter. Each comparison gives how many steps to skip if it holds, and if not."""
    numbers = [row[machine.column] for row in REFUSED.values()]
    refuse = len(numbers) + 1
    steps = [
        (LOAD, 0, 0, ARCHITECTURE),
        (EQUAL, 1, 0, machine.audit),
        (ANSWER, 0, 0, KILL),
        (LOAD, 0, 0, NUMBER),
        (AT_LEAST, refuse, 0, machine.foreign),
        *((EQUAL, refuse - place - 1, 0, number) for place, number in enumerate(numbers)),
        (ANSWER, 0, 0, ALLOW),
        (ANSWER, 0, 0, REFUSE),
    ]
    return b"".join(struct.pack("=HBBI", *step) for step in steps)


@contextmanager
def filter_to_read() -> Iterator[int]:
    """Return a descriptor from which bubblewrap reads the filter of this machine."""
    reading, writing = os.pipe()
    try:
        os.write(writing, program(MACHINES[platform.machine()]))
        os.close(writing)
        yield reading
    finally:
        os.close(reading)
