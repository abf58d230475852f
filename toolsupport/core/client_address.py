"""Finds the address of a client behind proxies, and the network that counts as one client."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

Network = IPv4Network | IPv6Network
# Proxies that were not declared can only be on the same machine or in the same private network.
PRIVATE: tuple[Network, ...] = tuple(
    ip_network(one) for one in ("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "::1/128", "fc00::/7")
)
UNKNOWN = "unknown"


def client(peer: str, forwarded: str, proxies: Sequence[Network]) -> str:
    """Return the client's address: the peer, or the last entry of X-Forwarded-For that no proxy of ours has.

    Each proxy appends the address it was connected from, so entries count from the right, and only as long as the
    address that wrote them is a proxy's. Entries that a client wrote itself are left of that.
    """
    found, written = parsed(peer), forwarded.split(",")
    while found is not None and written and any(found in network for network in proxies):
        before = parsed(written.pop())
        if before is None:
            break
        found = before
    return str(found) if found is not None else UNKNOWN


def network(address: str) -> str:
    """Return the network that counts as one client: an IPv4 address, or the 64 bits of an IPv6 connection."""
    found = parsed(address)
    if isinstance(found, IPv6Address):
        return str(ip_network((found, 64), strict=False))
    return str(found) if found is not None else address


def parsed(text: str) -> IPv4Address | IPv6Address | None:
    """Return the address in `1.2.3.4`, `1.2.3.4:5`, `::1`, `[::1]:5` or `fe80::1%eth0`; None for anything else."""
    text = text.strip()
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:  # IPv4 with a port, as some proxies write it
        text = text.partition(":")[0]
    try:
        found = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return found.ipv4_mapped or found if isinstance(found, IPv6Address) else found
