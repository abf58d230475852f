"""The hosts of a process follow the rows, call what may still be called, and cost nothing where no server is."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from channels.db import database_sync_to_async as in_database
from django.contrib.auth.models import User
from django.db import InterfaceError, OperationalError

from chat.mcp import doctor_checks, mcp_hosts, mcp_tools, server_check
from chat.mcp.mcp_hosts import McpHosts
from chat.tools.files.workspace import Workspace
from chat.tools.tool import ToolContext
from tests.chat.mcp.client.conftest import over_pipes
from tests.factories import McpServerFactory
from tests.serving import ROOT
from toolsupport import cancellable_threads
from toolsupport.core import remote_tools
from toolsupport.core.errors import ToolError
from toolsupport.core.remote_tools import RemoteServer, RemoteTool
from toolsupport.core.types import ToolResult, ToolSpec
from toolsupport.models import McpServer, McpTool
from toolsupport.registry.mcp import mcp_servers, tool_approvals

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, db: None) -> McpServer:
    """The hostile server, as if the settings file named it."""
    row: McpServer = McpServerFactory(name="hostile", kind="stdio", reachable=None)
    ordinary = mcp_servers._reached

    def reached(row: McpServer) -> RemoteServer:
        if row.kind == "http":
            return ordinary(row)
        return replace(over_pipes(), id=row.pk)

    monkeypatch.setattr(mcp_servers, "_reached", reached)
    return row


@asynccontextmanager
async def hosts() -> AsyncIterator[McpHosts]:
    started = mcp_hosts.current()
    started.start(asyncio.create_task)
    try:
        yield started
    finally:
        await mcp_hosts.shut_down()


async def until(condition: Any) -> None:
    async with asyncio.timeout(20):
        while not await in_database(condition)():
            await asyncio.sleep(0.02)


def approve(name: str, bob: User, read_only: bool = False) -> None:
    row = McpTool.objects.get(name=name)
    tool_approvals.approve(row.pk, row.waiting_digest, read_only, bob.pk)


@pytest.mark.asyncio
async def test_an_approved_tool_runs_tells_its_progress_and_is_stopped_being_called(
    server: McpServer, bob: User, tmp_path: Path
) -> None:
    said: list[str] = []
    context = ToolContext(Workspace(tmp_path), say=said.append)
    async with hosts():
        await until(McpTool.objects.exists)
        await in_database(approve)("progress", bob, True)
        (remote,) = await in_database(mcp_servers.known_tools)()
        candidate = mcp_tools.candidate_of(remote)
        assert candidate.usable and not candidate.materialised
        tool = mcp_tools.tool_of(remote)
        assert (tool.level, tool.taints) == ("A1", True)
        result = await tool.run(context, {})
        assert isinstance(result, ToolResult) and result.content == "there"
        assert said == ["1 of 2 step 1\n", "2 of 2 step 2\n"]
        row = await in_database(McpTool.objects.get)(name="progress")
        await in_database(tool_approvals.set_read_only)(row.pk, False, bob.pk)
        with pytest.raises(ToolError, match="may no longer be called"):
            await tool.run(context, {})


@pytest.mark.asyncio
async def test_a_server_that_is_switched_off_is_left_and_comes_back(server: McpServer, bob: User) -> None:
    async with hosts() as running:
        await until(McpServer.objects.filter(reachable=True).exists)
        await in_database(mcp_servers.set_enabled)(server.pk, False, bob.pk)
        running.nudge()
        async with asyncio.timeout(10):
            while running.running:
                await asyncio.sleep(0.02)
        await in_database(McpServer.objects.update)(reachable=None)
        await in_database(mcp_servers.set_enabled)(server.pk, True, bob.pk)
        running.nudge()
        await until(McpServer.objects.filter(reachable=True).exists)
        assert list(running.running) == [server.pk]


@pytest.mark.asyncio
async def test_a_database_that_went_away_ends_nothing(server: McpServer, monkeypatch: pytest.MonkeyPatch) -> None:
    away: list[int] = []
    ordinary = mcp_servers.enabled_servers

    def enabled_servers() -> tuple[RemoteServer, ...]:
        if len(away) < 2:
            away.append(1)
            raise (InterfaceError, OperationalError)[len(away) - 1]("the connection is closed")
        return ordinary()

    monkeypatch.setattr(mcp_servers, "enabled_servers", enabled_servers)
    async with hosts() as running:
        for _ in range(2):
            running.nudge()
        await until(McpServer.objects.filter(reachable=True).exists)
    assert len(away) == 2


@pytest.mark.asyncio
async def test_without_hosts_a_call_says_so(server: McpServer, tmp_path: Path) -> None:
    remote = RemoteTool(over_pipes(), "echo", ToolSpec("hostile__echo"), "")
    with pytest.raises(ToolError, match="is not connected"):
        await mcp_hosts.current().run(remote, ToolContext(Workspace(tmp_path)), {})


def test_the_doctor_asks_every_server_in_use(server: McpServer) -> None:
    McpServerFactory(name="away")
    McpServerFactory(name="off", enabled=False)
    found = {finding.what: finding for finding in doctor_checks.findings()}
    assert found["MCP server hostile"].words.startswith("answers: 24 tools, 24 wait")
    assert {what: finding.ok for what, finding in found.items()} == {
        "MCP server hostile": True,
        "MCP server away": False,
    }


@pytest.mark.asyncio
async def test_asking_once_writes_down_what_it_heard(server: McpServer) -> None:
    assert await server_check.ask(server.pk) == ""
    (shown,) = await in_database(mcp_servers.shown)()
    assert shown.reachable and shown.version == "hostile 6.6.6" and shown.waiting == len(shown.tools)


@pytest.mark.asyncio
@pytest.mark.parametrize("once", [True, False])
async def test_definitions_are_checked_once_in_a_thread_of_their_own(
    server: McpServer, monkeypatch: pytest.MonkeyPatch, once: bool
) -> None:
    """Compiling schemas of a stranger may take seconds, in which the database's thread stores nothing else."""
    threads: list[str] = []
    ordinary = remote_tools.taken

    def taken(definitions: Any) -> Any:
        threads.append(threading.current_thread().name)
        return ordinary(definitions)

    monkeypatch.setattr(remote_tools, "taken", taken)
    if once:
        await server_check.ask(server.pk)
    else:
        async with hosts():
            await until(McpServer.objects.filter(reachable=True).exists)
    assert [name.startswith(cancellable_threads.PREFIX) for name in threads] == [True]


def test_a_site_without_servers_never_imports_the_sdk() -> None:
    wanted = "[one for one in ('mcp', 'mcp_types', 'httpx2') if one in sys.modules]"
    code = f"import sys, toolsupport.config.asgi; print({wanted})"
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
