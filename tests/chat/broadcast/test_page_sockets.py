"""A page gets every thing in order, deltas joined but never with a hidden gap."""

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.broadcast import frames
from chat.broadcast.live_text import utf16_length
from chat.broadcast.page_sockets import JOINED, QUEUE_BYTES, PageSocket, SocketRegistry


class Page:
    """Collects what is sent; can be made to read nothing."""

    def __init__(self) -> None:
        self.got: list[dict[str, Any]] = []
        self.reads = asyncio.Event()
        self.reads.set()
        self.arrived = asyncio.Event()

    async def send(self, text: str) -> None:
        await self.reads.wait()
        self.got.append(json.loads(text))
        self.arrived.set()

    async def until(self, kind: str) -> None:
        while not any(frame["type"] == kind for frame in self.got):
            self.arrived.clear()
            await asyncio.wait_for(self.arrived.wait(), 5)


def deltas(page: Page) -> list[dict[str, Any]]:
    return [frame for frame in page.got if frame["type"] == "text.delta"]


async def sent(put: list[frames.ServerFrame]) -> Page:
    page = Page()
    socket = PageSocket(page.send)
    for frame in [*put, frames.PongFrame()]:
        socket.put(frame)
    pump = asyncio.create_task(socket.pump())
    await page.until("pong")
    pump.cancel()
    return page


class Wire:
    """A connection that takes frames at once while it `flows`, and all others from the queue, where it reads slowly."""

    def __init__(self) -> None:
        self.flows = True
        self.got: list[dict[str, Any]] = []
        self.at_once: list[str] = []

    def take(self, texts: Sequence[bytes]) -> bool:
        if self.flows:
            self.got += map(json.loads, texts)
            self.at_once += [frame["type"] for frame in map(json.loads, texts)]
        return self.flows

    async def send(self, text: str) -> None:
        await asyncio.sleep(0)
        self.got.append(json.loads(text))


async def settled() -> None:
    for _ in range(50):
        await asyncio.sleep(0)


@pytest.mark.asyncio
@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans(), st.booleans()), max_size=20))
async def test_what_is_sent_at_once_overtakes_nothing(steps: list[tuple[bool, bool, bool, bool]]) -> None:
    wire = Wire()
    socket = PageSocket(wire.send)
    socket.at_once = wire.take
    pump = asyncio.create_task(socket.pump())
    together: list[frames.ServerFrame] = []
    for number, (flows, output, turns, waits) in enumerate(steps):
        wire.flows = flows
        text = "x" * (JOINED if number % 7 == 6 else 1)
        output_frame = frames.CallOutputFrame(1, str(number), number, text)
        together.append(output_frame if output else frames.NoticeFrame(number, "code", text, ""))
        if not waits:
            socket.put(*together)
            together.clear()
        await asyncio.sleep(0) if turns else None
    socket.put(*together)
    await settled()
    assert [frame.get("seq", frame.get("offset")) for frame in wire.got] == list(range(len(steps)))
    # Output of tools gathers in the queue.
    assert set(wire.at_once) <= {"notice"}
    pump.cancel()


@pytest.mark.asyncio
async def test_a_connection_that_reads_again_gets_frames_at_once_again() -> None:
    wire = Wire()
    socket = PageSocket(wire.send)
    socket.at_once = wire.take
    pump = asyncio.create_task(socket.pump())
    for flows in (True, False, True):
        wire.flows = flows
        socket.put(frames.PongFrame())
        await settled()
    assert (len(wire.got), len(wire.at_once)) == (3, 2)
    pump.cancel()


@pytest.mark.asyncio
async def test_what_is_announced_together_is_one_write() -> None:
    writes: list[list[str]] = []

    def take(texts: Sequence[bytes]) -> bool:
        writes.append([json.loads(text)["type"] for text in texts])
        return True

    registry, socket = SocketRegistry(), PageSocket(Wire().send)
    socket.at_once = take
    registry.add("a", socket)
    registry.tell("a", frames.NoticeFrame(1, "code", "", ""), frames.PongFrame())
    assert writes == [["notice", "pong"]]


@given(st.lists(st.text(max_size=9), max_size=30))
def test_joined_deltas_give_the_same_text(pieces: list[str]) -> None:
    offset = 0
    put: list[frames.ServerFrame] = []
    for piece in pieces:
        put.append(frames.TextDeltaFrame(1, offset, piece))
        offset += utf16_length(piece)
    page = asyncio.run(sent(put))
    assert "".join(frame["text"] for frame in deltas(page)) == "".join(pieces)
    assert len(deltas(page)) <= 1


def test_a_gap_is_not_joined_away() -> None:
    page = asyncio.run(sent([frames.TextDeltaFrame(1, 0, "ab"), frames.TextDeltaFrame(1, 5, "cd")]))
    assert [(frame["offset"], frame["text"]) for frame in deltas(page)] == [(0, "ab"), (5, "cd")]


def test_pieces_of_two_calls_are_not_mixed() -> None:
    pieces = [("a", 0, "1"), ("a", 1, "2"), ("b", 2, "3"), ("b", 3, "4")]
    page = asyncio.run(sent([frames.CallDeltaFrame(1, call, "f", offset, text) for call, offset, text in pieces]))
    told = [(frame["call"], frame["offset"], frame["text"]) for frame in page.got if frame["type"] == "call.delta"]
    assert told == [("a", 0, "12"), ("b", 2, "34")]


def test_deltas_of_other_messages_and_things_keep_their_place() -> None:
    page = asyncio.run(
        sent(
            [
                frames.TextDeltaFrame(1, 0, "a"),
                frames.ThinkingDeltaFrame(1, 0, "b"),
                frames.MessageFinishedFrame(4, 1, "<p>"),
                frames.TextDeltaFrame(2, 0, "c"),
            ]
        )
    )
    kinds = [frame["type"] for frame in page.got]
    assert kinds == ["text.delta", "thinking.delta", "message.finished", "text.delta", "pong"]


@pytest.mark.asyncio
async def test_a_page_that_does_not_read_costs_a_bounded_queue_and_loses_no_thing() -> None:
    page = Page()
    page.reads.clear()
    socket = PageSocket(page.send)
    pump = asyncio.create_task(socket.pump())
    piece = "x" * 1024
    for number in range(2000):
        socket.put(frames.TextDeltaFrame(1, number * len(piece), piece))
    socket.put(frames.MessageFinishedFrame(9, 1, "<p>whole</p>"))
    page.reads.set()
    await page.until("message.finished")
    pump.cancel()
    assert sum(len(frame["text"]) for frame in deltas(page)) <= QUEUE_BYTES + 2 * len(piece)
    assert page.got[-1]["html"] == "<p>whole</p>"


def test_listeners_hear_their_own_conversation_only() -> None:
    listeners, received = SocketRegistry(), list[frames.ServerFrame]()

    class Ear(PageSocket):
        def put(self, *given: frames.ServerFrame) -> None:
            received.extend(given)

    async def nothing(text: str) -> None: ...

    reader = Ear(nothing)
    listeners.add("a", reader)
    listeners.tell("b", frames.PongFrame())
    assert received == []
    listeners.tell("a", frames.PongFrame())
    assert len(received) == listeners.count() == 1
    listeners.remove("a", reader)
    listeners.tell("a", frames.PongFrame())
    assert len(received) == 1 and listeners.count() == 0
