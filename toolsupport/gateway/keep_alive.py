"""Lets a stream say that it still lives while its model is silent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TypeVar

from toolsupport.services import background_jobs

# Proxies on the way give up on what is silent for a minute, some after half of one.
SILENCE = 10.0

T = TypeVar("T")


async def patiently(batches: AsyncGenerator[list[T], None]) -> AsyncGenerator[list[T], None]:
    """The same batches, with an empty one whenever nothing came for a while. Closing it closes them within a moment.

    What waits for the model is a task of its own: waiting could not be given up for a moment without ending it.
    That task may be ended by this process, which stops: then there is no more.
    """
    queue: asyncio.Queue[list[T] | None] = asyncio.Queue(1)  # a reader that is slow slows the model down
    reading = background_jobs.current().spawn(_read(batches, queue))
    try:
        while not (reading.done() and queue.empty()):
            batch = await _next(queue)
            if batch is None:
                break
            yield batch
        await asyncio.wait([reading])
        if not reading.cancelled():
            reading.result()
    finally:
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)


async def _read(batches: AsyncGenerator[list[T], None], queue: asyncio.Queue[list[T] | None]) -> None:
    try:
        async with aclosing(batches):
            async for batch in batches:
                await queue.put(batch)
    finally:
        # Somebody else may have ended this task: whoever waits for the queue has to hear of it.
        if not queue.full():
            queue.put_nowait(None)


async def _next(queue: asyncio.Queue[list[T] | None]) -> list[T] | None:
    """What came, None at the end, or an empty batch for the silence."""
    try:
        async with asyncio.timeout(SILENCE):
            return await queue.get()
    except TimeoutError:
        return []
