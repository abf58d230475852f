"""Spellings of addresses that are never asked, and of those inside a network, for the guard of outgoing requests."""

from __future__ import annotations

from ipaddress import IPv4Address

# Cloud metadata, and addresses that belong to no server.
METADATA = ("169.254.169.254", "169.254.170.2", "100.100.100.200", "192.0.0.192", "168.63.129.16")
OTHERS = ("169.254.0.1", "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255", "0.1.2.3", "192.0.0.8")
VERSION_6 = (
    *("fd00:ec2::254", "fd00:ec2::23", "FD00:EC2:0:0:0:0:0:254", "fd20:ce::254", "fd00:42::42"),
    *("fe80::1", "fe80::a9fe:a9fe", "febf::1", "ff02::1", "ff0e::1", "0:0:0:0:0:0:0:0"),
)
NAMES = (
    *("metadata.google.internal", "METADATA.google.internal", "metadata.google.internal.", "metadata"),
    *("metadata.goog", "instance-data", "instance-data.ec2.internal"),
)
# A resolver decides what these are.
LETTERS = (
    *("１６９.２５４.１６９.２５４", "169。254。169。254", "①⑥⑨.②⑤④.①⑥⑨.②⑤④", "169.254.169.254．"),
    *("169%2e254%2e169%2e254", "169.254.169.254%00", "me@169.254.169.254", "box@169.254.169.254:80"),
    *("169.254.169.254\\@box.example", "169.254.169.254#@box.example", "box.example\\@169.254.169.254"),
    *("[::ffff:169.254.169.254%eth0]", "[fe80::1%25eth0]", " 169.254.169.254", "169.254.169.254\t"),
)


def in_numbers(address: str) -> tuple[str, ...]:
    """Return an IPv4 address in the forms that the C library reads."""
    a, b, c, d = IPv4Address(address).packed
    number = int(IPv4Address(address))
    return (
        *(address, f"{address}.", str(number), hex(number), f"0X{number:X}", f"0{number:o}", f"0000{number:o}"),
        *(f"{a}.{number & 0xFFFFFF}", f"{a}.{b}.{number & 0xFFFF}", f"{hex(a)}.{hex(b)}.{hex(c)}.{hex(d)}"),
        *(f"0{a:o}.0{b:o}.0{c:o}.0{d:o}", f"{a:04d}.{b:04d}.{c:04d}.{d:04d}", f"{hex(a)}.{b}.0{number & 0xFFFF:o}"),
    )


def in_version_6(address: str) -> tuple[str, ...]:
    """Return IPv6 addresses that contain an IPv4 address; gateways and systems connect to what is inside."""
    high, low = (int(IPv4Address(address)) >> shift & 0xFFFF for shift in (16, 0))
    flipped = ~int(IPv4Address(address)) & 0xFFFFFFFF
    octets = IPv4Address(address).packed
    return (
        *(f"::ffff:{address}", f"::FFFF:{high:x}:{low:x}", f"0:0:0:0:0:ffff:{high:x}:{low:x}", f"::{address}"),
        *(f"::{high:x}:{low:x}", f"::ffff:0:{address}", f"64:ff9b::{address}", f"64:FF9B::{high:x}:{low:x}"),
        *(f"64:ff9b:1::{address}", f"64:ff9b:1:abcd::{high:x}:{low:x}", f"2002:{high:x}:{low:x}::1"),
        f"64:ff9b:1:{high:x}:{octets[2]:x}:{octets[3]:x}00::",
        *(
            f"2002:{high:x}:{low:x}::",
            f"2001:0:{high:x}:{low:x}:0:0:0:0",
            f"2001::{flipped >> 16:x}:{flipped & 0xFFFF:x}",
        ),
        *(f"2001:db8::5efe:{high:x}:{low:x}", f"2001:db8::200:5efe:{high:x}:{low:x}"),
    )


def hosts() -> tuple[str, ...]:
    """Return every spelling as it stands in an address, with the brackets of IPv6."""
    numbers = [spelling for address in METADATA for spelling in in_numbers(address)]
    inside = [spelling for address in METADATA[:3] for spelling in in_version_6(address)]
    bracketed = [f"[{spelling}]" for spelling in (*inside, *VERSION_6)]
    return (*numbers, *OTHERS, *bracketed, *NAMES, *LETTERS)
