"""Starts every kind of work on a site, and measures how soon Stop and SIGTERM end it.

python -m tests.nightly.ends --times 3
"""

from __future__ import annotations

import argparse
import asyncio
import fcntl
import gc
import json
import signal
import socket
import sqlite3
import sys
import time
import warnings
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx

from chat.tools.files.workspace import lock_file
from tests.hostile_server import evil_server
from tests.nightly.poison import post
from tests.obedient_server import NAME, obedient_server, order
from tests.serving import Page, Site, new_chat, page, serving, sign_in, switch_tool

DRAIN = 1.0  # seconds
ENDLESS_SQL = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"
ENDLESS_COMMAND = "trap '' TERM INT HUP; while true; do sleep 4547; done"
DEAF = str(Path(__file__).with_name("deaf_mcp_server.py"))


@dataclass(frozen=True)
class Work:
    """One kind of work: what the person asks for, and what has to happen before it runs."""

    ask: str
    model: str = NAME
    allowed: bool = False
    locks: bool = False  # another process holds the lock of the workspace
    then: str = ""  # what the person asks for next


KINDS: dict[str, Work] = {
    "a model that is silent": Work("Hello?", "evil-hang-before"),
    "a model that stops in its answer": Work("Hello?", "evil-hang-between"),
    "a model without end": Work("Hello?", "evil-long"),
    "a command": Work(order("bash", command=ENDLESS_COMMAND), allowed=True),
    "a program": Work(order("python_execution", code="while True:\n    pass"), allowed=True),
    "a database query": Work(order("execute_sql", source="stock", query=ENDLESS_SQL)),
    "a tool of a deaf MCP server": Work(
        order("tool_search", query="deaf hang never answers"), then=order("deaf__hang")
    ),
    "a file behind a lock": Work(order("write_file", path="a.txt", content="x"), allowed=True, locks=True),
}


@contextmanager
def prepared(directory: Path, **environment: str) -> Iterator[tuple[Site, httpx.Client]]:
    """A site with an obedient and an evil model server, an MCP server that ignores signals, and every tool on."""
    servers, stock = directory / "servers.json", directory / "stock.sqlite3"
    servers.write_text(json.dumps({"mcpServers": {"deaf": {"command": sys.executable, "args": [DEAF]}}}))
    with closing(sqlite3.connect(stock)) as connection, connection:
        connection.execute("CREATE TABLE part (name TEXT)")
    with obedient_server() as address, evil_server() as evil:
        chosen = {
            "OLLAMA_HOST": address,
            "TOOLSUPPORT_SERVERS": f"evil=ollama+{evil.url}",
            "TOOLSUPPORT_MCP_STDIO": str(servers),
            "TOOLSUPPORT_DRAIN_SECONDS": f"{DRAIN:g}",
            "TOOLSUPPORT_TURNS_PER_PERSON": "20",
            "TOOLSUPPORT_SIMULATOR": "off",
        }
        with serving(directory, **chosen | environment) as site, closing(sign_in(site)) as client:
            equip(site, client, stock)
            yield site, client
    # A site that ends at its deadline leaves connections half open; whose sockets these are does not matter here.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


def equip(site: Site, client: httpx.Client, stock: Path) -> None:
    """Switch on every tool, and approve those of the MCP server as read-only."""
    for tool in ("bash", "python_execution"):
        switch_tool(client, tool, "on")
    post(client, "/tools/sources/add/", name="stock", kind="sqlite", location=str(stock), groups=["user", "admin"])
    ((server,),) = site.rows("SELECT id FROM toolsupport_mcpserver")
    post(client, f"/tools/mcp/{server}/test/")
    for id_, digest in site.rows("SELECT id, waiting_digest FROM toolsupport_mcptool"):
        post(client, f"/tools/mcp/tools/{id_}/approve/", digest=digest, read_only="1")
    while {NAME, "evil-long"} - {name for (name,) in site.rows("SELECT name FROM toolsupport_modelprofile")}:
        pass


@contextmanager
def locked(directory: Path) -> Iterator[None]:
    """Hold the lock on writing in a workspace, as another process of the site does."""
    directory.mkdir(parents=True, exist_ok=True)
    with lock_file(directory).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@asynccontextmanager
async def running(site: Site, client: httpx.Client, work: Work) -> AsyncIterator[Page]:
    """A page on which this work runs."""
    conversation = await asyncio.to_thread(new_chat, client)
    async with AsyncExitStack() as held:
        if work.locks:
            held.enter_context(locked(site.directory / "workspaces" / conversation))
        open_page = await held.enter_async_context(page(site, client, conversation))
        hello = await open_page.until("hello")
        if (hello["model"] or {}).get("name") != work.model:
            await open_page.send("model.select", model=work.model)
            await open_page.until("notice", code="switched")
        await open_page.send("message.send", text=work.ask)
        if work.then:
            await open_page.until("turn.ended")
            await open_page.send("message.send", text=work.then)
        if work.allowed:
            question = await open_page.until("question.asked")
            await open_page.until("turn.waiting")
            await open_page.send("question.answer", question=question["question"], answer="once")
        if work.model == NAME:
            await open_page.until("call.started")
        elif "before" not in work.model:
            await open_page.until("text.delta")
        else:
            await open_page.until("turn.started")
        yield open_page


def children(process: int) -> set[int]:
    """All processes below a process."""
    found = set[int]()
    with suppress(FileNotFoundError, ProcessLookupError):
        for task in Path(f"/proc/{process}/task").iterdir():
            for child in map(int, (task / "children").read_text().split()):
                found |= {child} | children(child)
    return found


async def busy(site: Site, client: httpx.Client, idle: set[int]) -> bool:
    """Whether a thread or a process still works for a tool: `idle` are the processes that were there before."""
    assert site.process
    metrics = (await asyncio.to_thread(client.get, "/metrics")).text
    threads = float(metrics.partition("\ntoolsupport_work_threads ")[2].partition("\n")[0])
    new = children(site.process.pid) - idle
    return bool(threads or [child for child in new if not is_worker(child)])


def is_worker(process: int) -> bool:
    """Whether a process is one of the pool for costly work, which starts them as needed and keeps them."""
    return runs(process, "work_pool")


def runs(process: int, words: str) -> bool:
    """Whether these words are in the command line of a process."""
    try:
        return words in Path(f"/proc/{process}/cmdline").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


async def stop_each(site: Site, client: httpx.Client) -> dict[str, float]:
    """Start and stop each kind; gives the seconds until nothing of it worked any more and the page had the end."""
    assert site.process
    found = {}
    for kind, work in KINDS.items():
        idle = children(site.process.pid)
        async with running(site, client, work) as open_page:
            began = time.monotonic()
            await open_page.send("turn.stop")
            assert (await open_page.until("turn.ended"))["reason"] == "stopped"
            while await busy(site, client, idle):
                assert time.monotonic() < began + 30, f"{kind} goes on"
            found[kind] = time.monotonic() - began
    return found


@dataclass(frozen=True)
class End:
    """How a site ended after SIGTERM, and which of its processes it left."""

    code: int
    seconds: float
    left: list[int]


async def terminate(site: Site, client: httpx.Client, kinds: Iterable[str], locked: bool = False) -> End:
    """Start work of these kinds and a request whose answer is not read, lock the database, and send SIGTERM."""
    assert site.process
    async with AsyncExitStack() as held:
        for kind in kinds:
            await held.enter_async_context(running(site, client, KINDS[kind]))
        held.enter_context(closing(unread(site)))
        held.enter_context(closing(queried(site)))
        while not any(runs(child, "toolsupport.sources.worker") for child in children(site.process.pid)):
            await asyncio.sleep(0.05)
        below = children(site.process.pid)
        if locked:
            other = held.enter_context(closing(sqlite3.connect(database_of(site), isolation_level=None)))
            other.execute("BEGIN IMMEDIATE")
        began = time.monotonic()
        site.process.send_signal(signal.SIGTERM)
        code = await asyncio.to_thread(site.process.wait, 60)
        seconds = time.monotonic() - began
    return End(code, seconds, [child for child in below if lives(child)])


def lives(process: int) -> bool:
    """Whether a process runs: one that was killed stays listed until it is collected."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def database_of(site: Site) -> Path:
    return site.directory / "toolsupport.sqlite3"


def unread(site: Site) -> socket.socket:
    """A program's request for an answer without end, of which nothing is ever read."""
    asked = {"model": "evil/evil-endless-text", "messages": [{"role": "user", "content": "?"}], "stream": True}
    return requested(site, "/v1/chat/completions", asked)


def queried(site: Site) -> socket.socket:
    """A program's endless query outside any chat."""
    call = {"model": f"Ollama/{NAME}", "name": "execute_sql", "arguments": {"source": "stock", "query": ENDLESS_SQL}}
    return requested(site, "/api/tools/execute", call)


def requested(site: Site, path: str, asked: Mapping[str, object]) -> socket.socket:
    """A request of a program, whose answer is not read."""
    key, body = site.manage("create_api_key", "ana").split()[-1], json.dumps(asked)
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {key}\r\n"
    open_socket = socket.create_connection(("127.0.0.1", site.port))
    open_socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    open_socket.sendall(f"{head}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
    return open_socket


def run(times: int) -> tuple[dict[str, float], list[End]]:
    """The longest stop of each kind, and the ends of sites on which all kinds ran beside a locked database."""
    stops: dict[str, float] = {}
    found = []
    for _ in range(times):
        with TemporaryDirectory() as directory, prepared(Path(directory)) as (site, client):
            for kind, seconds in asyncio.run(stop_each(site, client)).items():
                stops[kind] = max(stops.get(kind, 0.0), seconds)
            found.append(asyncio.run(terminate(site, client, KINDS, locked=True)))
    return stops, found


if __name__ == "__main__":
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--times", type=int, default=3)
    longest, ended = run(given.parse_args().times)
    for kind, seconds in longest.items():
        print(f"| {kind} | {seconds * 1000:.0f} ms |")
    for end in ended:
        print(f"SIGTERM: code {end.code}, {end.seconds - DRAIN:.1f} s after the drain time, {len(end.left)} left")
