"""A proxy in front of a server that can stop forwarding, as a network does that drops every packet."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

PIECE = 65_536


@dataclass
class SilentProxy:
    """Forwards to a port of this machine while `forwarding`; accepts connections also while it does not."""

    target: int
    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.new_event_loop)
    forwarding: asyncio.Event = field(default_factory=asyncio.Event)
    port: int = 0
    late: float = 0  # seconds after the first connection until it forwards

    def go_silent(self) -> None:
        self.loop.call_soon_threadsafe(self.forwarding.clear)

    def forward(self) -> None:
        self.loop.call_soon_threadsafe(self.forwarding.set)

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            if self.late:
                self.loop.call_later(self.late, self.forwarding.set)
                self.late = 0
            await self.forwarding.wait()
            behind, to_behind = await asyncio.open_connection("127.0.0.1", self.target)
            try:
                await asyncio.gather(self.pump(reader, to_behind), self.pump(behind, writer))
            finally:
                to_behind.close()
        except (OSError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def end(self, server: asyncio.Server) -> None:
        """Close everything that is open."""
        server.close()
        for task in (mine := asyncio.all_tasks() - {asyncio.current_task()}):
            task.cancel()
        await asyncio.gather(*mine, return_exceptions=True)
        await asyncio.sleep(0)  # what was closed just now ends in the next round

    async def pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(PIECE):
                await self.forwarding.wait()
                writer.write(data)
                await writer.drain()
        writer.close()


@contextmanager
def silent_proxy(target: int, late: float = 0) -> Iterator[SilentProxy]:
    """A running proxy; ended with its connections."""
    proxy = SilentProxy(target, late=late)
    if not late:
        proxy.forwarding.set()

    async def listen() -> asyncio.Server:
        return await asyncio.start_server(proxy.accept, "127.0.0.1", 0)

    thread = threading.Thread(target=proxy.loop.run_forever, daemon=True)
    thread.start()
    server = asyncio.run_coroutine_threadsafe(listen(), proxy.loop).result(5)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        asyncio.run_coroutine_threadsafe(proxy.end(server), proxy.loop).result(5)
        proxy.loop.call_soon_threadsafe(proxy.loop.stop)
        thread.join(5)
        proxy.loop.close()
