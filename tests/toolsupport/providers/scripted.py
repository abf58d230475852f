"""A real HTTP server on loopback that follows the script of a test."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import orjson

from toolsupport import providers
from toolsupport.core.types import Endpoint, Limits

Step = bytes | Callable[["Scripted"], Awaitable[None]]
CLOSE: Sequence[Step] = ()


@dataclass
class Scripted:
    """`answers` are used up one per request, the last one for all that follow; an answer is a list of steps.

    `ps` is what GET /api/ps gets. A step is bytes to send, or something to wait for. `open` counts connections,
    `requests` holds (head, body).
    """

    answers: list[Sequence[Step]]
    requests: list[tuple[str, bytes]] = field(default_factory=list)
    open: int = 0
    most_open: int = 0
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)
    port: int = 0
    ps: Sequence[Step] = (b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",)

    def endpoint(self, limits: Limits | None = None, kind: str = "ollama") -> Endpoint:
        return Endpoint(kind, f"http://127.0.0.1:{self.port}", limits=limits or Limits())

    @property
    def bodies(self) -> list[dict]:
        return [orjson.loads(body) for _, body in self.requests]

    async def count(self, by: int) -> None:
        async with self.changed:
            self.open += by
            self.most_open = max(self.open, self.most_open)
            self.changed.notify_all()

    async def until_open(self, number: int) -> None:
        async with self.changed:
            await self.changed.wait_for(lambda: self.open == number)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self.count(+1)
        try:
            while await self.one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()
            await self.count(-1)

    async def one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; False where the connection is to be closed."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        if head.startswith("GET /api/ps "):
            # Which models are loaded is asked beside a request, at any time: it uses up no answer.
            writer.writelines(step for step in self.ps if isinstance(step, bytes))
            await writer.drain()
            return not any(b"connection: close" in step for step in self.ps if isinstance(step, bytes))
        length = next((line[15:] for line in head.lower().split("\r\n") if line.startswith("content-length:")), "0")
        self.requests.append((head, await reader.readexactly(int(length))))
        steps = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        for step in steps:
            if isinstance(step, bytes):
                writer.write(step)
                await writer.drain()
            elif step is HANG:
                await reader.read()
            else:
                await step(self)
        return bool(steps) and steps[-1] == LAST_CHUNK


async def HANG(_: Scripted) -> None:
    """Say nothing until the client leaves."""
    raise AssertionError("never called: the server waits for the client itself")


HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/x-ndjson\r\ntransfer-encoding: chunked\r\n\r\n"
LAST_CHUNK = b"0\r\n\r\n"


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


def said(text: str) -> bytes:
    line = orjson.dumps({"message": {"role": "assistant", "content": text}, "done": False}) + b"\n"
    return chunk(line)


DONE = chunk(b'{"message":{"role":"assistant","content":""},"done":true,"done_reason":"stop"}\n')
FINE: Sequence[Step] = (HEAD, said("Hi"), DONE, LAST_CHUNK)


def answer(status: int, body: bytes = b"", headers: str = "") -> Sequence[Step]:
    head = f"HTTP/1.1 {status} Because\r\ncontent-length: {len(body)}\r\nconnection: close\r\n{headers}\r\n"
    return (head.encode() + body,)


def told(value: object) -> Sequence[Step]:
    """A whole JSON answer."""
    return answer(200, orjson.dumps(value))


@asynccontextmanager
async def scripted(*answers: Sequence[Step]) -> AsyncIterator[Scripted]:
    """The server runs and our client is closed before it, so that nothing is left open."""
    script = Scripted(list(answers))
    server = await asyncio.start_server(script.serve, "127.0.0.1", 0)
    script.port = server.sockets[0].getsockname()[1]
    try:
        yield script
    finally:
        await providers.close()
        server.close()
        await asyncio.wait_for(script.until_open(0), 5)
        await server.wait_closed()
