"""One measured connection: an answer's tokens and when each of them arrived."""

from __future__ import annotations

import asyncio
import re
import time
from dataclasses import dataclass, field

MARKS = re.compile(rb"@(\d{16})")
KEPT = 40  # bytes kept from one read to the next: longer than a mark, longer than an end


@dataclass
class Answer:
    """Times in ns of the monotonic clock; `latencies` has one entry for each token."""

    wanted: int
    asked: int
    first: int = 0
    last: int = 0
    latencies: list[int] = field(default_factory=list)


class Stream(asyncio.Protocol):
    """Looks for marks and for `end` in the raw bytes; parsing frames would make the client the limit."""

    transport: asyncio.Transport

    def __init__(self, end: bytes) -> None:
        self.end = end
        self.tail = b""
        self.answer: Answer | None = None
        self.waiter: asyncio.Future[None] | None = None
        self.wanted = end

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        self.settle(ConnectionError(f"the connection was closed; last came {self.tail!r}"))

    async def until(self, wanted: bytes, payload: bytes, seconds: float) -> None:
        """Send, and wait until these bytes have come."""
        self.wanted, self.tail = wanted, b""
        self.waiter = asyncio.get_running_loop().create_future()
        self.transport.write(payload)
        await asyncio.wait_for(self.waiter, seconds)

    async def ask(self, payload: bytes, tokens: int, seconds: float) -> Answer:
        """One whole answer. Raises ConnectionError or TimeoutError where it does not come."""
        self.answer = answer = Answer(tokens, time.monotonic_ns())
        await self.until(self.end, payload, seconds)
        self.answer = None
        if len(answer.latencies) < tokens:
            raise ConnectionError(f"{len(answer.latencies)} of {tokens} tokens: {self.tail!r}")
        return answer

    def data_received(self, data: bytes) -> None:
        now = time.monotonic_ns()
        buffer = self.tail + data
        read = self.note(buffer, now) if self.answer else 0
        self.tail = buffer[max(read, len(buffer) - KEPT) :]
        if self.wanted in buffer:
            self.settle(None)
        elif b'"type":"error"' in buffer:
            self.settle(ConnectionError(repr(buffer[:300])))

    def note(self, buffer: bytes, now: int) -> int:
        """Count the marks; how far they were read. What comes after the last token (the rendered page) repeats them."""
        answer, read = self.answer, 0
        assert answer
        for mark in MARKS.finditer(buffer):
            if len(answer.latencies) == answer.wanted:
                break
            answer.latencies.append(now - int(mark[1]))
            answer.first = answer.first or now
            answer.last = now
            read = mark.end()
        return read

    def settle(self, problem: Exception | None) -> None:
        if self.waiter and not self.waiter.done():
            self.waiter.set_exception(problem) if problem else self.waiter.set_result(None)
