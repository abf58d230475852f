"""Sends messages between the processes of one site, through Redis or the local bus, keeping each sender's order."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from channels.layers import get_channel_layer

log = logging.getLogger(__name__)

BusMessage = dict[str, Any]
MOST_WAITING = 20_000  # messages; more means that no process reads them
SECONDS_TO_JOIN = 2.0


def of_process(owner: str) -> str:
    """Return the group that only one process receives."""
    return f"process.{owner}"


def of_port(name: str) -> str:
    """Return the group of the processes that share a port."""
    return f"port.{name}"


def of_conversation(conversation: str) -> str:
    """Return the group of the processes with an open page of a conversation."""
    return f"conversation.{conversation}"


class ProcessBus:
    """The bus of one process. `hear` receives the messages of other processes, not its own."""

    def __init__(self, owner: str, hear: Callable[[BusMessage], None], port: str = "") -> None:
        """`port` is the name of the processes that share this one's port, if there are others."""
        self.owner = owner
        self._groups = [of_process(owner), *([of_port(port)] if port else [])]
        self._on_message = hear
        self._layer: Any = get_channel_layer()
        self._out: asyncio.Queue[tuple[str, BusMessage]] = asyncio.Queue(MOST_WAITING)
        self._channel: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._joined: dict[str, asyncio.Event] = {}
        self._changing = asyncio.Lock()

    def send(self, group: str, kind: str, **fields: Any) -> None:
        """Queue a message without waiting. Undeliverable messages are dropped, and pages detect the gap."""
        try:
            self._out.put_nowait((group, {"type": kind, "from": self.owner, **fields}))
        except asyncio.QueueFull:
            log.error("dropped a message to other processes: the queue is full")

    async def post(self) -> None:
        """Send queued messages. Ends only by being cancelled."""
        while True:
            group, message = await self._out.get()
            try:
                await self._layer.group_send(group, message)
            except Exception as error:
                log.error("could not send to other processes: %s", error)
            finally:
                self._out.task_done()

    async def receive(self) -> None:
        """Receive messages of other processes. Ends only by being cancelled."""
        channel = await self._open()
        while True:
            message = await self._layer.receive(channel)
            try:
                self._take(message)
            except Exception:
                log.exception("could not handle a message of another process")

    async def _open(self) -> str:
        while True:
            try:
                channel: str = await self._layer.new_channel()
                for group in self._groups:
                    await self._layer.group_add(group, channel)
                self._channel.set_result(channel)
                return channel
            except Exception as error:
                log.error("could not read from other processes, retrying: %s", error)
                await asyncio.sleep(1)

    def _take(self, message: BusMessage) -> None:
        if message["from"] != self.owner:
            self._on_message(message)
        elif message.get("joined") in self._joined:
            self._joined[message["joined"]].set()

    async def join(self, conversation: str) -> None:
        """Subscribe to a conversation; returns when the subscription is confirmed by a message sent to it."""
        try:
            async with asyncio.timeout(SECONDS_TO_JOIN):
                await self._join(of_conversation(conversation))
        except TimeoutError:
            log.error("could not join the group of %s: no answer", conversation)
        except Exception as error:
            log.error("could not join the group of %s: %s", conversation, error)

    async def _join(self, group: str) -> None:
        channel = await asyncio.shield(self._channel)
        async with self._changing:
            if group not in self._joined:
                await self._layer.group_add(group, channel)
                self._joined[group] = asyncio.Event()
                self.send(group, "joined", joined=group)
        await self._joined[group].wait()

    async def leave(self, conversation: str, unless: Callable[[], bool]) -> None:
        """Unsubscribe from a conversation, `unless` a page of it was opened meanwhile."""
        group = of_conversation(conversation)
        async with self._changing:
            if group in self._joined and not unless():
                del self._joined[group]
                await self._layer.group_discard(group, self._channel.result())

    async def close(self) -> None:
        """Send queued messages if that is quick, then close the connections."""
        try:
            async with asyncio.timeout(SECONDS_TO_JOIN):
                await self._out.join()
            await self._layer.flush()
        except Exception as error:
            log.error("could not leave the other processes on shutdown: %s", error)
