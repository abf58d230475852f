"""The hostile server over both transports, and a host that keeps it connected."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from chat.mcp.client import host as hosting
from chat.mcp.client.host import McpHost
from tests.child_process import running
from toolsupport.core import remote_tools
from toolsupport.core.remote_tools import CheckedTools, RemoteServer, RemoteTool
from toolsupport.core.types import JSON

SCRIPT = str(Path(__file__).with_name("hostile.py"))


@dataclass
class RecordingObserver:
    """What a host told of its server; each telling can be waited for."""

    lists: list[list[JSON]] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    left_out: tuple[str, ...] = ()
    version: str = ""
    told: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def seen(self, server: int, version: str, tools: CheckedTools) -> None:
        async with self.told:
            self.lists.append([*tools.accepted.values()])
            self.left_out = tools.left_out
            self.version = version
            self.told.notify_all()

    async def failed(self, server: int, why: str) -> None:
        async with self.told:
            self.failures.append(why)
            self.told.notify_all()

    async def until(self, lists: int = 0, failures: int = 0) -> None:
        """Wait until it answered, and failed, so often."""
        async with asyncio.timeout(20), self.told:
            await self.told.wait_for(lambda: len(self.lists) >= lists and len(self.failures) >= failures)

    def tool(self, name: str, server: RemoteServer) -> RemoteTool:
        """A tool as an administrator would have approved it now."""
        definition = next(one for one in self.lists[-1] if one["name"] == name)
        spec = remote_tools.spec_of(server.name, definition)
        return RemoteTool(server, name, spec, remote_tools.digest(definition))


def over_pipes(*more: str) -> RemoteServer:
    return RemoteServer(1, "hostile", "stdio", command=sys.executable, args=(SCRIPT, "stdio", *more))


@pytest.fixture(autouse=True)
def _in_a_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosting, "LEAST", 0.05)
    monkeypatch.setattr(hosting, "FIRST_PAUSE", 0.01)


@pytest.fixture(params=["stdio", "http"])
def server(request: pytest.FixtureRequest) -> Iterator[RemoteServer]:
    """The hostile server, over each transport."""
    if request.param == "stdio":
        yield over_pipes()
        return
    command = [sys.executable, SCRIPT, "http"]
    with running(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        yield RemoteServer(1, "hostile", "http", url=f"http://127.0.0.1:{port}/mcp", token="canary-token")


@asynccontextmanager
async def hosted(server: RemoteServer) -> AsyncIterator[tuple[McpHost, RecordingObserver]]:
    """A host that serves; left as a stopping process leaves it."""
    received = RecordingObserver()
    host = McpHost(server, received)
    serving = asyncio.create_task(host.serve())
    try:
        yield host, received
    finally:
        host.stop()
        async with asyncio.timeout(15):
            await serving
