"""Checks an MCP server once, with a connection of its own, and stores the result."""

from __future__ import annotations

import asyncio

from channels.db import database_sync_to_async as in_database

from chat.mcp.client.connection import connected, in_words
from toolsupport import cancellable_threads
from toolsupport.core import remote_tools
from toolsupport.core.errors import NotFound
from toolsupport.core.remote_tools import RemoteServer
from toolsupport.core.types import JSON
from toolsupport.registry.mcp import mcp_servers, reported_tools

PATIENCE = 15.0  # seconds


async def ask(server_id: int) -> str:
    """Query the server; return why it does not answer, "" if it does. Raises NotFound."""
    try:
        server = await in_database(mcp_servers.reached)(server_id)
        version, definitions = await _ask(server)
        tools = await cancellable_threads.run(remote_tools.checked, definitions)
    except NotFound:
        raise
    except Exception as error:  # errors of the settings, of the SDK, and others that the server caused
        why = in_words(error)
        await in_database(reported_tools.failed)(server_id, why)
        return why
    await in_database(reported_tools.seen)(server_id, version, tools)
    return ""


async def _ask(server: RemoteServer) -> tuple[str, list[JSON]]:
    async with asyncio.timeout(PATIENCE), connected(server, lambda: None) as connection:
        return connection.version, await connection.tools()
