"""Judges the address of each connection to a model server, right before it is made."""

from __future__ import annotations

import socket
from collections.abc import Callable

from aiohttp import AddrInfoType

from toolsupport.core.server_address_rules import AddressScope, may_be_asked, scope


class AddressRefused(OSError):
    """A connection to an address that no server may have."""


class InsideRefused(AddressRefused):
    """A connection into this network, for a server that must be outside it."""


def guarded_socket(inside: bool) -> Callable[[AddrInfoType], socket.socket]:
    """Return the maker of sockets for servers that may be, or may not be, `inside` this network.

    It is called with the resolved address of every connection, also where the address was written in numbers.
    """

    def made(place: AddrInfoType) -> socket.socket:
        family, kind, protocol, _, address = place
        judge(str(address[0]), inside)
        return socket.socket(family, kind, protocol)

    return made


def judge(address: str, inside: bool) -> None:
    """Raise AddressRefused for an address that may not be connected to."""
    if may_be_asked(address, inside):
        return
    if scope(address) is AddressScope.INSIDE:
        raise InsideRefused("inside this network")
    raise AddressRefused("never asked")
