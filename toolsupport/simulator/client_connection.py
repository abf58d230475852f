"""Writes to one connected client, which may disconnect at any moment."""

from __future__ import annotations

import asyncio

from toolsupport.simulator import http11


class ClientDisconnected(ConnectionError):
    """The client has disconnected."""


class DisconnectReader(asyncio.StreamReader):
    """A reader that reports a disconnect at once, even while nothing reads."""

    def __init__(self) -> None:
        super().__init__(limit=http11.HEAD_LIMIT)
        self.left = asyncio.Event()

    def feed_eof(self) -> None:
        self.left.set()
        super().feed_eof()

    def set_exception(self, exc: Exception) -> None:
        self.left.set()
        super().set_exception(exc)


class Client:
    """Sends bytes to a client; its pauses end when the client disconnects."""

    def __init__(self, reader: DisconnectReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self.http = http11.connection()

    def check(self) -> None:
        """Raise ClientDisconnected if the client has disconnected."""
        if self.reader.left.is_set() or self.writer.is_closing():
            raise ClientDisconnected

    async def send(self, data: bytes) -> None:
        self.check()
        self.writer.write(data)
        await self.writer.drain()

    async def pause(self, seconds: float) -> None:
        """Wait; raises ClientDisconnected as soon as the client disconnects."""
        if seconds <= 0:
            await asyncio.sleep(0)
        else:
            await self._listen(seconds)
        self.check()

    async def _listen(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self.reader.left.wait()
        except TimeoutError:
            return
