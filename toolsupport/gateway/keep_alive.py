"""Sends keep-alive comments in a stream while its model is silent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Generic, TypeVar

from toolsupport.services import background_jobs

# Proxies on the way give up on what is silent for a minute, some after half of one.
SILENCE = 10.0

T = TypeVar("T")


async def with_keep_alive(batches: AsyncGenerator[list[T], None]) -> AsyncGenerator[list[T], None]:
    """Yield the same batches, and an empty one after each period of silence. Closing it closes them promptly.

    A separate task waits for the model, because a wait cannot be interrupted without ending it. If this process ends
    that task while it shuts down, the stream ends.
    """
    queue: asyncio.Queue[list[T] | None] = asyncio.Queue(1)  # a reader that is slow slows the model down
    reading = background_jobs.current().spawn(_read(batches, queue))
    silence = _Silence(queue)
    try:
        while not (reading.done() and queue.empty()):
            batch = await silence.next()
            if batch is None:
                break
            yield batch
        await asyncio.wait([reading])
        if not reading.cancelled() and (error := reading.result()) is not None:
            raise error
    finally:
        silence.end()
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)


async def _read(batches: AsyncGenerator[list[T], None], queue: asyncio.Queue[list[T] | None]) -> Exception | None:
    """Return the error that the answer has to report: as an error of this task it would also be in the log."""
    try:
        async with aclosing(batches):
            async for batch in batches:
                await queue.put(batch)
    except Exception as error:
        return error
    else:
        return None
    finally:
        # Other code may have cancelled this task: the reader of the queue must be notified.
        if not queue.full():
            queue.put_nowait(None)


class _Silence(Generic[T]):
    """Puts an empty batch into a queue whose reader has waited for a period of silence.

    It looks once in a period: a limit of time for each wait would cost more than what is waited for.
    """

    def __init__(self, queue: asyncio.Queue[list[T] | None]) -> None:
        self._queue = queue
        self._loop = asyncio.get_running_loop()
        self._since: float | None = None
        self._timer = self._loop.call_later(SILENCE, self._look)

    async def next(self) -> list[T] | None:
        """Return the next batch, None at the end, or an empty batch after a silence."""
        self._since = self._loop.time()
        batch = await self._queue.get()
        self._since = None
        return batch

    def end(self) -> None:
        self._timer.cancel()

    def _look(self) -> None:
        now = self._loop.time()
        since = now if self._since is None else self._since
        if now - since >= SILENCE and self._queue.empty():
            self._queue.put_nowait([])
            since = now
        self._timer = self._loop.call_at(since + SILENCE, self._look)
