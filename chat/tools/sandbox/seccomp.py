"""Builds the seccomp filter of system calls for commands in the sandbox."""

from __future__ import annotations

import errno
import os
import platform
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

# Memory outside any process and disk space outside a file's size, which escape the limits; resources that all
# programs of the machine share; kernel interfaces that commands do not need. Name → number on x86_64, on aarch64.
REFUSED = {
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "shmget": (29, 194),
    "semget": (64, 190),
    "msgget": (68, 186),
    "mq_open": (240, 180),
    "fallocate": (285, 47),
    # Attributes of a file are not part of its size.
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "setxattrat": (463, 463),
    # It keeps pages of a process in a pipe after the process has released them.
    "vmsplice": (278, 75),
    "inotify_init": (253, None),
    "inotify_init1": (294, 26),
    "fanotify_init": (300, 262),
    "io_setup": (206, 0),
    # They write what all programs have changed to the disk, and delay those that write.
    "sync": (162, 81),
    "syncfs": (306, 267),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "landlock_create_ruleset": (444, 444),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    # Looking into other processes: they are the command's own, but kernels had many faults here.
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    "open_by_handle_at": (304, 265),
    "modify_ldt": (154, None),
}
SOCKET, SOCKETPAIR, FCNTL = (41, 198), (53, 199), (72, 25)
# Families of sockets (unix, inet, inet6) and their protocols (the usual one, TCP, UDP): other ones reach the machine
# (AF_VSOCK), the kernel (AF_NETLINK, AF_ALG), or load a module of it.
UNIX, FAMILIES, PROTOCOLS = 1, (1, 2, 10), (0, 6, 17)
# Types of internet sockets (stream, datagram), in the lower bits of their argument. With the usual protocol of another
# type the kernel takes DCCP or SCTP, or loads their modules.
TYPES, TYPE_BITS = (1, 2), 0xF
# F_OFD_SETLK and F_OFD_SETLKW make locks without a number that nothing shows once their file is in flight or mapped;
# F_SETLEASE and F_NOTIFY delay others who open a file; F_SETPIPE_SZ takes memory that no limit counts.
REFUSED_FCNTL = (37, 38, 1024, 1026, 1031)

# linux/filter.h and linux/seccomp.h: load a word, compare, keep bits, answer; a system call is (number, architecture,
# address, arguments of eight bytes each, of which the kernel reads the lower four here).
LOAD, EQUAL, AT_LEAST, AND, ANSWER = 0x20, 0x15, 0x35, 0x54, 0x06
NUMBER, ARCHITECTURE, ARGUMENTS = 0, 4, 16
ALLOW, KILL, FAIL = 0x7FFF0000, 0x80000000, 0x00050000

Step = tuple[int, int, int, int]


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
    steps = [
        (LOAD, 0, 0, ARCHITECTURE),
        (EQUAL, 1, 0, machine.audit),
        (ANSWER, 0, 0, KILL),
        (LOAD, 0, 0, NUMBER),
        (AT_LEAST, 0, 1, machine.foreign),
        (ANSWER, 0, 0, FAIL | errno.ENOSYS),
        *_if_among([number for number in numbers if number is not None], [(ANSWER, 0, 0, FAIL | errno.ENOSYS)]),
        *_if_among([call[machine.column] for call in (SOCKET, SOCKETPAIR)], _checked_socket()),
        *_if_among([FCNTL[machine.column]], _checked_fcntl()),
        (ANSWER, 0, 0, ALLOW),
    ]
    return b"".join(struct.pack("=HBBI", *step) for step in steps)


def _if_among(values: Sequence[int], steps: Sequence[Step]) -> list[Step]:
    """Run the steps if the loaded word is among the values; otherwise skip them."""
    count = len(values)
    compared = [(EQUAL, count - place, 0, value) for place, value in enumerate(values, start=1)]
    return [*compared[:-1], (EQUAL, 0, len(steps), values[-1]), *steps]


def _unless_among(values: Sequence[int], error: int) -> list[Step]:
    """Answer with an error unless the loaded word is among the values."""
    count = len(values)
    compared = [(EQUAL, count - place + 1, 0, value) for place, value in enumerate(values, start=1)]
    return [*compared, (ANSWER, 0, 0, FAIL | error)]


def _checked_socket() -> list[Step]:
    kind = [(LOAD, 0, 0, ARGUMENTS + 8), (AND, 0, 0, TYPE_BITS), *_unless_among(TYPES, errno.EPROTONOSUPPORT)]
    return [
        (LOAD, 0, 0, ARGUMENTS),
        *_unless_among(FAMILIES, errno.EAFNOSUPPORT),
        (EQUAL, len(kind), 0, UNIX),
        *kind,
        (LOAD, 0, 0, ARGUMENTS + 16),
        *_unless_among(PROTOCOLS, errno.EPROTONOSUPPORT),
        (ANSWER, 0, 0, ALLOW),
    ]


def _checked_fcntl() -> list[Step]:
    refused = [(ANSWER, 0, 0, FAIL | errno.EPERM)]
    return [(LOAD, 0, 0, ARGUMENTS + 8), *_if_among(REFUSED_FCNTL, refused), (ANSWER, 0, 0, ALLOW)]


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
