"""The filter of system calls gives the right answer for each call, on both kinds of processors."""

from __future__ import annotations

import errno
import struct

from chat.tools.sandbox import seccomp
from tests.tables import every

ALLOWED, KILLED = 0x7FFF0000, 0x80000000
INTEL, ARM, OLD = 0xC000003E, 0xC00000B7, 0x40000003


def answer(kind: str, number: int, *arguments: int, audit: int = 0) -> int:
    """Run the filter as the kernel does; 0 … 4095 is an error number."""
    machine = seccomp.MACHINES[kind]
    padded = (*arguments, *(0,) * (6 - len(arguments)))
    data = struct.pack("=iIQ6Q", number, audit or machine.audit, 0, *padded)
    program, place, word = seccomp.program(machine), 0, 0
    while True:
        code, jump, other, value = struct.unpack_from("=HBBI", program, place * 8)
        place += 1
        if code == 0x20:
            (word,) = struct.unpack_from("=I", data, value)
        elif code == 0x54:
            word &= value
        elif code == 0x06:
            return int(value) & 0xFFFF if value & 0x7FFF0000 == 0x00050000 else int(value)
        else:
            holds = word == value if code == 0x15 else word >= value
            place += jump if holds else other


NO_FAMILY, NO_PROTOCOL = errno.EAFNOSUPPORT, errno.EPROTONOSUPPORT
# (processor, number, arguments, answer)
ROWS = [
    *(("x86_64", number, (), ALLOWED) for number in (0, 1, 2, 9, 39, 56, 59, 231, 435)),
    *(("aarch64", number, (), ALLOWED) for number in (63, 64, 172, 220, 221, 435)),
    *(
        ("x86_64", number, (), errno.ENOSYS)
        for number in (29, 64, 68, 206, 240, 253, 278, 285, 294, 319, 321, 425, 447)
    ),
    *(("aarch64", number, (), errno.ENOSYS) for number in (0, 26, 47, 75, 180, 186, 190, 194, 279, 280, 282, 425, 447)),
    *((kind, 0x40000000 + call, (), errno.ENOSYS) for kind in ("x86_64", "aarch64") for call in (0, 41, 321)),
    *(
        (kind, call, (family, 1, protocol), ALLOWED)
        for kind, calls in (("x86_64", (41, 53)), ("aarch64", (198, 199)))
        for call in calls
        for family in (1, 2, 10)
        for protocol in (0, 6, 17)
    ),
    *(
        (kind, call, (family, 1, 0), NO_FAMILY)
        for kind, calls in (("x86_64", (41, 53)), ("aarch64", (198, 199)))
        for call in calls
        for family in (0, *range(3, 10), *range(11, 64), 2**31, 2**32 - 1)
    ),
    *(
        (kind, call, (family, 1, protocol), NO_PROTOCOL)
        for kind, call in (("x86_64", 41), ("aarch64", 198))
        for family in (1, 2, 10)
        for protocol in (1, 2, 33, 132, 136, 255, 262, 2**32 - 1)
    ),
    # SOCK_RAW, SOCK_RDM, SOCK_SEQPACKET (SCTP), SOCK_DCCP, SOCK_PACKET; SOCK_NONBLOCK and SOCK_CLOEXEC are bits above.
    *(
        (kind, call, (family, number | flags, 0), NO_PROTOCOL)
        for kind, call in (("x86_64", 41), ("aarch64", 198))
        for family in (2, 10)
        for number in (0, *range(3, 16))
        for flags in (0, 0o4000, 0o2000000)
    ),
    *(
        (kind, call, (family, number | flags, 0), ALLOWED)
        for kind, call in (("x86_64", 41), ("aarch64", 198))
        for family, numbers in ((1, (1, 2, 5)), (2, (1, 2)), (10, (1, 2)))
        for number in numbers
        for flags in (0, 0o4000, 0o2000000)
    ),
    *(
        (kind, call, (5, command), errno.EPERM)
        for kind, call in (("x86_64", 72), ("aarch64", 25))
        for command in (1024, 1026, 1031)
    ),
    *(
        (kind, call, (5, command), ALLOWED)
        for kind, call in (("x86_64", 72), ("aarch64", 25))
        for command in (0, 4, 6, 1030, 1032)
    ),
]


@every("kind, number, arguments, wanted", ROWS)
def test_calls_by_number_and_arguments(kind: str, number: int, arguments: tuple[int, ...], wanted: int) -> None:  # S5
    assert answer(kind, number, *arguments) == wanted


@every("kind, audit", [("x86_64", OLD), ("x86_64", ARM), ("aarch64", INTEL), ("aarch64", 0x40000028)])
def test_other_tables_end_the_program(kind: str, audit: int) -> None:  # S5
    assert answer(kind, 20, audit=audit) == KILLED


def test_only_the_lower_half_of_an_argument_counts() -> None:
    assert answer("x86_64", 41, 1 << 32 | 40) == NO_FAMILY and answer("x86_64", 41, 1 << 32 | 1) == ALLOWED
