"""Checks the MCP servers of an installation."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from asgiref.sync import async_to_sync

from chat.mcp import server_check
from toolsupport.core.errors import ConfigError
from toolsupport.core.history_sentences import counted
from toolsupport.registry.mcp import mcp_servers
from toolsupport.services.doctor import Finding


def findings() -> Iterator[Finding]:
    """Return a finding for each server in use, after querying it; none if none is defined."""
    try:
        mcp_servers.ensure_stdio()
    except ConfigError as error:
        yield Finding("MCP servers", False, str(error))
    asked = [server.id for server in mcp_servers.shown() if server.enabled]
    if not asked:
        return
    reasons = dict(zip(asked, async_to_sync(_ask)(asked), strict=True))
    for server in mcp_servers.shown():
        if server.id not in reasons:
            continue
        why = reasons[server.id]
        tools = f"{counted(len(server.tools), 'tool')}, {server.waiting} waiting for approval (page Tools, MCP servers)"
        yield Finding(f"MCP server {server.name}", not why, why or f"answers: {tools}")


async def _ask(servers: list[int]) -> list[str]:
    return list(await asyncio.gather(*(server_check.ask(server) for server in servers)))
