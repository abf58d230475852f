"""Whose address counts: the last one that no proxy of ours has, and for IPv6 the network of one connection."""

from __future__ import annotations

from ipaddress import ip_network

from tests.tables import every
from toolsupport.core import client_address

OURS = (ip_network("10.0.0.0/24"), ip_network("2001:db8:1::/64"))


@every(
    "peer, forwarded, found",
    [
        ("203.0.113.9", "", "203.0.113.9"),
        ("203.0.113.9", "198.51.100.1", "203.0.113.9"),  # no proxy of ours wrote it
        ("10.0.0.1", "198.51.100.1", "198.51.100.1"),
        ("10.0.0.1", "1.1.1.1, 198.51.100.1", "198.51.100.1"),  # the first one was forged
        ("10.0.0.1", "1.1.1.1,198.51.100.1 , 10.0.0.2", "198.51.100.1"),  # two proxies
        ("10.0.0.1", "10.0.0.3, 10.0.0.2", "10.0.0.3"),
        ("10.0.0.1", "", "10.0.0.1"),
        ("10.0.0.1", "198.51.100.1, garbage", "10.0.0.1"),
        ("10.0.0.1", "198.51.100.1,", "10.0.0.1"),
        ("10.0.0.1", "198.51.100.1:4711", "198.51.100.1"),
        ("::ffff:10.0.0.1", "[2001:db8:2::7]:4711", "2001:db8:2::7"),
        ("2001:db8:1::1", "fe80::1%eth0", "fe80::1"),
        ("", "198.51.100.1", "unknown"),
        ("/run/site.sock", "198.51.100.1", "unknown"),
    ],
)
def test_the_client_behind_proxies(peer: str, forwarded: str, found: str):
    assert client_address.client(peer, forwarded, OURS) == found


@every(
    "address, counted",
    [
        ("198.51.100.1", "198.51.100.1"),
        ("::ffff:198.51.100.1", "198.51.100.1"),
        ("2001:db8:0:1:2:3:4:5", "2001:db8:0:1::/64"),
        ("2001:db8:0:1::ffff", "2001:db8:0:1::/64"),
        ("2001:db8:0:2::1", "2001:db8:0:2::/64"),
        ("unknown", "unknown"),
    ],
)
def test_what_counts_as_one_client(address: str, counted: str):
    assert client_address.network(address) == counted
