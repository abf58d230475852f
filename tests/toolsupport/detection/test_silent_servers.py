"""A dead, busy or closed server proves nothing about a model: never a no."""

from __future__ import annotations

import asyncio
import json
import random
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

import pytest

from tests.tables import every
from toolsupport import providers
from toolsupport.core.types import Capabilities, Endpoint, RequestSpec
from toolsupport.core.verdicts import Verdict
from toolsupport.detection import ProbeRunner, ProbeTarget, ProbeTrial
from toolsupport.detection.probe_limits import LIMITS, ProbeLimits
from toolsupport.detection.probe_run import StepProgress, examine

GREETS = {"message": {"role": "assistant", "content": "Hello."}, "done": True, "done_reason": "stop"}

# (how many requests were heard, their body) → status and body; None: no answer, status 0: the end of the connection
Answer = Callable[[int, bytes], tuple[int, bytes] | None]
# The path of a GET → the same.
Listing = Callable[[str], tuple[int, bytes] | None]


@asynccontextmanager
async def closed_at_end(writer: asyncio.StreamWriter) -> AsyncIterator[None]:
    """Close the connection even where the client is gone before its request or the answer is whole."""
    try:
        yield
    finally:
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()


@asynccontextmanager
async def server(answer: Answer, listing: Listing = lambda path: (404, b"{}")) -> AsyncIterator[Endpoint]:
    """One that speaks just enough of Ollama, and answers as it is told. What it lists is not counted."""
    received = 0
    serving: set[asyncio.Task[None] | None] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        serving.add(asyncio.current_task())
        async with closed_at_end(writer):
            await reply(reader, writer)

    async def reply(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal received
        head = await reader.readuntil(b"\r\n\r\n")
        [length] = re.findall(rb"(?i)\ncontent-length: *(\d+)", head) or [0]
        body = await reader.readexactly(int(length))
        if head.startswith(b"GET "):
            told = listing(head.split()[1].decode())
        else:
            received += 1
            told = answer(received, body)
        if told is None:
            await reader.read()  # until the other side has given up
            return
        status, said = told
        if status == 0:  # it went away
            return
        kind = b"Content-Type: application/x-ndjson\r\nConnection: close\r\n"
        writer.write(b"HTTP/1.1 %d Told\r\n%bContent-Length: %d\r\n\r\n%b" % (status, kind, len(said), said))
        await writer.drain()

    listening = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield Endpoint("ollama", f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}")
    finally:
        await providers.close()
        await asyncio.gather(*filter(None, serving), return_exceptions=True)
        listening.close()


async def verdict_of(endpoint: Endpoint) -> Verdict:
    return (await examined(endpoint, LIMITS))[0]


async def examined(endpoint: Endpoint, limits: ProbeLimits, thinks: bool | None = None) -> tuple[Verdict, list[str]]:
    """The verdict, and what was told of the steps."""
    told: list[str] = []

    async def keep(trial: ProbeTrial) -> None: ...

    async def tell(step: StepProgress) -> None:
        told.append(step.detail)

    subject = ProbeTarget(endpoint, RequestSpec("some:1b", Capabilities({})), ("hermes",), thinks)
    runner = ProbeRunner(subject, keep, random.Random(1), limits)
    return await examine(runner, "tools", tell, lambda step: False), told


STATUSES = (401, 402, 403, 404, 408, 429, 500, 502, 503, 504)


@pytest.mark.asyncio
@every("status", STATUSES)
async def test_a_server_that_answers_nothing_proves_nothing(status: int) -> None:  # D6
    error = json.dumps({"error": "not now"}).encode()
    async with server(lambda received, body: (status, error)) as endpoint:
        verdict = await verdict_of(endpoint)
    assert (verdict.name, dict(verdict.values)) == ("inconclusive", {})


@pytest.mark.asyncio
@every("status", STATUSES)
async def test_nor_does_one_that_fails_as_soon_as_tools_come(status: int) -> None:  # D6
    error, greets = json.dumps({"error": "not now"}).encode(), json.dumps(GREETS).encode() + b"\n"
    async with server(lambda received, body: (status, error) if b'"tools"' in body else (200, greets)) as endpoint:
        verdict = await verdict_of(endpoint)
    assert (verdict.name, dict(verdict.values)) == ("inconclusive", {})


@pytest.mark.asyncio
async def test_nor_does_one_that_dies_in_the_middle() -> None:
    greets = json.dumps(GREETS).encode() + b"\n"
    async with server(lambda received, body: (200, greets) if received < 6 else (200, greets[:20])) as endpoint:
        verdict = await verdict_of(endpoint)
    assert (verdict.name, dict(verdict.values)) == ("inconclusive", {})
