"""Servers that people use and that differ from the newest version of the protocol can be used all the same."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from chat.mcp.client import connection as connecting
from chat.mcp.client.connection import McpConnection, connected, in_words
from chat.mcp.client.results import ResultReader
from chat.mcp.client.stdio import MOST_UNREADABLE
from chat.tools.files.workspace import Workspace
from tests.chat.mcp.client.conftest import hosted
from toolsupport.core import remote_tools
from toolsupport.core.errors import ToolError
from toolsupport.core.remote_tools import RemoteServer
from toolsupport.core.types import JSON

pytestmark = pytest.mark.asyncio

SCRIPT = str(Path(__file__).with_name("scripted.py"))
TOOL: JSON = {"name": "work", "inputSchema": {"type": "object"}}
DONE: JSON = {"content": [{"type": "text", "text": "done"}]}


def scripted(tmp_path: Path, **script: Any) -> RemoteServer:
    file = tmp_path / "script.json"
    file.write_text(json.dumps({"list": {"tools": [TOOL]}, "call": DONE} | script))
    return RemoteServer(1, "scripted", "stdio", command=sys.executable, args=(SCRIPT, str(file)))


@asynccontextmanager
async def open_to(tmp_path: Path, **script: Any) -> AsyncIterator[McpConnection]:
    async with connected(scripted(tmp_path, **script), lambda: None) as connection:
        yield connection


async def called(connection: McpConnection) -> Any:
    return await connection.call("work", {}, lambda *_: None)


async def test_one_that_ends_at_the_question_for_newer_versions_is_started_again(tmp_path: Path) -> None:
    async with open_to(tmp_path, strict=True) as connection:
        assert await connection.tools() == [TOOL]
        assert await called(connection) == DONE


@pytest.mark.parametrize(("soon", "starts"), [(60.0, 2), (0.0, 1)])
async def test_one_that_ends_late_is_started_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, soon: float, starts: int
) -> None:
    monkeypatch.setattr(connecting, "SOON", soon)
    command = f"echo started >> {tmp_path}/starts; echo no database >&2; exit 3"
    with pytest.raises(Exception) as caught:
        async with connected(RemoteServer(1, "late", "stdio", command="sh", args=("-c", command)), lambda: None):
            pass
    assert "ended with 3. Its last output: “no database”" in in_words(caught.value)
    assert (tmp_path / "starts").read_text().split() == ["started"] * starts


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ({"list": {"error": {"code": -32000, "message": "no database"}}}, "answered with an error: “no database”"),
        ({"version": "1.0"}, "Unsupported protocol version from the server: 1.0"),
        ({"list": {"tools": "none"}}, "does not follow the protocol"),
    ],
)
async def test_a_program_that_was_ended_here_is_not_the_reason(
    tmp_path: Path, script: dict[str, Any], reason: str
) -> None:
    with pytest.raises(Exception) as caught:
        async with open_to(tmp_path, **script) as connection:
            await connection.tools()
    assert reason in in_words(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        # As the TypeScript SDK writes it, and as those of Python programs do.
        'MCP error -32602: Input validation error: Invalid arguments for tool work: [{"path": ["text"]}]',
        "1 validation error for workArguments\ntext\n  Field required",
        f"40 validation errors: {', '.join(f'argument{at} is required' for at in range(40))}",
    ],
)
async def test_an_error_about_arguments_reaches_the_model(tmp_path: Path, text: str) -> None:
    server = scripted(tmp_path, call={"error": {"code": -32602, "message": text}})
    async with hosted(server) as (host, received):
        await received.until(lists=1)
        with pytest.raises(ToolError) as caught:
            await host.call(received.tool("work", server), {}, lambda *_: None)
    assert str(caught.value).endswith(f"It answered with an error: {' '.join(text.split())}")


# Definitions that the SDK rejects together with the whole list, and whether the tool can be used.
UNUSUAL_TOOLS: tuple[tuple[JSON, bool], ...] = (
    ({"inputSchema": {}}, True),
    ({"outputSchema": {"type": "array", "items": {"type": "string"}}}, True),
    ({"annotations": {"readOnlyHint": "often"}}, True),
    ({"title": 7, "icons": "none"}, True),
    ({"inputSchema": {"type": "OBJECT"}}, True),
    ({"inputSchema": {"type": "array"}}, False),
    ({"inputSchema": None}, False),
    ({"name": None}, False),
)


async def test_one_unusual_definition_does_not_hide_the_other_tools(tmp_path: Path) -> None:
    listed = [TOOL, *(TOOL | {"name": f"t{at}"} | odd for at, (odd, _) in enumerate(UNUSUAL_TOOLS)), "none"]
    async with open_to(tmp_path, list={"tools": listed}) as connection:
        found, reasons = remote_tools.taken(await connection.tools())
    usable = [f"t{at}" for at, (_, is_usable) in enumerate(UNUSUAL_TOOLS) if is_usable]
    assert [*found] == ["work", *usable]
    assert len(reasons) == len(listed) - len(found)


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ({"content": [{"type": "video", "data": ""}, *DONE["content"]]}, "an unknown kind of content]\n\ndone"),
        ({"content": [{"type": "resource_link", "uri": "notes://1"}]}, "[resource link, not opened: notes://1]"),
        ({"content": [], "structuredContent": [1, 2]}, "[structured]\n[\n 1,\n 2\n]"),
        ({"structuredContent": {"a": 1}}, '[structured]\n{\n "a": 1\n}'),
        ({"content": None}, "[The tool returned nothing.]"),
        ({}, "[The tool returned nothing.]"),
        ({"content": [{"type": "text", "text": None}, {"type": "text", "text": 5}]}, "5"),
    ],
)
async def test_what_can_be_read_of_an_unusual_result_is(tmp_path: Path, result: JSON, text: str) -> None:
    async with open_to(tmp_path, call=result) as connection:
        given = await called(connection)
    assert ResultReader("scripted", Workspace(tmp_path / "files")).read(given).content.endswith(text)


async def test_one_that_logs_each_call_among_its_messages_stays_connected(tmp_path: Path) -> None:
    async with open_to(tmp_path, noise=True) as connection:
        for _ in range(MOST_UNREADABLE + 5):
            assert await called(connection) == DONE
