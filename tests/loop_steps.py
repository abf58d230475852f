"""Measures the steps of an event loop by processor time, which the load of the machine changes little.

A machine may be slower than the one that the promise is about, so a measured time is divided by how much slower it is.
"""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Awaitable
from typing import TypeVar

LONGEST_STEP = 0.05  # seconds of the processor
Made = TypeVar("Made")


async def with_longest_step(work: Awaitable[Made]) -> tuple[Made, float]:
    """Return the result of some work, and the most processor time that the loop spent in one go meanwhile."""
    stop = asyncio.Event()
    forget_older_objects()
    steps = asyncio.create_task(_longest(stop))
    try:
        made = await work
    finally:
        stop.set()
    return made, await steps / slowness()


def forget_older_objects() -> None:
    """Keep the objects of earlier tests from the garbage collector, to which they may cost a quarter of a second."""
    gc.collect()
    gc.freeze()


def slowness() -> float:
    """Return how much longer than 50 ms a loop takes that takes 50 ms on the machine of the promise; at least 1."""
    began, total = time.thread_time(), 0
    for number in range(1_500_000):
        total += number
    return max(1.0, (time.thread_time() - began) / 0.05)


async def _longest(stop: asyncio.Event) -> float:
    longest = 0.0
    while not stop.is_set():
        began = time.thread_time()
        await asyncio.sleep(0.002)
        longest = max(longest, time.thread_time() - began)
    return longest
