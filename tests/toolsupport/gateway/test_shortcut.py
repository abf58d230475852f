"""Texts of a stream that are sent without Django's response come in order, and only if the client reads."""

from __future__ import annotations

import asyncio
import itertools
import re
from collections.abc import AsyncGenerator, Callable
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pytest
from channels.db import database_sync_to_async as in_database
from django.test import AsyncClient

from tests.toolsupport.gateway.conftest import FOLDER, Program
from tests.toolsupport.gateway.test_answer_runner import END, HEAD, said, server_of
from tests.toolsupport.providers.scripted import Scripted, Step, scripted
from toolsupport.gateway import keep_alive
from toolsupport.gateway.keep_alive import Shortcut
from toolsupport.web import server as web_server
from toolsupport.web.flow_control import AT_ONCE, FlowControl
from toolsupport.web.server import BoundedRequest


async def numbers(last: int, gates: dict[int, asyncio.Event]) -> AsyncGenerator[list[int], None]:
    """Yield [0] to [last]; a number with a gate waits for it."""
    for number in range(last + 1):
        if number in gates:
            await gates[number].wait()
        yield [number]


async def turned(rounds: int = 20) -> None:
    for _ in range(rounds):
        await asyncio.sleep(0)


@pytest.mark.asyncio
async def test_a_batch_skips_the_reader_only_while_it_waits_for_one() -> None:
    gates, sent, shortcut = {number: asyncio.Event() for number in (2, 4, 6)}, list[int](), Shortcut[int]()

    def send(batch: list[int]) -> bool:
        takes = batch != [6]
        sent.extend(batch if takes else [])
        return takes

    batches = keep_alive.with_keep_alive(numbers(7, gates), shortcut)
    read = [await anext(batches)]
    shortcut.send = send
    await turned()
    read.append(await anext(batches))  # was in the queue behind the first
    gates[2].set()
    await turned()
    assert sent == []  # the reader still handles the one before
    read += [await anext(batches), await anext(batches)]
    waiting = asyncio.ensure_future(anext(batches))
    await turned()
    gates[4].set()
    await turned()
    assert sent == [4, 5] and not waiting.done()
    gates[6].set()  # 7 comes right behind 6, which the client does not take
    read += [await waiting, *[batch async for batch in batches]]
    assert (read, sent) == ([[0], [1], [2], [3], [6], [7]], [4, 5])


@pytest.mark.asyncio
async def test_a_batch_that_skips_the_reader_ends_the_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keep_alive, "SILENCE", 100.0)
    gates, end = {1: asyncio.Event()}, keep_alive._Silence.end
    ends = MagicMock(side_effect=end)
    monkeypatch.setattr(keep_alive._Silence, "end", lambda silence: ends(silence))
    shortcut = Shortcut[int]()
    batches = keep_alive.with_keep_alive(numbers(1, gates), shortcut)
    assert await anext(batches) == [0]
    shortcut.send = lambda batch: True
    rest = asyncio.ensure_future(anext(batches, None))
    await turned()
    before = ends.call_count
    gates[1].set()
    assert await rest is None and ends.call_count == before + 1


PATHS: dict[str, dict[str, Any]] = {
    "/v1/chat/completions": {"messages": [FOLDER]},
    "/v1/responses": {"input": "What's in this folder?"},
    "/v1/messages": {"messages": [FOLDER], "max_tokens": 100},
}
WORDS = [f"word {number} " for number in range(12)]
ALIKE = re.compile(rb'"(created|created_at|completed_at)": ?[0-9.]+|(chatcmpl|resp|msg)[-_][0-9a-f]+')


@pytest.mark.asyncio
@pytest.mark.parametrize("path", PATHS)
async def test_a_client_gets_the_same_stream_either_way(program: Program, path: str) -> None:
    async with scripted([b""]) as server:
        await in_database(server_of)(server.port)
        plain, none = await streamed(program, server, path, lambda number: False)
        quick, most = await streamed(program, server, path, lambda number: True)
        mixed, some = await streamed(program, server, path, lambda number: number % 3 == 0)
    assert plain == quick == mixed and all(word.encode() in plain for word in ("word 0", "word 11"))
    assert not none and 0 < len(some) < len(most) and len(most) >= len(WORDS) - 3
    assert all(b"word" in part for part in most)


class ClientOfServer(AsyncClient):
    """A client whose server offers to send parts at once."""

    def __init__(self, send: Callable[[Callable[[], bytes]], bool]) -> None:
        super().__init__()
        self.extensions = {AT_ONCE: send}

    def _base_scope(self, **request: Any) -> dict[str, Any]:
        scope: dict[str, Any] = super()._base_scope(**request)  # type: ignore[misc]  # not in the stubs
        return {**scope, "extensions": self.extensions}


async def streamed(
    program: Program, server: Scripted, path: str, takes: Callable[[int], bool]
) -> tuple[bytes, list[bytes]]:
    """Return the stream of a client in the order in which it was sent, and the parts that were sent at once.

    The model server sends each word after the client got the one before.
    """
    received, at_once, asked, came = list[bytes](), list[bytes](), itertools.count(), asyncio.Event()

    def send(part: Callable[[], bytes]) -> bool:
        if not takes(next(asked)):
            return False
        at_once.append(part())
        received.append(at_once[-1])
        came.set()
        return True

    async def until_received(_: Scripted) -> None:
        await came.wait()
        came.clear()
        await turned()

    words: list[Step] = [step for word in WORDS for step in (said(delta={"content": word}), until_received)]
    server.answers[:] = [[HEAD, *words, said(finish_reason="stop"), *END]]
    body = {"model": "made/m", "stream": True} | PATHS[path]
    client, headers = ClientOfServer(send), {"Authorization": f"Bearer {program.key}"}
    async with asyncio.timeout(20):
        answer: Any = await client.post(path, body, content_type="application/json", headers=headers)
        assert answer.status_code == 200, answer.content
        async for part in answer.streaming_content:
            received.append(part)
            came.set()
    return ALIKE.sub(b"", b"".join(received)), at_once


def request(**state: Any) -> tuple[Any, list[bytes]]:
    written = list[bytes]()
    fields = {"flow": FlowControl(), "channel": SimpleNamespace(), "finished": 0} | state
    return SimpleNamespace(**fields, moved=0.0), written


def test_a_part_is_made_only_if_the_client_takes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    one, written = request()
    monkeypatch.setattr(web_server, "write_part", lambda _, part: written.append(part))
    assert BoundedRequest.send_at_once(one, lambda: b"first") and one.moved > 0
    one.flow.pauseProducing()
    assert not BoundedRequest.send_at_once(one, lambda: pytest.fail("made a part that nobody takes"))
    one.flow.resumeProducing()
    assert BoundedRequest.send_at_once(one, lambda: b"second")
    assert written == [b"first", b"second"]


@pytest.mark.parametrize("state", [{"flow": None}, {"channel": None}, {"finished": 1}])
def test_nothing_is_sent_before_a_stream_begins_or_after_it(state: dict[str, Any]) -> None:
    one, _ = request(**state)
    assert not BoundedRequest.send_at_once(one, lambda: pytest.fail("made a part that nobody takes"))
