"""A server that does everything wrong costs one error result, over pipes and over HTTP."""

from __future__ import annotations

import asyncio
import ssl
from pathlib import Path
from typing import Any

import pytest

from chat.mcp.client import host as hosting
from chat.mcp.client.guarded_http import GuardedTransport
from chat.mcp.client.host import McpHost
from chat.mcp.client.message_guard import MessageGuard
from chat.mcp.client.results import ResultReader
from chat.tools.files.workspace import Workspace
from tests.chat.mcp.client.conftest import RecordingObserver, hosted, over_pipes
from toolsupport.core.errors import ToolError
from toolsupport.core.remote_tools import RemoteServer

pytestmark = pytest.mark.asyncio


async def ask(host: McpHost, received: RecordingObserver, name: str, **arguments: Any) -> Any:
    return await host.call(received.tool(name, host.server), arguments, lambda *_: None)


def said(result: Any) -> str:
    return str(result["content"][0]["text"])


async def test_it_connects_lists_and_calls(server: RemoteServer) -> None:  # T4
    async with hosted(server) as (host, received):
        await received.until(lists=1)
        assert received.version == "hostile 6.6.6"
        assert said(await ask(host, received, "echo", text="hello")) == "hello"


async def test_a_changed_definition_is_not_called(server: RemoteServer) -> None:  # T4, SAFETY 3.3
    async with hosted(server) as (host, received):
        await received.until(lists=1)
        approved = received.tool("echo", server)
        await ask(host, received, "change")
        await received.until(lists=2)
        with pytest.raises(ToolError, match="no longer matches its approved definition"):
            await host.call(approved, {"text": "x"}, lambda *_: None)
        assert said(await ask(host, received, "echo", text="again approved")) == "again approved"


async def test_what_was_approved_since_the_last_list_is_called(server: RemoteServer) -> None:
    async with hosted(server) as (host, received):
        await received.until(lists=1)
        host._digests = {"echo": "of an older definition"}
        assert said(await ask(host, received, "echo", text="approved since")) == "approved since"


async def test_death_in_mid_call_costs_one_result(server: RemoteServer) -> None:
    async with hosted(server) as (host, received):
        await received.until(lists=1)
        with pytest.raises(ToolError, match="hostile could not do it"):
            await ask(host, received, "die")
        await received.until(lists=1, failures=1)
        if server.kind == "stdio":  # it comes back, and is told why it went
            assert "ended with 3. Its last output: “out of cheese”" in received.failures[0]
            await received.until(lists=2)
            assert said(await ask(host, received, "echo", text="back")) == "back"


async def test_a_stop_reaches_the_server_as_a_cancellation(server: RemoteServer) -> None:  # C5
    async with hosted(server) as (host, received):
        await received.until(lists=1)
        hanging = asyncio.create_task(ask(host, received, "hang"))
        assert said(await ask(host, received, "hangs")) == "somebody does"
        hanging.cancel()
        with pytest.raises(asyncio.CancelledError):
            await hanging
        assert said(await ask(host, received, "calls_off")) == "1"


async def test_progress_is_told_in_order(server: RemoteServer) -> None:
    told: list[Any] = []
    async with hosted(server) as (host, received):
        await received.until(lists=1)
        await host.call(received.tool("progress", server), {}, lambda *step: told.append(step))
    assert told == [(1, 2, "step 1"), (2, 2, "step 2")]


@pytest.mark.parametrize("name", ["huge", "garbage"])
async def test_what_nobody_can_read_is_an_error(server: RemoteServer, name: str, tmp_path: Path) -> None:
    async with hosted(server) as (host, received):
        await received.until(lists=1)
        with pytest.raises(ToolError):
            ResultReader("hostile", Workspace(tmp_path)).read(await ask(host, received, name))
        host.look()
        await received.until(lists=2)
        assert said(await ask(host, received, "echo", text="still there")) == "still there"


async def test_a_flood_of_news_is_looked_at_once(server: RemoteServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosting, "LEAST", 1.0)
    async with hosted(server) as (host, received):
        await received.until(lists=1)
        assert said(await ask(host, received, "flood")) == "flooded"
        await received.until(lists=2)
        assert len(received.lists) == 2


async def test_it_leaves_at_once_while_it_waits_to_try_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosting, "FIRST_PAUSE", 1000.0)
    monkeypatch.setattr(hosting, "LONGEST_PAUSE", 1000.0)
    missing = RemoteServer(1, "missing", "stdio", command="/no/such/program")
    async with hosted(missing) as (_, received):
        await received.until(failures=1)
    assert received.failures == ["/no/such/program cannot be started: No such file or directory."]


async def test_certificates_are_loaded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loading them takes 20 ms, in which the event loop does nothing else."""
    GuardedTransport(MessageGuard())
    loaded: list[object] = []
    monkeypatch.setattr("httpx2._transports.default.create_ssl_context", lambda verify=True, **_: loaded.append(verify))
    GuardedTransport(MessageGuard())
    assert [type(one) for one in loaded] == [ssl.SSLContext]


async def test_a_call_without_a_connection_says_so() -> None:
    server = RemoteServer(1, "away", "http", url="http://127.0.0.1:9/mcp")
    async with hosted(server) as (host, received):
        await received.until(failures=1)
        received.lists = [[{"name": "echo", "inputSchema": {"type": "object"}}]]
        with pytest.raises(ToolError, match="does not answer"):
            await ask(host, received, "echo")


async def test_one_that_never_speaks_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosting, "ENTERING", 0.3)
    silent = RemoteServer(1, "silent", "stdio", command="cat", args=("/dev/null", "-"))
    async with hosted(silent) as (_, received):
        await received.until(failures=1)
    assert received.failures[0]


async def test_no_variable_of_ours_reaches_it_unasked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLSUPPORT_SECRET_KEY", "canary")
    shown = RemoteServer(1, "env", "stdio", command="sh", args=("-c", "env >&2; exit 4"), env={"GIVEN": "yes"})
    async with hosted(shown) as (_, received):
        await received.until(failures=1)
    assert "GIVEN=yes" in received.failures[0] and "canary" not in received.failures[0]


async def test_pipes_are_left_without_a_process_behind() -> None:
    server = over_pipes()
    async with hosted(server) as (host, received):
        await received.until(lists=1)
        hanging = asyncio.create_task(ask(host, received, "hang"))
        await ask(host, received, "hangs")
    with pytest.raises(ToolError):
        await hanging
