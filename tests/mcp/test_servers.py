"""Servers of others, each in an environment of its own: listed, called, killed, asked again."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from chat.mcp.client import host as hosting
from chat.mcp.client.host import McpHost
from chat.mcp.client.results import ResultReader
from chat.tools.files.workspace import Workspace
from tests.chat.mcp.client.conftest import RecordingObserver, hosted
from tests.child_process import running
from tests.serving import ROOT
from toolsupport.core.errors import ToolError
from toolsupport.core.remote_tools import RemoteServer

pytestmark = [pytest.mark.real_server, pytest.mark.asyncio]
ENVIRONMENT = ROOT / ".venv-mcp"
PYTHON, NODE = ENVIRONMENT / "bin", ENVIRONMENT / "node/node_modules/.bin"


@dataclass(frozen=True)
class Real:
    """How a server is started in a directory, what to call of it, and a part of what it then says."""

    program: Path
    args: Callable[[str], list[str]]
    tool: str
    arguments: Callable[[str], dict[str, Any]]
    says: str


REAL = {
    "time": Real(
        PYTHON / "mcp-server-time",
        lambda _: ["--local-timezone", "UTC"],
        "convert_time",
        lambda _: {"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"},
        "T21:00:00+09:00",
    ),
    "git": Real(
        PYTHON / "mcp-server-git",
        lambda place: ["--repository", place],
        "git_log",
        lambda place: {"repo_path": place},
        "The first one",
    ),
    "filesystem": Real(
        NODE / "mcp-server-filesystem",
        lambda place: [place],
        "read_text_file",
        lambda place: {"path": f"{place}/note.txt"},
        "Buy bread",
    ),
    "memory": Real(
        NODE / "mcp-server-memory",
        lambda _: [],
        "create_entities",
        lambda _: {"entities": [{"name": "Ada", "entityType": "person", "observations": ["likes engines"]}]},
        "likes engines",
    ),
    "everything": Real(NODE / "mcp-server-everything", lambda _: [], "get-sum", lambda _: {"a": 2, "b": 3}, "5"),
}


@pytest.fixture
def place(tmp_path: Path) -> str:
    """A directory with a note in it, which is a repository too."""
    (tmp_path / "note.txt").write_text("Buy bread\n")
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    for command in (("init", "-q"), ("add", "note.txt"), ("commit", "-qm", "The first one")):
        subprocess.run(["git", "-C", str(tmp_path), *who, *command], check=True)
    return str(tmp_path)


def started(name: str, place: str) -> RemoteServer:
    real = REAL[name]
    env = {"MEMORY_FILE_PATH": f"{place}/memory.jsonl"}
    return RemoteServer(1, name, "stdio", command=str(real.program), args=tuple(real.args(place)), env=env, cwd=place)


@asynccontextmanager
async def connected(server: RemoteServer) -> AsyncIterator[tuple[McpHost, RecordingObserver]]:
    async with hosted(server) as (host, received):
        await received.until(lists=1)
        yield host, received


async def answer(host: McpHost, received: RecordingObserver, name: str, arguments: dict[str, Any]) -> str:
    result = await host.call(received.tool(name, host.server), arguments, lambda *_: None)
    read = ResultReader(host.server.name, Workspace(Path(host.server.cwd or "/tmp"))).read(result)
    assert not read.is_error, read.content
    return read.content


def process_of(program: Path) -> int:
    """The process that was started from here and runs this program."""
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            parent = re.search(r"^PPid:\t(\d+)", (entry / "status").read_text(), re.M)
            if parent and int(parent[1]) == os.getpid() and str(program).encode() in (entry / "cmdline").read_bytes():
                return int(entry.name)
        except OSError:
            continue
    raise AssertionError(f"{program} does not run")


@pytest.mark.parametrize("name", REAL)
async def test_it_is_listed_and_called(name: str, place: str) -> None:  # T4
    began = time.monotonic()
    async with connected(started(name, place)) as (host, received):
        ready = time.monotonic() - began
        assert not received.left_out
        said = await answer(host, received, REAL[name].tool, REAL[name].arguments(place))
        assert REAL[name].says in said
        again = time.monotonic()
        for _ in range(20):
            await answer(host, received, REAL[name].tool, REAL[name].arguments(place))
        call = (time.monotonic() - again) / 20
        listed = len(received.lists[0])
        print(f"\n{name}: {received.version}, {listed} tools, ready in {ready:.2f} s, {call * 1000:.1f} ms a call")


@pytest.mark.parametrize("name", REAL)
async def test_killed_in_mid_call_it_costs_one_result(name: str, place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosting, "FIRST_PAUSE", 0.01)
    async with connected(started(name, place)) as (host, received):
        process = process_of(REAL[name].program)
        os.kill(process, signal.SIGSTOP)  # so that it cannot answer before it is killed
        asking = asyncio.create_task(answer(host, received, REAL[name].tool, REAL[name].arguments(place)))
        await asyncio.sleep(0)
        os.kill(process, signal.SIGKILL)
        with pytest.raises(ToolError, match=f"{name} could not do it"):
            await asking
        await received.until(lists=2, failures=1)
        assert "ended by signal 9" in received.failures[0]
        assert REAL[name].says in await answer(host, received, REAL[name].tool, REAL[name].arguments(place))


class Page(BaseHTTPRequestHandler):
    """A page to fetch."""

    def do_GET(self) -> None:
        found = self.path != "/robots.txt"
        self.send_response(200 if found else 404)
        self.send_header("content-type", "text/html")
        self.end_headers()
        self.wfile.write(b"<h1>Opening hours</h1><p>From nine to five.</p>" if found else b"")

    def log_message(self, format: str, *args: Any) -> None: ...


@pytest.fixture
def hours() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), Page) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/hours"
        server.shutdown()


async def test_fetch_is_listed_and_called(hours: str, tmp_path: Path) -> None:
    program, args = str(PYTHON / "mcp-server-fetch"), ("--allow-private-ips",)
    server = RemoteServer(1, "fetch", "stdio", command=program, args=args, cwd=str(tmp_path))
    async with connected(server) as (host, received):
        assert "From nine to five." in await answer(host, received, "fetch", {"url": hours})


@pytest.fixture
def everything(tmp_path: Path) -> Iterator[RemoteServer]:
    """The server that shows every part of the protocol, over HTTP."""
    with HTTPServer(("127.0.0.1", 0), Page) as free:
        port = free.server_port
    command = [str(NODE / "mcp-server-everything"), "streamableHttp"]
    env = os.environ | {"PORT": str(port)}
    with running(command, env=env, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        assert process.stderr is not None
        while b"listening" not in (line := process.stderr.readline()):
            assert line, "it did not start"
        threading.Thread(target=process.stderr.read, daemon=True).start()
        yield RemoteServer(1, "everything", "http", url=f"http://127.0.0.1:{port}/mcp", cwd=str(tmp_path))


async def test_everything_over_http(everything: RemoteServer) -> None:
    began = time.monotonic()
    async with connected(everything) as (host, received):
        ready = time.monotonic() - began
        assert "5" in await answer(host, received, "get-sum", {"a": 2, "b": 3})
        again = time.monotonic()
        for _ in range(20):
            await answer(host, received, "get-sum", {"a": 2, "b": 3})
        print(f"\neverything over HTTP: ready in {ready:.2f} s, {(time.monotonic() - again) * 50:.1f} ms a call")


@pytest.mark.parametrize("over", ["stdio", "http"])
async def test_every_kind_of_content(over: str, place: str, request: pytest.FixtureRequest) -> None:
    server = started("everything", place) if over == "stdio" else request.getfixturevalue("everything")
    async with connected(server) as (host, received):
        image = await answer(host, received, "get-tiny-image", {})
        assert "[image: image/png" in image and "kept in the chat's files as mcp/everything/" in image
        resource = await answer(host, received, "get-resource-reference", {"resourceType": "Text", "resourceId": 1})
        assert "[resource demo://resource/" in resource
        links = await answer(host, received, "get-resource-links", {"count": 2})
        assert links.count("[resource link, not opened: ") == 2
        weather = await answer(host, received, "get-structured-content", {"location": "Chicago"})
        assert "temperature" in weather and "[structured]" not in weather


@pytest.mark.parametrize("over", ["stdio", "http"])
async def test_progress_and_a_stop(over: str, place: str, request: pytest.FixtureRequest) -> None:  # C5
    server = started("everything", place) if over == "stdio" else request.getfixturevalue("everything")
    async with connected(server) as (host, received):
        told: asyncio.Queue[Any] = asyncio.Queue()
        tool = received.tool("trigger-long-running-operation", server)
        arguments = {"duration": 60, "steps": 240}
        running = asyncio.create_task(host.call(tool, arguments, lambda *step: told.put_nowait(step)))
        async with asyncio.timeout(10):
            first, second = await told.get(), await told.get()
        assert (first[:2], second[:2]) == ((1, 240), (2, 240))
        began = time.monotonic()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert time.monotonic() - began < 1
        assert "5" in await answer(host, received, "get-sum", {"a": 2, "b": 3})
