"""Keeps one MCP server connected, in one task that opens and closes its client repeatedly."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Mapping
from contextlib import suppress
from typing import Protocol

from chat.mcp.client.connection import CALL, McpConnection, Progress, connected, for_model, in_words
from toolsupport.core.errors import ToolError
from toolsupport.core.remote_tools import CheckedTools, RemoteServer, RemoteTool
from toolsupport.core.sentences import sentence
from toolsupport.core.types import JSON

ENTERING = 30.0  # seconds
LOOK_AGAIN = 60.0
# The minimum time between two queries, however often a server reports changes.
LEAST = 1.0
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
# After a connection that lasted this long, the pauses begin again at the shortest.
GOOD = 30.0


class HostObserver(Protocol):
    """Receives a server's reports."""

    def seen(self, server: int, version: str, tools: CheckedTools) -> Awaitable[None]: ...

    def failed(self, server: int, why: str) -> Awaitable[None]: ...


class McpHost:
    """One server. `serve` runs until `stop`; calls come from other tasks."""

    def __init__(self, server: RemoteServer, observer: HostObserver) -> None:
        self.server = server
        self._observer = observer
        self._connection: McpConnection | None = None
        self._digests: Mapping[str, str] = {}
        self._stopping = asyncio.Event()
        self._look = asyncio.Event()

    def look(self) -> None:
        """Query the tools again soon."""
        self._look.set()

    def stop(self) -> None:
        """Close the connection; a pause ends at once."""
        self._stopping.set()
        self._look.set()

    async def serve(self) -> None:
        """Connect, and reconnect with growing pauses after failures."""
        pause, clock = FIRST_PAUSE, asyncio.get_running_loop().time
        while not self._stopping.is_set():
            began = clock()
            why = await self._once()
            if self._stopping.is_set():
                return
            await self._observer.failed(self.server.id, why)
            pause = FIRST_PAUSE if clock() - began > GOOD else pause
            await _until(self._stopping, pause * random.uniform(0.5, 1.0))
            pause = min(LONGEST_PAUSE, pause * 2)

    async def _once(self) -> str:
        """Run one connection from beginning to end; return why it ended."""
        try:
            async with asyncio.timeout(ENTERING) as clock, connected(self.server, self.look) as connection:
                clock.reschedule(None)
                await self._keep(connection)
            return sentence("mcp_left")
        except Exception as error:  # errors of the SDK and its transports, and others that the server caused
            return in_words(error)
        finally:
            self._connection = None

    async def _keep(self, connection: McpConnection) -> None:
        """Query its tools now, after each reported change, and every minute, until that fails."""
        while not self._stopping.is_set():
            self._look.clear()
            tools = await connection.checked_tools()
            self._digests = tools.digests
            self._connection = connection
            await self._observer.seen(self.server.id, connection.version, tools)
            await _until(self._stopping, LEAST)
            await _until(self._look, LOOK_AGAIN - LEAST)

    async def call(self, tool: RemoteTool, arguments: JSON, progress: Progress) -> JSON:
        """Return the result of a tool. Raises ToolError; only approved tools are called."""
        connection, name = self._connection, self.server.name
        if connection is None:
            raise ToolError(f"{name} does not answer at the moment. Continue without it, or try again later.")
        if self._digests.get(tool.name) != tool.digest:
            # The last list may be older than the approval; without a newer one the tool is not called.
            try:
                self._digests = (await connection.checked_tools()).digests
            except Exception:
                self.look()  # whether it is still there
        if self._digests.get(tool.name) != tool.digest:
            raise ToolError(
                f"{tool.name} of {name} no longer matches its approved definition. An administrator must check it."
            )
        try:
            async with asyncio.timeout(CALL):
                return await connection.call(tool.name, arguments, progress)
        except Exception as error:
            self.look()  # whether it is still there
            raise ToolError(f"{name} could not do it. {connection.broken or for_model(error)}") from error


async def _until(event: asyncio.Event, seconds: float) -> None:
    """Wait for the event, up to a limit."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
