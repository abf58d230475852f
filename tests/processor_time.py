"""Measures work and the steps of an event loop by processor time, which the load of the machine changes little.

A machine may be slower than the one that the promise is about, so a measured time is divided by how much slower it is.
"""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

LONGEST_STEP = 0.05  # seconds of the processor
Made = TypeVar("Made")


@contextmanager
def must_cost_at_most(seconds: float, clock: Callable[[], float] = time.thread_time) -> Iterator[None]:
    """Fail if the work inside takes more processor time: of this thread, or as the clock counts it."""
    began = clock()
    yield
    spent = clock() - began
    assert within(spent, seconds), f"{spent:.3f} s of the processor, {seconds} s are permitted"


def within(spent: float, seconds: float) -> bool:
    """Whether a measured time would be at most so many seconds on the machine of the promise."""
    return spent <= seconds or spent / slowness() <= seconds


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
