"""Checks the addresses of servers: their form, and hosts that must never be contacted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from unicodedata import normalize
from urllib.parse import SplitResult, urlsplit

from toolsupport.core.errors import ConfigError

# Characters that no host has, and that programs read in different ways (`http://a\@b`, `http://a%2fb`).
STRANGE = re.compile(r"[\\%<>\"'{}|^`]")
# Resolvers take these for IPv4 as well: 2852039166, 0xA9FEA9FE and 169.16689662 are all 169.254.169.254.
NUMERIC = re.compile(r"(?:.*\.)?(?:0x[0-9a-f]*|[0-9]+)\.?", re.I)
# Machines in a cloud fetch their secrets under these names.
METADATA_NAMES = frozenset(
    {"metadata", "metadata.google.internal", "metadata.goog", "instance-data", "instance-data.ec2.internal"}
)
# Addresses of no model server: "this network", link-local with the metadata of most clouds, multicast, reserved,
# broadcast; and where Alibaba, Azure, Oracle (192.0.0.192), Amazon, Google and Scaleway serve metadata elsewhere.
NEVER_4 = tuple(
    map(
        ip_network,
        (
            *("0.0.0.0/8", "169.254.0.0/16", "224.0.0.0/4", "240.0.0.0/4"),
            *("100.100.100.200/32", "168.63.129.16/32", "192.0.0.0/24"),
        ),
    )
)
NEVER_6 = tuple(
    map(ip_network, ("::/128", "fe80::/10", "ff00::/8", "fd00:ec2::/32", "fd20:ce::/64", "fd00:42::42/128"))
)
# IPv4 in the last 32 bits: mapped, compatible, translated (SIIT), and the well-known prefix of NAT64.
LAST_BITS = tuple(map(ip_network, ("::ffff:0:0/96", "::/96", "::ffff:0:0:0/96", "64:ff9b::/96")))
# The internet of IPv6 is in one block so far; the rest is for special purposes, or not assigned. Within it, and
# in IPv4, these lead nowhere either: protocols of the IETF, examples for documentation, and the former relays of 6to4.
# Versions of Python differ in what they call global in IPv6, also 3.11.2 of distributions from that of its authors.
GLOBAL_6 = ip_network("2000::/3")
NOT_GLOBAL_6 = tuple(map(ip_network, ("2001::/23", "2001:db8::/32", "3fff::/20")))
RELAYS_4 = ip_network("192.88.99.0/24")
LOCAL_NAT64, SIX_TO_FOUR, TEREDO = map(ip_network, ("64:ff9b:1::/48", "2002::/16", "2001::/32"))
ISATAP = (0x00005EFE, 0x02005EFE)


class AddressScope(StrEnum):
    """Where an address leads: to the internet, into this network or machine, or where no server is asked."""

    PUBLIC = "public"
    INSIDE = "inside"
    NEVER = "never"


def checked(text: str, secret: str = "an API key", query: bool = False) -> SplitResult:
    """Parse an http address. `secret` has a field of its own; `query`: the part after ? belongs to the address.

    Raises ConfigError with a message for the author, without any password in the address.
    """
    written = text.strip()
    try:
        url = urlsplit(written)
        _ = url.port
    except ValueError as error:
        raise ConfigError(f"This is not an address: {error}.") from None
    if "@" in (url.netloc or written):
        raise ConfigError(f"Leave names and passwords out of the address; {secret} has a field of its own.")
    if any(sign.isspace() or not sign.isprintable() for sign in written):
        raise ConfigError(f"{written!r} is not an address: it contains a space.")
    if url.scheme not in ("http", "https") or not url.hostname:
        raise ConfigError(f"{written!r} is not an address: begin with http:// or https://.")
    if STRANGE.search(url.netloc):
        raise ConfigError(f"{written!r} is not an address: its host has a character that is not allowed.")
    if url.fragment or (url.query and not query):
        raise ConfigError("Leave out everything after ? or # in the address.")
    check_host(url.hostname)
    return url


def checked_key(text: str) -> str:
    """Return an API key or token without the spaces and line ends around it. Raises ConfigError: no header holds it."""
    key = text.strip()
    if not fits_header(key):
        raise ConfigError("A key has letters, digits and signs of ASCII only, and this one has others. Copy it again.")
    return key


def fits_header(key: str) -> bool:
    return key.isascii() and key.isprintable()


def check_host(host: str) -> None:
    """Raise ConfigError for a host written as a forbidden address; what names lead to is judged at each connection."""
    # Clients write dots and digits of other scripts as ASCII before they look a name up.
    plain = normalize("NFKC", host).replace("\u3002", ".")
    # People copy 0.0.0.0 from a server's log; for a connection it means this machine.
    if host in ("0.0.0.0", "::"):
        return
    if plain.lower().rstrip(".") in METADATA_NAMES:
        raise ConfigError(f"{host} is never contacted.")
    try:
        asked = may_be_asked(plain.rstrip("."))
    except ValueError:
        asked = True
        if NUMERIC.fullmatch(plain):
            raise ConfigError(f"Write {host} as four numbers with dots between them.") from None
    if not asked:
        raise ConfigError(f"{host} is never contacted.")


def may_be_asked(address: str, inside: bool = True) -> bool:
    """Return whether a server may have this address (ValueError if malformed); `inside`: also in this network."""
    found = scope(address)
    return found is AddressScope.PUBLIC or (inside and found is AddressScope.INSIDE)


def scope(address: str) -> AddressScope:
    """Return where an address leads. An IPv4 address inside an IPv6 one counts too. Raises ValueError if malformed."""
    parsed = ip_address(address.partition("%")[0])
    seen = [parsed, *(_embedded(parsed) if isinstance(parsed, IPv6Address) else ())]
    if any(one in network for one in seen for network in (*NEVER_4, *NEVER_6)):
        return AddressScope.NEVER
    return AddressScope.PUBLIC if all(map(_is_public, seen)) else AddressScope.INSIDE


def _is_public(address: IPv4Address | IPv6Address) -> bool:
    """Return True for an address of the internet; one that only translates an IPv4 address leads where that does."""
    if isinstance(address, IPv6Address) and _is_translated(address):
        return True
    if isinstance(address, IPv6Address):
        return address in GLOBAL_6 and not any(address in network for network in NOT_GLOBAL_6)
    return address.is_global and address not in RELAYS_4


def _is_translated(address: IPv6Address) -> bool:
    # ::1 is this machine itself, and contains nothing.
    return int(address) > 1 and any(address in network for network in LAST_BITS)


def _embedded(address: IPv6Address) -> Iterator[IPv4Address]:
    """Yield the IPv4 addresses that gateways and systems would connect to for an IPv6 address."""
    number = int(address)
    last = number & 0xFFFFFFFF
    if _is_translated(address) or number >> 32 & 0xFFFFFFFF in ISATAP:
        yield IPv4Address(last)
    if address in LOCAL_NAT64:
        # Two layouts of RFC 6052: at the end, and around the bits 64 to 71. Each leaves zeros where the other is.
        around = (number >> 64 & 0xFFFF) << 16 | number >> 40 & 0xFFFF
        yield from (IPv4Address(one) for one in (last, around) if one >> 24)
    if address in SIX_TO_FOUR:
        yield IPv4Address(number >> 80 & 0xFFFFFFFF)
    if address in TEREDO:
        yield IPv4Address(number >> 64 & 0xFFFFFFFF)
        yield IPv4Address(~number & 0xFFFFFFFF)
