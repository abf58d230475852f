"""Starts every kind of work on a site, and measures how soon Stop and SIGTERM end it.

python -m tests.nightly.ends --times 3
"""

from __future__ import annotations

import argparse
import asyncio
import fcntl
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx

from tests.hostile_server import evil_server
from tests.nightly.poison import post
from tests.obedient_server import NAME, obedient_server, order
from tests.serving import Page, Site, new_chat, page, serving, sign_in

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
    "a tool of a deaf MCP server": Work(order("tool_search", query="deaf hang never answers"), then=order("deaf__hang")),
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
            "TOOLSUPPORT_STARTUP_REFRESH": "1",
            "TOOLSUPPORT_EVIL": str(evil.port),
        }
        with serving(directory, **chosen | environment) as site, closing(sign_in(site)) as client:
            equip(site, client, stock)
            yield site, client


def equip(site: Site, client: httpx.Client, stock: Path) -> None:
    """Switch on every tool, and approve those of the MCP server as read-only."""
    for tool in ("bash", "python_execution"):
        post(client, "/tools/switch/", tool=tool, on="on")
    post(client, "/tools/sources/add/", name="stock", kind="sqlite", location=str(stock), groups=["user", "admin"])
    ((server,),) = site.rows("SELECT id FROM toolsupport_mcpserver")
    post(client, f"/tools/mcp/{server}/test/")
    for id_, digest in site.rows("SELECT id, waiting_digest FROM toolsupport_mcptool"):
        post(client, f"/tools/mcp/tools/{id_}/approve/", digest=digest, read_only="1")
    while not {NAME, "evil-long"} <= set(client.get("/models/").text.replace("<", " ").replace(">", " ").split()):
        pass


@contextmanager
def locked(directory: Path) -> Iterator[None]:
    """Hold the lock on writing in a workspace, as another process of the site does."""
    directory.mkdir(parents=True, exist_ok=True)
    handle = os.open(directory, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


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
    for task in Path(f"/proc/{process}/task").iterdir():
        with suppress_gone():
            for child in map(int, (task / "children").read_text().split()):
                found |= {child} | children(child)
    return found


@contextmanager
def suppress_gone() -> Iterator[None]:
    try:
        yield
    except (FileNotFoundError, ProcessLookupError):
        pass
