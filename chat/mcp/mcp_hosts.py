"""The MCP servers of this process: one host for each server in use, through which tools are called."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass, field
from typing import Any

from channels.db import database_sync_to_async as in_database
from django.db import DatabaseError, InterfaceError

from chat.mcp.client.host import McpHost
from chat.mcp.client.results import ResultReader
from chat.tools.tool import ToolContext
from toolsupport import cancellable_threads
from toolsupport.core.errors import ConfigError, ToolError
from toolsupport.core.remote_tools import CheckedTools, RemoteServer, RemoteTool
from toolsupport.core.types import JSON, ToolResult
from toolsupport.registry.mcp import mcp_servers, reported_tools

log = logging.getLogger(__name__)

# How soon another process sees what one changed, in seconds.
EVERY = 2.0
LEAVING = 3.0
# The errors of an unavailable database, and of a closed connection in Django.
UNWRITABLE = (DatabaseError, InterfaceError)
Spawn = Callable[[Coroutine[Any, Any, Any]], asyncio.Task[Any]]


class HostRecorder:
    """Stores servers' reports; if the database fails, the next report retries."""

    async def seen(self, server: int, version: str, tools: CheckedTools) -> None:
        await self._write(lambda: reported_tools.seen(server, version, tools))

    async def failed(self, server: int, why: str) -> None:
        await self._write(lambda: reported_tools.failed(server, why))

    async def _write(self, work: Callable[[], None]) -> None:
        try:
            await in_database(work)()
        except UNWRITABLE as error:
            log.error("could not store an MCP server's report: %s", error)


@dataclass(slots=True)
class RunningHost:
    """A host with its task."""

    host: McpHost
    task: asyncio.Task[Any]


@dataclass(slots=True)
class McpHosts:
    """The hosts of one process."""

    running: dict[int, RunningHost] = field(default_factory=dict)
    stopping: bool = False
    _spawn: Spawn | None = None
    _loop: asyncio.AbstractEventLoop | None = None
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    def start(self, spawn: Spawn) -> None:
        """Start to follow which servers are in use; needs the running event loop."""
        self._spawn, self._loop = spawn, asyncio.get_running_loop()
        spawn(self._watch())

    def nudge(self) -> None:
        """Check the rows and the servers' tools at once; callable from any thread."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._changed.set)

    async def stop(self) -> None:
        """Close every connection; slow ones are cut off."""
        self.stopping = True
        self._changed.set()
        leaving = [self._leave(server) for server in list(self.running)]
        if leaving:
            await asyncio.wait(leaving, timeout=LEAVING)

    async def _watch(self) -> None:
        try:
            await in_database(mcp_servers.ensure_stdio)()
        except (ConfigError, *UNWRITABLE) as error:
            log.error("%s", error)
        while not self.stopping:
            self._changed.clear()
            try:
                self._follow(await in_database(mcp_servers.enabled_servers)())
            except Exception:
                log.exception("could not look up the MCP servers, retrying")
            try:
                async with asyncio.timeout(EVERY):
                    await self._changed.wait()
                for hosted in self.running.values():
                    hosted.host.look()
            except TimeoutError:
                continue

    def _follow(self, wanted: Iterable[RemoteServer]) -> None:
        """Stop hosts that are disabled or changed; start new ones."""
        servers = {server.id: server for server in wanted}
        for id_, hosted in list(self.running.items()):
            if servers.get(id_) != hosted.host.server:
                self._leave(id_)
        for id_, server in servers.items():
            if id_ not in self.running and not self.stopping and self._spawn is not None:
                host = McpHost(server, HostRecorder())
                self.running[id_] = RunningHost(host, self._spawn(host.serve()))

    def _leave(self, id_: int) -> asyncio.Task[Any]:
        hosted = self.running.pop(id_)
        hosted.host.stop()
        return hosted.task

    async def run(self, tool: RemoteTool, context: ToolContext, arguments: JSON) -> ToolResult:
        """Call a tool and read its result. Raises ToolError."""
        hosted = self.running.get(tool.server.id)
        if hosted is None:
            raise ToolError(f"{tool.server.name} is not connected. Continue without it, or try again later.")
        if not await in_database(mcp_servers.may_still_be_called)(tool):
            raise ToolError(f"{tool.spec.name} may no longer be called: an administrator or the server changed it.")

        def progress(done: float, total: float | None, message: str | None) -> None:
            context.say(progress_in_words(done, total, message))

        result = await hosted.host.call(tool, arguments, progress)
        return await cancellable_threads.run(ResultReader(tool.server.name, context.workspace).read, result)


def progress_in_words(done: float, total: float | None, message: str | None) -> str:
    """Return a line for people with the progress and the server's message."""
    far = f"{done:g} of {total:g}" if total else f"{done:g}"
    words = " ".join((message or "").split())[:200]
    return f"{far} {words}".strip() + "\n"


_hosts: McpHosts | None = None


def current() -> McpHosts:
    """Return this process's hosts, created at the first call. `asgi.start` starts them, `asgi.stop` ends them."""
    global _hosts
    if _hosts is None:
        _hosts = McpHosts()
    return _hosts


async def shut_down() -> None:
    """Close every connection, then drop this process's hosts."""
    global _hosts
    if _hosts is not None:
        await _hosts.stop()
        _hosts = None
