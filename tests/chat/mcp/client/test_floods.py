"""A server that sends too much, too fast or without an end loses its connection, and nothing else waits for it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from chat.mcp.client import host as hosting
from chat.mcp.client.message_guard import MOST_COST, MessageGuard, ServerBroke, StreamCounter
from chat.mcp.client.results import ResultReader
from chat.tools.files.workspace import Workspace
from tests.chat.mcp.client.conftest import hosted, over_pipes
from tests.chat.mcp.client.test_host import ask, said
from tests.processor_time import forget_older_objects, slowness
from toolsupport.core.errors import ToolError
from toolsupport.core.remote_tools import RemoteServer

pytestmark = pytest.mark.asyncio

# Seconds of the processor that the event loop may spend on a server in one go, on the machine of the promise.
LONGEST_STEP = 0.25
REASONS = {
    "endless": "of more than 8 MiB",
    "lists": "too many values",
    "spam": "too much within ten seconds",
    "asks": "too much within ten seconds",
}


@asynccontextmanager
async def watched() -> AsyncIterator[list[float]]:
    """Measure the processor time of this thread between two looks, as on the machine of the promise."""
    steps: list[float] = []
    slower = slowness()

    async def look() -> None:
        while True:
            begun = time.thread_time()
            await asyncio.sleep(0.005)
            steps.append((time.thread_time() - begun) / slower)

    forget_older_objects()
    looking = asyncio.create_task(look())
    try:
        yield steps
    finally:
        looking.cancel()


@pytest.mark.parametrize("name", REASONS)
async def test_a_flood_ends_the_connection_with_its_reason(server: RemoteServer, name: str) -> None:  # S2
    async with watched() as steps, hosted(server) as (host, received):
        await received.until(lists=1)
        with pytest.raises(ToolError, match=REASONS[name]):
            await ask(host, received, name)
        await received.until(failures=1)
        assert REASONS[name] in received.failures[0]
        await received.until(lists=len(received.lists) + 1)
        assert said(await ask(host, received, "echo", text="back")) == "back"
    assert max(steps) < LONGEST_STEP


async def test_lines_without_messages_end_the_connection() -> None:
    async with hosted(over_pipes()) as (host, received):
        await received.until(lists=1)
        with pytest.raises(ToolError, match="lines in a row that are not messages"):
            await ask(host, received, "unread")


@pytest.mark.parametrize("listing", ["parts", "pages"])
async def test_a_list_that_is_too_large_is_refused(server: RemoteServer, listing: str) -> None:
    async with watched() as steps, hosted(server) as (host, received):
        await received.until(lists=1)
        await ask(host, received, "list", text=listing)
        await received.until(failures=1)
        assert "too many values" in received.failures[0] or "list of tools is too large" in received.failures[0]
    assert max(steps) < LONGEST_STEP


async def test_half_a_line_ends_with_the_time(server: RemoteServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosting, "CALL", 0.3)
    async with hosted(server) as (host, received):
        await received.until(lists=1)
        with pytest.raises(ToolError, match="does not answer in time"):
            await ask(host, received, "half")


async def test_an_answer_to_another_request_is_none(server: RemoteServer) -> None:
    async with hosted(server) as (host, received):
        await received.until(lists=1)
        # Over HTTP the first response on a request's own stream is the response to it, whatever its id.
        wanted = {"stdio": "its own", "http": "of another"}
        assert said(await ask(host, received, "wrong_id")) == wanted[server.kind]


@pytest.mark.parametrize("name", ["numbers", "deep"])
async def test_strange_values_are_a_result_or_an_error(server: RemoteServer, name: str, tmp_path: Path) -> None:
    async with hosted(server) as (host, received):
        await received.until(lists=1)
        result = await ask(host, received, name)
        assert "[structured]" in ResultReader("hostile", Workspace(tmp_path)).read(result).content
        assert said(await ask(host, received, "echo", text="still there")) == "still there"


async def test_events_are_counted_however_they_arrive() -> None:
    body = b"data: {}\n\n" * 10 + b"data: {}\r\n\r\n" * 10 + b"data: []"
    costs = set()
    for size in (1, 3, 7, len(body)):
        guard = MessageGuard()
        counter = StreamCounter(guard, events=True)
        for at in range(0, len(body), size):
            counter.feed(body[at : at + size])
        counter.end()
        costs.add(round(guard._cost, 6))
    assert len(costs) == 1 and 21 < costs.pop() < 22, costs


async def test_one_message_is_not_cut_by_empty_lines() -> None:
    counter = StreamCounter(MessageGuard(), events=False)
    with pytest.raises(ServerBroke, match="8 MiB"):
        for _ in range(9 * 1024):
            counter.feed(b"\n\n" + b" " * 1022)


async def test_a_busy_server_stays_within_the_limit() -> None:
    guard = MessageGuard()
    for _ in range(MOST_COST // 2):
        guard.line(b'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}}')
    assert not guard.reason
