"""Messages between processes, without processes: two of them on one layer in memory."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from channels.layers import channel_layers

from chat.broadcast import cross_process_frames, frames, process_bus
from chat.broadcast.cross_process_frames import PeerBroadcaster
from chat.broadcast.page_sockets import SocketRegistry

CHAT = "0b0e6a2c-6a0c-4a57-9d0e-5a1a6f2f5a11"


class Collector:
    """Stands for a socket: keeps what it is given."""

    def __init__(self) -> None:
        self.got: list[dict[str, Any]] = []
        self.arrived = asyncio.Event()

    def put(self, frame: frames.ServerFrame) -> None:
        self.got.append(json.loads(frame.render()))
        self.arrived.set()

    async def until(self, kind: str) -> dict[str, Any]:
        while True:
            for frame in self.got:
                if frame["type"] == kind:
                    return frame
            self.arrived.clear()
            await asyncio.wait_for(self.arrived.wait(), 10)


class Process:
    """Stands for a runner: its pages, the text it writes, what it was asked to stop."""

    def __init__(self, owner: str) -> None:
        self.listeners = SocketRegistry()
        self.page = Collector()
        self.text: str | None = None
        self.asked: asyncio.Queue[object] = asyncio.Queue()
        self.peers = PeerBroadcaster(owner, self)
        self.listeners.add(CHAT, self.page)  # type: ignore[arg-type]  # as good as a socket here

    def growing(self, conversation: str) -> list[frames.ServerFrame] | None:
        return None if self.text is None else [frames.ResyncFrame(7, self.text, "")]

    def request_stop(self, turn_id: int) -> None:
        self.asked.put_nowait(turn_id)

    def stop_call(self, conversation: str, call_id: str) -> bool:
        self.asked.put_nowait((conversation, call_id))
        return True

    def write(self, text: str) -> None:
        assert self.text is not None
        frame = frames.TextDeltaFrame(7, len(self.text), text)
        self.text += text
        self.peers.tell(CHAT, frame)


@asynccontextmanager
async def two() -> AsyncIterator[tuple[Process, Process]]:
    channel_layers.backends.clear()
    processes = Process("first"), Process("second")
    tasks: list[asyncio.Task[Any]] = []
    for process in processes:
        process.peers.start(lambda work: tasks.append(asyncio.create_task(work)))
        await process.peers.relay.join(CHAT)
        assert process.peers.relay._joined[process_bus.of_conversation(CHAT)].is_set()
    try:
        yield processes
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


# O2
@pytest.mark.asyncio
async def test_a_thing_reaches_the_other_process_once_and_never_comes_back() -> None:
    async with two() as (first, second):
        first.peers.tell(CHAT, frames.MessageFinishedFrame(3, 7, "<p>"))
        second.peers.tell(CHAT, frames.MessageFinishedFrame(4, 7, "<b>"))
        assert (await second.page.until("message.finished"))["seq"] == 3
        assert (await first.page.until("message.finished"))["seq"] == 4
        await settled(first, second)
        assert len(first.page.got) == len(second.page.got) == 1


async def settled(first: Process, second: Process) -> None:
    """A message there and one back: whatever was sent before has arrived."""
    for sender, hearer in ((first, second), (second, first)):
        sender.peers.stop(hearer.peers.relay.owner, 99)
        assert await asyncio.wait_for(hearer.asked.get(), 10) == 99


@pytest.mark.asyncio
async def test_text_goes_only_to_who_follows_and_without_a_hole() -> None:
    async with two() as (first, second):
        first.text = ""
        first.write("before ")
        await settled(first, second)
        assert second.page.got == []
        second.peers.follow(CHAT, "first")
        assert (await second.page.until("resync"))["text"] == "before "
        first.write("a ")
        first.write("b ")
        first.peers.tell(CHAT, frames.TurnEndedFrame(5, 1, "done", {}, ""))
        await second.page.until("turn.ended")
        told = [frame for frame in second.page.got if frame["type"] == "text.delta"]
        assert [(frame["offset"], frame["text"]) for frame in told] == [(7, "a b ")]


@pytest.mark.asyncio
async def test_the_end_of_a_turn_ends_the_following() -> None:
    async with two() as (first, second):
        first.text = "all"
        second.peers.follow(CHAT, "first")
        await second.page.until("resync")
        first.peers.tell(CHAT, frames.TurnEndedFrame(5, 1, "done", {}, ""))
        await second.page.until("turn.ended")
        first.write("more")
        await settled(first, second)
        assert [frame["type"] for frame in second.page.got] == ["resync", "turn.ended"]


@pytest.mark.asyncio
async def test_who_does_not_renew_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cross_process_frames, "FOLLOWED_SECONDS", -1.0)
    monkeypatch.setattr(cross_process_frames, "RENEWED_SECONDS", 0.01)
    async with two() as (first, second):
        first.text = "all"
        second.peers.follow(CHAT, "first")
        await second.page.until("resync")
        second.listeners = SocketRegistry()
        async with asyncio.timeout(10):
            while first.peers._followers or second.peers._leaders:
                await asyncio.sleep(0)
        first.write("more")
        await settled(first, second)
        assert [frame["type"] for frame in second.page.got] == ["resync"]


@pytest.mark.asyncio
async def test_stops_reach_the_process_that_runs_it() -> None:
    async with two() as (first, second):
        second.peers.stop("first", 4)
        second.peers.stop_call("first", CHAT, "12")
        assert [await asyncio.wait_for(first.asked.get(), 10) for _ in range(2)] == [4, (CHAT, "12")]
        assert second.asked.empty()


@pytest.mark.asyncio
async def test_a_silent_redis_keeps_no_page_from_opening(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(process_bus, "SECONDS_TO_JOIN", 0.01)
    alone = process_bus.ProcessBus("alone", lambda message: None)
    await alone.join(CHAT)
    assert "could not join the group" in caplog.text
