"""Resolves the name of an MCP server to a permitted address."""

from __future__ import annotations

import socket

from toolsupport.core.errors import ConfigError
from toolsupport.core.server_address_rules import may_be_asked
from toolsupport.providers.dns import AddressResolver


async def judged_address(host: str) -> str:
    """Return a permitted address of this name. Raises ConfigError, OSError for an unknown name."""
    found = [str(place["host"]) for place in await AddressResolver().resolve(host, family=socket.AF_UNSPEC)]
    for address in found:
        if may_be_asked(address):
            return address
    raise ConfigError(f"{host} leads to {found[0] if found else 'nowhere'}, which is never contacted.")
