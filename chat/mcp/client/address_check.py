"""Which addresses an MCP server may have."""

from __future__ import annotations

import ipaddress
import socket

from toolsupport.core.errors import ConfigError
from toolsupport.providers.dns import AddressResolver


async def judged_address(host: str) -> str:
    """An address of this name that may be asked. Raises ConfigError, OSError for a name nobody knows."""
    found = [str(place["host"]) for place in await AddressResolver().resolve(host, family=socket.AF_UNSPEC)]
    for address in found:
        if may_be_asked(address):
            return address
    raise ConfigError(f"{host} leads to {found[0] if found else 'nowhere'}, which is never asked.")


def may_be_asked(address: str) -> bool:
    """Whether a server can have this address; this machine and inner networks are for an administrator to name.

    Link-local ones are left out: there machines in a cloud are told their secrets.
    """
    parsed = ipaddress.ip_address(address.partition("%")[0])
    parsed = getattr(parsed, "ipv4_mapped", None) or parsed
    never = parsed.is_link_local or parsed.is_multicast or parsed.is_unspecified
    # Of the newer kind, this machine itself counts as reserved.
    return not (never or (parsed.version == 4 and parsed.is_reserved))
