"""A ping waits for no one's rows: it is answered while the database's thread is busy, in the next round of the loop."""

from __future__ import annotations

import asyncio
import json
import threading
from collections import deque
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from chat.broadcast.outbox import PageSocket
from chat.websocket import consumer
from chat.websocket.handlers import PageContext

ROUNDS = 3  # of the event loop: to take the frame from its queue, and two to spare


async def opened(made: consumer.ChatConsumer, received: asyncio.Queue[dict[str, Any]], sent: list[bytes]) -> None:
    """Serve a page that is open already."""
    made.recent, made.place, made.pump = deque(), PageContext(1, "chat"), asyncio.current_task()
    made.ticket, made.socket = None, PageSocket(lambda text: asyncio.sleep(0))

    def at_once(texts: Sequence[bytes]) -> bool:
        sent.extend(texts)
        return True

    made.socket.at_once = at_once
    await made({"type": "websocket"}, received.get, None)


@pytest.mark.asyncio
async def test_a_ping_does_not_wait_for_rows_of_others() -> None:  # S2
    received, sent, busy, end = asyncio.Queue[dict[str, Any]](), list[bytes](), threading.Event(), threading.Event()
    serving = asyncio.ensure_future(opened(consumer.ChatConsumer(), received, sent))

    def work() -> None:
        busy.set()
        end.wait(60)

    others = asyncio.ensure_future(sync_to_async(work)())
    try:
        await asyncio.to_thread(busy.wait, 60)
        for number in range(1, 4):
            received.put_nowait({"type": "websocket.receive", "text": '{"type": "ping"}'})
            for _ in range(ROUNDS):
                await asyncio.sleep(0)
            assert [json.loads(one)["type"] for one in sent] == ["pong"] * number
    finally:
        end.set()
        serving.cancel()
        await asyncio.gather(serving, others, return_exceptions=True)


@pytest.mark.asyncio
async def test_frames_that_wait_leave_the_loop_to_others() -> None:  # S2
    received, sent, between = asyncio.Queue[dict[str, Any]](), list[bytes](), list[int]()
    for _ in range(20):
        received.put_nowait({"type": "websocket.receive", "text": "[]"})
    serving = asyncio.ensure_future(opened(consumer.ChatConsumer(), received, sent))
    while len(sent) < 20:
        await asyncio.sleep(0)
        between.append(len(sent))
    serving.cancel()
    await asyncio.gather(serving, return_exceptions=True)
    assert max(after - before for before, after in pairwise(between)) == 1
