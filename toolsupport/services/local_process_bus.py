"""Passes messages between the processes of one site on one machine, through the process that started them.

Each process has one end of a pair of sockets, which no other program can open; the hub has the others. A message is
one byte for the operation, the lengths of the group (two bytes) and of the content (four), then both.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import struct
from collections import defaultdict
from contextlib import suppress
from typing import Any

import orjson

from toolsupport.config.environment import ONE_PROCESS

log = logging.getLogger(__name__)

ADD, DISCARD, SEND = b"+", b"-", b">"
HEAD = struct.Struct("!cHI")
# Bytes that wait for one process. Beyond them, a process that does not read loses messages; its pages detect the gap.
MOST_BEHIND = 32 * 1024 * 1024
LOCAL = "toolsupport.services.local_process_bus.LocalChannelLayer"
Link = tuple[asyncio.StreamReader, asyncio.StreamWriter]


def packed(operation: bytes, group: str, content: bytes = b"") -> bytes:
    """Return a message as it is sent."""
    name = group.encode()
    return HEAD.pack(operation, len(name), len(content)) + name + content


async def read(reader: asyncio.StreamReader) -> tuple[bytes, str, bytes]:
    """Return the operation, group and content of the next message. Raises IncompleteReadError at the end."""
    operation, group, content = HEAD.unpack(await reader.readexactly(HEAD.size))
    return operation, (await reader.readexactly(group)).decode(), await reader.readexactly(content)


def use(channel_layers: dict[str, Any], end: int) -> dict[str, Any]:
    """Return Channels' settings for a process with this end of a pair; Redis stays, for other machines."""
    if channel_layers["default"]["BACKEND"] != ONE_PROCESS:
        return channel_layers
    return {"default": {"BACKEND": LOCAL, "CONFIG": {"end": end}}}


class LocalChannelLayer:
    """The parts of a channel layer that the site uses: groups, and one channel for each process."""

    def __init__(self, end: int) -> None:
        self._end = end
        self._opening = asyncio.Lock()
        self._opened: Link | None = None

    async def _link(self) -> Link:
        async with self._opening:
            if self._opened is None:
                self._opened = await asyncio.open_connection(sock=socket.socket(fileno=self._end))
        return self._opened

    async def _write(self, operation: bytes, group: str, content: bytes = b"") -> None:
        _, writer = await self._link()
        writer.write(packed(operation, group, content))
        await writer.drain()

    async def new_channel(self) -> str:
        """Return the name of the only channel of this process."""
        await self._link()
        return "process"

    async def group_add(self, group: str, channel: str) -> None:
        await self._write(ADD, group)

    async def group_discard(self, group: str, channel: str) -> None:
        await self._write(DISCARD, group)

    async def group_send(self, group: str, message: dict[str, Any]) -> None:
        await self._write(SEND, group, orjson.dumps(message))

    async def receive(self, channel: str) -> dict[str, Any]:
        """Return the next message. After the end of the hub, with which this process ends too, there are none."""
        reader, _ = await self._link()
        try:
            _, _, content = await read(reader)
        except (asyncio.IncompleteReadError, ConnectionError):
            await asyncio.get_running_loop().create_future()
        message: dict[str, Any] = orjson.loads(content)
        return message

    async def flush(self) -> None:
        """Send waiting messages, then close this end."""
        _, writer = await self._link()
        writer.close()
        await writer.wait_closed()


class Hub:
    """Sends each message to the processes in its group, in the order of arrival, the sender included."""

    def __init__(self) -> None:
        self._groups: defaultdict[str, set[asyncio.StreamWriter]] = defaultdict(set)

    async def serve(self, end: socket.socket) -> None:
        """Pass on the messages of one process, until it ends."""
        reader, writer = await asyncio.open_connection(sock=end)
        try:
            while True:
                self._take(writer, *await read(reader))
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            for group in list(self._groups):
                self._discard(group, writer)
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    def _take(self, sender: asyncio.StreamWriter, operation: bytes, group: str, content: bytes) -> None:
        if operation == ADD:
            self._groups[group].add(sender)
        elif operation == DISCARD:
            self._discard(group, sender)
        else:
            message = packed(SEND, group, content)
            for member in self._groups.get(group, ()):
                self._send(member, message)

    def _discard(self, group: str, member: asyncio.StreamWriter) -> None:
        members = self._groups.get(group, set())
        members.discard(member)
        if not members:
            self._groups.pop(group, None)

    def _send(self, member: asyncio.StreamWriter, message: bytes) -> None:
        if member.transport.get_write_buffer_size() + len(message) > MOST_BEHIND:
            log.error("dropped a message: a process of this site does not read its queue")
        elif not member.transport.is_closing():
            member.write(message)
