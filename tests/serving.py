"""A real `manage.py serve` as a process of its own, with pages opened over real sockets."""

from __future__ import annotations

import asyncio
import fcntl
import hashlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import AsyncIterator, Container, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import aiohttp
import django
import httpx

from chat.tools.sandbox.self_test_cache import STILL
from tests import databases
from tests.fork_server import ForkedProcess, run_command, run_forked

ROOT = databases.ROOT
ADMIN = ("ana", "a passphrase for tests")
PATIENCE = 60.0  # no promise of the product: how long a test that fails is waited for


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@dataclass
class Site:
    """A site on a data directory and port of its own; `environment` adds to or overrides the defaults."""

    directory: Path
    environment: dict[str, str] = field(default_factory=dict)
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[str] | ForkedProcess | None = None
    forked: bool = False
    options: tuple[str, ...] = ()  # of `serve`

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def environ(self) -> dict[str, str]:
        chosen = {
            "TOOLSUPPORT_DATA_DIR": str(self.directory),
            "TOOLSUPPORT_ADMIN": ":".join(ADMIN),
            "TOOLSUPPORT_SIMULATOR": "on",
            "OLLAMA_HOST": "",
        }
        return {**os.environ, **chosen, **self.environment}

    def manage(self, *words: str) -> str:
        """Run a management command on this site; gives what it printed. Raises CalledProcessError."""
        ran = run_forked(words, self.environ()) if self.forked else run_command(words, self.environ())
        ran.check_returncode()
        return ran.stdout

    def start(self) -> None:
        """Serve; returns when the site says that it is ready. Raises RuntimeError with what it said instead."""
        words = ("serve", "--port", str(self.port), *self.options)
        self.log = (self.directory / "serve.log").open("a+")
        if self.forked:
            self.process = ForkedProcess(words, self.environ(), self.log)
        else:
            command = [sys.executable, "manage.py", *words]
            self.process = subprocess.Popen(
                command, cwd=ROOT, env=self.environ(), stdout=subprocess.PIPE, stderr=self.log, text=True
            )
        assert self.process.stdout
        for line in self.process.stdout:
            if "is ready at" in line:
                return
        raise RuntimeError(f"the site did not start: {(self.directory / 'serve.log').read_text()[-2000:]}")

    def alive(self) -> Site:
        """This site, started again where a test ended it and then failed."""
        if self.process is None or self.process.poll() is not None:
            self.kill()
            self.start()
        return self

    def rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """Read the site's database beside it; `?` stands for a value."""
        own = f"sqlite:///{self.directory / 'toolsupport.sqlite3'}"
        return databases.rows(self.environment.get("DATABASE_URL", own), query, *values)

    def kill(self, number: int = signal.SIGKILL) -> None:
        """Send a signal and wait for the end."""
        if self.process is not None:
            self.process.send_signal(number)
            self.process.wait(PATIENCE)
            assert self.process.stdout
            self.process.stdout.close()
            self.log.close()
            self.process = None


@cache
def static_files() -> Path:
    """A directory with the compressed static files: made once, then kept for later runs as well."""
    states = [(str(path), path.stat().st_mtime_ns) for path in sorted((ROOT / "static").rglob("*"))]
    folder = databases.MADE.parent / "static"
    made = folder / hashlib.sha256(repr((states, django.__version__)).encode()).hexdigest()[:20]
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # the processes of a run all want them at once
        if not made.exists():
            for outdated in (path for path in folder.iterdir() if path.is_dir()):
                shutil.rmtree(outdated)
            making = folder / "making"
            making.mkdir()
            Site(making).manage("collectstatic", "--no-input", "--verbosity", "0")
            making.rename(made)
    return made / "static"


def prepare(site: Site) -> None:
    """Give a site its tables and static files; a second process of a site finds them there."""
    if not (site.directory / "static").exists():
        shutil.copytree(static_files(), site.directory / "static")
    kind, _, name = site.environment.get("DATABASE_URL", "").partition(":///")
    if kind not in ("", "sqlite"):
        if site.rows("SELECT to_regclass('django_migrations')") == [(None,)]:
            site.manage("migrate", "--verbosity", "0")
        return
    file = Path(name) if name else site.directory / "toolsupport.sqlite3"
    if not file.exists():
        file.write_bytes(databases.migrated_file())


@contextmanager
def serving(directory: Path, *options: str, **environment: str) -> Iterator[Site]:
    """A migrated, running site on the kind of database the tests run on; ended however the test ended."""
    with databases.for_site(environment) as database:
        site = Site(directory, {**database, **environment}, forked=sys.platform == "linux", options=options)
        prepare(site)
        site.start()
        try:
            yield site
        finally:
            site.kill(signal.SIGTERM if site.process and site.process.poll() is None else signal.SIGKILL)


def sign_in(site: Site, name: str = ADMIN[0], password: str = ADMIN[1]) -> httpx.Client:
    """A signed-in browser without a screen."""
    client = httpx.Client(base_url=site.url, follow_redirects=True, timeout=PATIENCE, trust_env=False)
    client.get("/login/")
    token = client.cookies["csrftoken"]
    answer = client.post("/login/", data={"username": name, "password": password, "csrfmiddlewaretoken": token})
    assert "sessionid" in client.cookies, answer.text[:500]
    return client


def until_tools_are_tested(client: httpx.Client) -> None:
    """Wait until the site knows which tools this machine can run: until then it offers none of the others."""
    ends = time.monotonic() + PATIENCE
    while STILL in client.get("/tools/").text:
        assert time.monotonic() < ends, "the self-test of a tool does not end"


def switch_tool(client: httpx.Client, tool: str, state: str) -> None:
    """Switch a tool "on" or "off"; that is refused until it is known whether this machine can run it."""
    until_tools_are_tested(client)
    headers = {"X-CSRFToken": client.cookies["csrftoken"]}
    assert client.post("/tools/switch/", data={"tool": tool, "on": state}, headers=headers).status_code == 200


@contextmanager
def switched_on(site: Site, *tools: str) -> Iterator[Site]:
    """A site on which these tools, off at first, are on meanwhile."""
    with closing(sign_in(site)) as admin:
        for tool in tools:
            switch_tool(admin, tool, "on")
        yield site
        for tool in tools:
            switch_tool(admin, tool, "off")


def new_chat(client: httpx.Client) -> str:
    """The id of a conversation made now."""
    answer = client.post("/chat/new/", headers={"X-CSRFToken": client.cookies["csrftoken"]})
    return str(answer.url).rstrip("/").rsplit("/", 1)[-1]


def approve_tools(site: Site, admin: httpx.Client, unasked: Container[str] = ()) -> None:
    """Approve all that the MCP servers of a site offer, some of it to run `unasked`."""
    headers = {"X-CSRFToken": admin.cookies["csrftoken"]}
    for (server,) in site.rows("SELECT id FROM toolsupport_mcpserver"):
        admin.post(f"/tools/mcp/{server}/test/", headers=headers)
    for id_, name, digest in site.rows("SELECT id, name, waiting_digest FROM toolsupport_mcptool"):
        marked = {"read_only": "1"} if name in unasked else {}
        answer = admin.post(f"/tools/mcp/tools/{id_}/approve/", data={"digest": digest, **marked}, headers=headers)
        assert answer.status_code == 200


class Page:
    """One open socket, with every frame it got."""

    def __init__(self, ws: aiohttp.ClientWebSocketResponse) -> None:
        self.ws = ws
        self.got: list[dict[str, Any]] = []

    async def send(self, kind: str, **fields: Any) -> str:
        """Send a frame; gives the client_id that was made for it."""
        client_id = fields.setdefault("client_id", uuid.uuid4().hex)
        await self.ws.send_str(json.dumps({"type": kind, **fields}))
        return str(client_id)

    async def until(self, kind: str, **wanted: Any) -> dict[str, Any]:
        """The next frame of this type with these values; what came before is in `got` too."""
        while True:
            frame = await self.next()
            if frame["type"] == kind and all(frame.get(key) == value for key, value in wanted.items()):
                return frame

    async def next(self) -> dict[str, Any]:
        """The next frame. Raises ConnectionError where there will be none."""
        message = await asyncio.wait_for(self.ws.receive(), PATIENCE)
        if message.type != aiohttp.WSMsgType.TEXT:
            raise ConnectionError(f"the socket ended: {message}")
        frame: dict[str, Any] = json.loads(message.data)
        self.got.append(frame)
        return frame

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [frame for frame in self.got if frame["type"] == kind]

    def text(self, message: int, kind: str = "text") -> str:
        """The text, or the `thinking`, of a message, put together as the page's script does it."""
        units = b""
        for frame in self.got:
            if frame["type"] == f"{kind}.delta" and frame["message"] == message:
                assert len(units) == frame["offset"] * 2, "a delta does not follow the one before"
                units += frame["text"].encode("utf-16-le")
            if frame["type"] == "resync" and frame["message"] == message:
                units = frame[kind].encode("utf-16-le")
        return units.decode("utf-16-le")


@asynccontextmanager
async def page(site: Site, client: httpx.Client, conversation: str) -> AsyncIterator[Page]:
    """A page of a conversation, open."""
    cookies = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
    headers = {"Origin": site.url, "Cookie": cookies}
    address = f"{site.url}/ws/chat/{conversation}/"
    async with aiohttp.ClientSession() as session, session.ws_connect(address, headers=headers) as ws:
        yield Page(ws)
