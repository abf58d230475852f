"""Resolves the name of an MCP server to its permitted addresses."""

from __future__ import annotations

import socket

from toolsupport.core.errors import ConfigError
from toolsupport.core.server_address_rules import may_be_asked
from toolsupport.providers.dns import AddressResolver


async def judged_addresses(host: str) -> list[str]:
    """Return the permitted addresses of this name. Raises ConfigError, OSError for an unknown name."""
    found = [str(place["host"]) for place in await AddressResolver().resolve(host, family=socket.AF_UNSPEC)]
    permitted = [address for address in found if may_be_asked(address)]
    if not permitted:
        raise ConfigError(f"{host} leads to {found[0] if found else 'nowhere'}, which is never contacted.")
    return permitted
