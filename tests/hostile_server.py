"""A faulty or hostile model server with Ollama's protocol; the name of a model chooses the fault."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import count
from pathlib import Path
from typing import Any
from weakref import WeakSet

import httpx

from tests.bench.upstream import DETAILS, FIXED, chunk, line
from tests.serving import PATIENCE, Page, Site, serving

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n"
LIST_FILES = {"function": {"name": "list_directory", "arguments": {}}}
Writer = asyncio.StreamWriter
Behaviour = Callable[["Evil", Writer], Awaitable[None]]


async def send(writer: Writer, *pieces: bytes) -> None:
    for piece in pieces:
        writer.write(piece)
        await writer.drain()


async def hang_before(evil: Evil, writer: Writer) -> None:
    await asyncio.Event().wait()


async def hang_between(evil: Evil, writer: Writer) -> None:
    await send(writer, HEAD, said("Well,"))
    await asyncio.Event().wait()


async def endless_line(evil: Evil, writer: Writer) -> None:
    await send(writer, HEAD, chunk(b'{"message":{"content":"'))
    while True:
        await send(writer, chunk(b"A" * 65536))


async def garbage(evil: Evil, writer: Writer) -> None:
    await send(writer, HEAD, chunk(bytes(range(256)) * 4 + b"\n"), b"0\r\n\r\n")


async def not_http(evil: Evil, writer: Writer) -> None:
    await send(writer, b"SSH-2.0-OpenSSH_9.2\r\n\r\n")


async def page(evil: Evil, writer: Writer) -> None:
    body = b"<!doctype html><script>alert(1)</script><p>Please sign in to the network"
    await send(writer, b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(body), body)


async def endless_text(evil: Evil, writer: Writer) -> None:
    await send(writer, HEAD)
    while True:
        await send(writer, said("All work and no play. " * 40) * 20)


async def endless_thinking(evil: Evil, writer: Writer) -> None:
    await send(writer, HEAD)
    while True:
        await send(writer, said("", thinking="Hmm, let me see. " * 40) * 20)


async def endless_calls(evil: Evil, writer: Writer) -> None:
    evil.asked += 1
    call = {"function": {"name": "list_directory", "arguments": {"path": f"d{evil.asked}"}}}
    await send(writer, HEAD, said("", tool_calls=[call]), done(), b"0\r\n\r\n")


async def many_calls(evil: Evil, writer: Writer) -> None:
    await send(writer, HEAD, said("", tool_calls=[LIST_FILES] * 5000), done(), b"0\r\n\r\n")


async def closes(evil: Evil, writer: Writer) -> None:
    """Each time one byte later."""
    whole = HEAD + said("Hello, wörld") + said("", tool_calls=[LIST_FILES])
    evil.asked += 1
    await send(writer, whole[: evil.asked * evil.step % len(whole)])


async def long(evil: Evil, writer: Writer) -> None:
    """Counts, so that every beginning of what it says is known."""
    await send(writer, HEAD)
    for number in count():
        await send(writer, said(f"{number} "))
        await asyncio.sleep(0.02)


async def markup(evil: Evil, writer: Writer) -> None:
    await send(writer, HEAD, said(evil.text), done(), b"0\r\n\r\n")


async def poisoned(evil: Evil, writer: Writer) -> None:
    """Reads a file first, then says what the test wants it to say."""
    read = {"function": {"name": "read_file", "arguments": {"path": evil.file}}}
    begins = evil.body.get("tools") and evil.body["messages"][-1]["role"] == "user"
    answer = said("", tool_calls=[read]) if begins else said(evil.text)
    await send(writer, HEAD, answer, done(), b"0\r\n\r\n")


BEHAVIOURS: dict[str, Behaviour] = {
    f"evil-{behaviour.__name__.replace('_', '-')}": behaviour
    for behaviour in (
        hang_before,
        hang_between,
        endless_line,
        garbage,
        not_http,
        page,
        endless_text,
        endless_thinking,
        endless_calls,
        many_calls,
        closes,
        long,
        markup,
        poisoned,
    )
}


def said(content: str, **more: Any) -> bytes:
    message = {"role": "assistant", "content": content, **more}
    return chunk(json.dumps({"model": "evil", "message": message, "done": False}).encode() + b"\n")


def done() -> bytes:
    return chunk(line("evil", "", done=True, done_reason="stop"))


class Evil:
    """`chats` counts the answers that are open, `changed` tells when that number changes."""

    def __init__(self) -> None:
        self.port, self.asked, self.step, self.chats = 0, 0, 1, 0
        self.text, self.file = "", ""
        self.tags = TAGS
        self.body: Any = {}  # of the last chat
        self.writers: set[Writer] = set()
        self.transports: WeakSet[asyncio.WriteTransport] = WeakSet()
        self.changed = asyncio.Condition()
        self.loop = asyncio.get_running_loop()
        self.server: asyncio.Server | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def count(self, by: int) -> None:
        async with self.changed:
            self.chats += by
            self.changed.notify_all()

    async def hang_up(self) -> None:
        """Break off every answer that is open."""
        for writer in list(self.writers):
            writer.transport.abort()

    async def until_chats(self, number: int) -> None:
        """From any loop: wait until so many answers are open."""

        async def wait() -> None:
            async with self.changed:
                await self.changed.wait_for(lambda: self.chats == number)

        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(wait(), self.loop))

    async def serve(self, reader: asyncio.StreamReader, writer: Writer) -> None:
        self.transports.add(writer.transport)
        try:
            while await self.one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def one(self, reader: asyncio.StreamReader, writer: Writer) -> bool:
        """Answer one request; a chat is the last one of its connection."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        length = next((row[15:] for row in head.lower().split("\r\n") if row.startswith("content-length:")), "0")
        body = await reader.readexactly(int(length))
        path = head.split(" ")[1]
        if path == "/api/chat":
            self.body = json.loads(body)
            await self.chat(reader, writer, self.body["model"])
            return False
        answer = json.dumps(self.tags if path == "/api/tags" else FIXED.get(path, {})).encode()
        await send(writer, b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(answer), answer)
        return True

    async def chat(self, reader: asyncio.StreamReader, writer: Writer, model: str) -> None:
        """Behave until that is over, or until the client leaves."""
        self.writers.add(writer)
        await self.count(+1)
        left = asyncio.ensure_future(reader.read())
        act = asyncio.ensure_future(BEHAVIOURS[model.removesuffix(":latest")](self, writer))
        try:
            await asyncio.wait({left, act}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (left, act):
                task.cancel()
            await asyncio.gather(left, act, return_exceptions=True)
            self.writers.discard(writer)
            await self.count(-1)


MADE = "2026-01-01T00:00:00Z"
TAGS = {
    "models": [
        {"name": name, "model": name, "modified_at": MADE, "size": 1, "digest": name, "details": DETAILS}
        for name in BEHAVIOURS
    ]
}


@contextmanager
def evil_server() -> Iterator[Evil]:
    """Runs in a thread of its own, so that tests of any kind can use it."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()

    async def begin() -> Evil:
        evil = Evil()
        server = await asyncio.start_server(evil.serve, "127.0.0.1", 0)
        evil.server, evil.port = server, server.sockets[0].getsockname()[1]
        return evil

    async def end(evil: Evil) -> None:
        assert evil.server
        evil.server.close()
        await evil.hang_up()
        rest = asyncio.all_tasks() - {asyncio.current_task()}
        for task in rest:
            task.cancel()
        await asyncio.gather(*rest, return_exceptions=True)
        # One that is only closed keeps its socket until its peer has read everything, which a stopped one never does.
        for transport in evil.transports:
            transport.abort()
        await asyncio.sleep(0)  # they leave their sockets in the next round of the loop

    try:
        evil = asyncio.run_coroutine_threadsafe(begin(), loop).result(10)
        yield evil
        asyncio.run_coroutine_threadsafe(end(evil), loop).result(10)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()


def serving_evil(directory: Path, evil: Evil, **environment: str) -> AbstractContextManager[Site]:
    """A site whose only models are those of the evil server."""
    return serving(directory, OLLAMA_HOST=evil.url, TOOLSUPPORT_SIMULATOR="off", **environment)


def until_listed(client: httpx.Client) -> None:
    """Wait until the site has asked for the models, and for what each of them declares."""
    ends = time.monotonic() + PATIENCE
    listed: list[Any] = []
    while not listed or any(one["capabilities"]["tools"]["value"] is None for one in listed):
        assert time.monotonic() < ends, "the models are not described"
        listed = client.get("/api/models").json()["models"]


async def ask(open_page: Page, model: str) -> None:
    """Choose a model and say something to it."""
    hello = await open_page.until("hello")
    if (hello["model"] or {}).get("name") != model:
        await open_page.send("model.select", model=model)
        await open_page.until("notice", code="switched")
    await open_page.send("message.send", text="Hello?")
