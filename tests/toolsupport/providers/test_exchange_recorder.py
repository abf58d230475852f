"""Every try of a request is recorded with what came back, within limits, and the same again is counted."""

from __future__ import annotations

import pytest

from tests.toolsupport.providers.scripted import CLOSE, FINE, HEAD, answer, said, scripted
from toolsupport import providers
from toolsupport.core.types import ChatMessage, Request, Role
from toolsupport.providers import exchange_recorder, transport
from toolsupport.providers.exchange_recorder import ExchangeRecorder, RecordedExchange

QUESTION = Request("m", (ChatMessage(Role.USER, "hi"),), supports_tools=True)
LOADING = answer(503, b'{"error":{"message":"Loading model","type":"unavailable_error","code":503}}')


async def recorded(*answers: object) -> list[RecordedExchange]:
    recorder = ExchangeRecorder()
    async with scripted(*answers) as server:  # type: ignore[arg-type]
        async for _ in providers.stream(server.endpoint(), QUESTION, recorder):
            pass
    return recorder.taken()


@pytest.mark.asyncio
async def test_tries_are_recorded_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "PAUSES", (0.0, 0.0))
    first, second, third = await recorded(CLOSE, answer(503, b'{"error":"busy"}'), FINE)
    assert (first.status, first.head, bool(first.error)) == (None, b"", True)
    assert (second.status, second.head) == (503, b'{"error":"busy"}')
    assert third.status == 200 and third.head.endswith(b'"done_reason":"stop"}\n') and third.error == ""
    assert all(exchange.duration_ms is not None for exchange in (first, second, third))


@pytest.mark.asyncio
async def test_a_server_that_loads_for_long_is_one_exchange(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "LOADING_PAUSE", 0.0)
    loading, fine = await recorded(*[LOADING] * 6, FINE)
    assert (loading.status, loading.times, fine.status, fine.times) == (503, 6, 200, 1)


@pytest.mark.asyncio
async def test_a_reply_that_breaks_off_says_so() -> None:
    (broken,) = await recorded((HEAD, said("half")))
    assert b"half" in broken.head and broken.status == 200 and "cut off" in broken.error


def test_the_middle_of_a_long_reply_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange_recorder, "TAIL", 4)
    whole = bytes(range(40))
    for size in (1, 3, 7, 40):
        made = RecordedExchange("u", b"", 10)
        for start in range(0, 40, size):
            made.add(whole[start : start + size])
        assert (made.head, made.tail, made.left_out, made.size) == (whole[:10], whole[-4:], 26, 40)
    short = RecordedExchange("u", b"", 10)
    short.add(whole[:12])
    assert (short.head, short.tail, short.left_out) == (whole[:10], whole[10:12], 0)
