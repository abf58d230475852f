"""A ping waits for no one's rows: it is answered while the database's thread is busy, in the next round of the loop."""

from __future__ import annotations

import asyncio
import gc
import json
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from chat.broadcast.page_sockets import PageSocket
from chat.websocket import consumer
from chat.websocket.handlers import PageContext
from tests.hostile_texts.units import COMMON, text
from tests.nightly.mallory import worst_server
from tests.nightly.mallory_attacks import SCHEMAS
from tests.nightly.worst_server import MODEL
from tests.processor_time import LONGEST_STEP, StepTimes
from tests.toolsupport.test_exchange import ask, request_spec
from tests.toolsupport.test_loop_share import COSTLY
from toolsupport import loop_share, providers
from toolsupport.core.types import ChatMessage, Endpoint, Role, ToolSpec

ATTEMPTS = 3
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


def wishes(person: int, attempt: int) -> Iterator[tuple[dict[str, Any], dict[str, Any], str]]:
    """What a person asks the worst server for, with the schema of the tool and the format of the reply."""
    written = [*(one * 4 for one in COSTLY.values()), *(text(unit, 60_000) for unit in COMMON)]
    for number, one in enumerate(written[person::4]):
        yield {"text": one}, {}, ("native", "hermes")[number % 2]
        yield {"error": one}, {}, "native"
    for schema, arguments in SCHEMAS[person::4]:
        # A schema that nobody compiled before.
        fresh = {"type": "object", "title": f"{person} of {attempt}"} | schema
        yield {"call": {"name": "note", "arguments": arguments}, "times": 4}, fresh, "native"


async def mallory(endpoint: Endpoint, person: int, attempt: int) -> None:
    loop_share.person.set(f"Mallory {person}")
    for wish, schema, name in wishes(person, attempt):
        spec = request_spec(MODEL, tools=(ToolSpec("note", "", schema),), format=name)
        await ask(endpoint, spec, [ChatMessage(Role.USER, json.dumps(wish))])


@pytest.fixture
def collector_spared() -> Iterator[None]:
    """Set what lives now aside, as `serve` does at its start: objects of other tests are not the site's."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


async def pings_beside_the_worst_texts(attempt: int) -> StepTimes:
    """How much the loop works while each of many pings waits."""
    received, sent, held = asyncio.Queue[dict[str, Any]](), list[bytes](), StepTimes()
    page = consumer.ChatConsumer()
    with worst_server() as address:
        serving = asyncio.ensure_future(opened(page, received, sent))
        people = (mallory(Endpoint("ollama", address), person, attempt) for person in range(4))
        others = [asyncio.ensure_future(one) for one in people]
        try:
            await asyncio.sleep(0)
            while not all(one.done() for one in others):
                # From before the pause: the ping may arrive at the beginning of a step that fills it.
                began, before = time.thread_time(), len(sent)
                await asyncio.sleep(0.002)
                page.recent.clear()  # a page may send fewer
                received.put_nowait({"type": "websocket.receive", "text": '{"type": "ping"}'})
                while len(sent) == before:
                    await asyncio.sleep(0)
                held.add(time.thread_time() - began)
            await asyncio.gather(*others)
        finally:
            for task in (serving, *others):
                task.cancel()
            await asyncio.gather(serving, *others, return_exceptions=True)
            await providers.close()
    assert len(held.times) > 20
    return held


@pytest.mark.asyncio
@pytest.mark.usefixtures("collector_spared")
async def test_a_ping_beside_the_worst_texts_waits_for_little_work_of_the_loop() -> None:  # S1, S2
    """By the processor time of the loop's thread. Other work on the machine only adds to it, now here and now there.

    A step of the loop that is too long is so in each attempt: each has schemas that no other compiled.
    """
    longest = list[float]()
    for attempt in range(ATTEMPTS):
        longest.append((await pings_beside_the_worst_texts(attempt)).longest())
        if longest[-1] <= LONGEST_STEP:
            break
    assert longest[-1] <= LONGEST_STEP, longest
