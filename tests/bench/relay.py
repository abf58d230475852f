"""The least that a relay can do: reads a model server's lines and sends each token in a frame of its own.

It has no rows, no rights and no people: `python -m tests.bench.relay --port N --upstream N`. What toolsupport costs is
measured in multiples of it. Each page has a connection to the model server, which stays open.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import hashlib
import struct
from typing import Any

import orjson

MAGIC = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
ACCEPTED = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: "
ASKED = b"POST /api/chat HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
ENDED = '{"type":"turn.ended"}'


def frame(body: bytes) -> bytes:
    """One text frame of a server."""
    size = len(body)
    return (struct.pack("!BB", 0x81, size) if size < 126 else struct.pack("!BBH", 0x81, 126, size)) + body


class Upstream(asyncio.Protocol):
    """The connection to the model server: lines of JSON in chunks, each token passed on at once."""

    transport: asyncio.Transport

    def __init__(self, page: Page) -> None:
        self.page, self.rest = page, b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        *lines, self.rest = (self.rest + data).split(b"\n")
        for line in lines:
            if line.startswith(b"{"):
                self.pass_on(orjson.loads(line))

    def pass_on(self, line: dict[str, Any]) -> None:
        token = {"type": "text.delta", "text": line["message"]["content"]}
        body = ENDED.encode() if line["done"] else orjson.dumps(token)
        self.page.transport.write(frame(body))


class Page(asyncio.Protocol):
    """A page's websocket: each frame of it is a question, with the name of a model."""

    transport: asyncio.Transport

    def __init__(self, port: int) -> None:
        self.port, self.upstream, self.opened = port, None, False
        self.waiting: asyncio.Task[None] | None = None

    upstream: Upstream | None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        if self.upstream is not None:
            self.upstream.transport.close()

    def data_received(self, data: bytes) -> None:
        if self.opened:
            mask, masked = data[2:6], data[6:]
            text = bytes(byte ^ mask[index & 3] for index, byte in enumerate(masked))
            self.waiting = asyncio.get_running_loop().create_task(self.ask(orjson.loads(text)["model"]))
            return
        self.opened = True
        key = next(line[19:] for line in data.split(b"\r\n") if line.startswith(b"Sec-WebSocket-Key: "))
        accepted = base64.b64encode(hashlib.sha1(key + MAGIC, usedforsecurity=False).digest())
        self.transport.write(ACCEPTED + accepted + b"\r\n\r\n" + frame(b'{"type":"hello"}'))

    async def ask(self, model: str) -> None:
        if self.upstream is None:
            loop = asyncio.get_running_loop()
            _, self.upstream = await loop.create_connection(lambda: Upstream(self), "127.0.0.1", self.port)
        body = orjson.dumps({"model": model, "messages": [{"role": "user", "content": "hello"}], "stream": True})
        self.upstream.transport.write(ASKED % len(body) + body)


async def main(port: int, upstream: int) -> None:
    server = await asyncio.get_running_loop().create_server(lambda: Page(upstream), "127.0.0.1", port, backlog=4096)
    await server.serve_forever()


if __name__ == "__main__":
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--port", type=int, required=True)
    given.add_argument("--upstream", type=int, required=True)
    asked = given.parse_args()
    asyncio.run(main(asked.port, asked.upstream))
