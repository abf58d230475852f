"""Delivers frames to pages and from turns in other processes."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable, Coroutine
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from channels.db import database_sync_to_async as in_database

from chat.broadcast import frames, process_bus
from chat.broadcast.page_sockets import Growing, SocketRegistry, joined
from chat.broadcast.process_bus import BusMessage
from chat.transcript.turns import turn_owners
from toolsupport.config import metrics

log = logging.getLogger(__name__)

FOLLOWED_SECONDS = 15.0
RENEWED_SECONDS = 5.0
TICK = 0.050
ENDS = (frames.TurnEndedFrame.type, frames.TurnWaitingFrame.type)

Spawn = Callable[[Coroutine[Any, Any, Any]], object]


class LocalProcess(Protocol):
    """The state of this process; each function is quick."""

    listeners: SocketRegistry

    def growing(self, conversation: str) -> list[frames.ServerFrame] | None:
        """Return the whole text being written in a conversation here; None if no turn runs here."""

    def request_stop(self, turn_id: int) -> None: ...

    def stop_call(self, conversation: str, call_id: str) -> bool: ...


@dataclass(frozen=True, slots=True)
class ForwardedFrame(frames.ServerFrame):
    """A frame from another process, forwarded unchanged."""

    text: str

    def render(self) -> bytes:
        return self.text.encode()


class PeerBroadcaster:
    """Sends announcements to every process with a page of their conversation; text only to those that follow it."""

    def __init__(self, owner: str, here: LocalProcess) -> None:
        self.here = here
        self.relay = process_bus.ProcessBus(owner, self._on_message, metrics.PROCESSES.group)
        self._followers: dict[str, dict[str, float]] = {}
        self._leaders: dict[str, str] = {}
        self._grown: dict[str, list[Growing]] = defaultdict(list)
        self._grew = asyncio.Event()
        # Each conversation with a page here → its number at the last check, and whether the pages have it.
        self._standings: dict[str, tuple[tuple[int, int | None], bool]] = {}

    def start(self, spawn: Spawn) -> None:
        for work in (self.relay.receive(), self.relay.post(), self._tick(), self._renew(), self._look_after()):
            spawn(work)
        spawn(self._share_metrics())

    def tell(self, conversation: str, frame: frames.ServerFrame) -> None:
        """Forward a frame that this process has sent to its own pages."""
        if isinstance(frame, Growing):
            if conversation in self._followers:
                self._grown[conversation].append(frame)
                self._grew.set()
            return
        # The text goes first, so that followers have all of it when the message is finished.
        self._flush(conversation)
        group, text = process_bus.of_conversation(conversation), frame.render().decode()
        self.relay.send(group, "thing", conversation=conversation, frame=frame.type, text=text)
        if frame.type in ENDS:
            self._followers.pop(conversation, None)

    def follow(self, conversation: str, leader: str, whole: bool = True) -> None:
        """Request the present text and all further text from the process that writes it."""
        self._leaders[conversation] = leader
        self.relay.send(process_bus.of_process(leader), "follow", conversation=conversation, whole=whole)

    def stop(self, leader: str, turn_id: int) -> None:
        self.relay.send(process_bus.of_process(leader), "stop", turn=turn_id)

    def stop_call(self, leader: str, conversation: str, call_id: str) -> None:
        self.relay.send(process_bus.of_process(leader), "stop_call", conversation=conversation, call=call_id)

    async def _tick(self) -> None:
        while True:
            await self._grew.wait()
            await asyncio.sleep(TICK)
            self._grew.clear()
            for conversation in list(self._grown):
                self._flush(conversation)

    async def _renew(self) -> None:
        """Renew subscriptions while pages are open; drop expired ones."""
        while True:
            await asyncio.sleep(RENEWED_SECONDS)
            now = asyncio.get_running_loop().time()
            for conversation, followers in list(self._followers.items()):
                self._followers[conversation] = {name: until for name, until in followers.items() if until > now}
                if not self._followers[conversation]:
                    del self._followers[conversation]
            for conversation, leader in list(self._leaders.items()):
                if self.here.listeners.has(conversation):
                    self.follow(conversation, leader, whole=False)
                else:
                    del self._leaders[conversation]

    async def _look_after(self) -> None:
        """After an outage of Redis, send each quiet conversation's newest number, since messages were lost."""
        while True:
            await asyncio.sleep(RENEWED_SECONDS)
            try:
                await self.send_tails()
            except Exception as error:
                log.error("could not send pages the state of their conversations: %s", error)

    async def send_tails(self) -> None:
        """Send the newest number of each conversation that did not change since the last call, once."""
        found = await in_database(turn_owners.standings)(self.here.listeners.conversations())
        for conversation, standing in found.items():
            before, sent = self._standings.get(conversation, (None, False))
            quiet = standing == before
            if quiet and not sent:
                self.here.listeners.tell(conversation, frames.TailFrame(*standing))
            self._standings[conversation] = (standing, quiet)
        for conversation in self._standings.keys() - found.keys():
            del self._standings[conversation]

    def _flush(self, conversation: str) -> None:
        grown = joined(self._grown.pop(conversation, []))
        for follower in self._followers.get(conversation, {}) if grown else ():
            self._send_text(follower, conversation, grown)

    def _send_text(self, follower: str, conversation: str, sent: list[Any]) -> None:
        payload = [{"kind": frame.type, **asdict(frame)} for frame in sent]
        self.relay.send(process_bus.of_process(follower), "text", conversation=conversation, frames=payload)

    async def _share_metrics(self) -> None:
        """Send what this process counted to the others at the same port."""
        shared = metrics.PROCESSES
        while shared.group:
            self.relay.send(process_bus.of_port(shared.group), "metrics", process=shared.name, text=metrics.own_text())
            await asyncio.sleep(metrics.SHARED_EVERY)

    # -- messages of other processes --

    def _on_message(self, message: BusMessage) -> None:
        RECEIVED[message["type"]](self, message)

    def _thing(self, message: BusMessage) -> None:
        conversation = message["conversation"]
        self.here.listeners.tell(conversation, ForwardedFrame(message["text"]))
        if message["frame"] in ENDS:
            self._leaders.pop(conversation, None)
        elif message["frame"] == frames.TurnStartedFrame.type:
            self.follow(conversation, message["from"])

    def _text(self, message: BusMessage) -> None:
        for fields in message["frames"]:
            frame = frames.SERVER_FRAMES[fields.pop("kind")](**fields)
            self.here.listeners.tell(message["conversation"], frame)

    def _followed(self, message: BusMessage) -> None:
        conversation, follower = message["conversation"], message["from"]
        whole = self.here.growing(conversation)
        if whole is None:
            return
        self._flush(conversation)
        until = asyncio.get_running_loop().time() + FOLLOWED_SECONDS
        self._followers.setdefault(conversation, {})[follower] = until
        if message["whole"] and whole:
            self._send_text(follower, conversation, whole)

    def _stop(self, message: BusMessage) -> None:
        self.here.request_stop(message["turn"])

    def _stop_call(self, message: BusMessage) -> None:
        self.here.stop_call(message["conversation"], message["call"])


RECEIVED: dict[str, Callable[[PeerBroadcaster, BusMessage], None]] = {
    "thing": PeerBroadcaster._thing,
    "text": PeerBroadcaster._text,
    "follow": PeerBroadcaster._followed,
    "stop": PeerBroadcaster._stop,
    "stop_call": PeerBroadcaster._stop_call,
    "metrics": lambda peers, message: metrics.PROCESSES.keep(message["process"], message["text"]),
    "joined": lambda peers, message: None,
}
