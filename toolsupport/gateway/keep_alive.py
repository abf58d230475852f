"""Sends keep-alive comments in a stream while its model is silent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Generic, TypeVar

from toolsupport.services import background_jobs

# Proxies close connections that are silent for a minute, some after half a minute.
SILENCE = 10.0

T = TypeVar("T")


class Shortcut(Generic[T]):
    """Sends batches directly, without the reader of a stream, which costs less: `send` returns whether it sent one.

    It is open while the reader waits for a batch, so that the order stays the same.
    """

    def __init__(self) -> None:
        self.send: Callable[[list[T]], bool] | None = None
        self.is_open = False

    def took(self, batch: list[T]) -> bool:
        """Return whether a batch was sent. Its reader does not get it then."""
        return self.is_open and self.send is not None and self.send(batch)


async def with_keep_alive(
    batches: AsyncGenerator[list[T], None], shortcut: Shortcut[T] | None = None
) -> AsyncGenerator[list[T], None]:
    """Yield the same batches, and an empty one after each period of silence. Closing it closes them promptly.

    A separate task waits for the model, because a wait cannot be interrupted without ending it. If this process ends
    that task while it shuts down, the stream ends.
    """
    queue: asyncio.Queue[list[T] | None] = asyncio.Queue(2)  # a reader that is slow slows the model down
    silence, shortcut = _Silence(queue), shortcut or Shortcut()

    def sent(batch: list[T]) -> bool:
        if not queue.empty() or not shortcut.took(batch):
            return False
        silence.end()
        return True

    reading = background_jobs.current().spawn(_read(batches, queue, sent))
    try:
        while not (reading.done() and queue.empty()):
            shortcut.is_open = True
            batch = await queue.get()
            shortcut.is_open = False
            if batch is None:
                break
            yield batch
            silence.end()
        await asyncio.wait([reading])
        if not reading.cancelled() and (error := reading.result()) is not None:
            raise error
    finally:
        shortcut.is_open = False
        silence.timer.cancel()
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)


class _Silence:
    """Puts an empty batch into a queue after each period of silence.

    One timer does it, since a limit of time for each wait costs more. The queue has a place for a batch beside it.
    """

    def __init__(self, queue: asyncio.Queue[list[T] | None]) -> None:
        self._queue, self._loop = queue, asyncio.get_running_loop()
        self.end()
        self._check()

    def end(self) -> None:
        """Begin a new period."""
        self._over = self._loop.time() + SILENCE

    def _check(self) -> None:
        if self._loop.time() >= self._over:
            if self._queue.empty():
                self._queue.put_nowait([])
            self.end()
        self.timer = self._loop.call_at(self._over, self._check)


async def _read(
    batches: AsyncGenerator[list[T], None], queue: asyncio.Queue[list[T] | None], sent: Callable[[list[T]], bool]
) -> Exception | None:
    """Return the error that the answer has to report: as an error of this task it would also be in the log."""
    try:
        async with aclosing(batches):
            async for batch in batches:
                if sent(batch):
                    continue
                if queue.full():
                    await queue.put(batch)
                else:
                    queue.put_nowait(batch)
    except Exception as error:
        return error
    else:
        return None
    finally:
        # Other code may have cancelled this task: the reader of the queue must be notified.
        if not queue.full():
            queue.put_nowait(None)
