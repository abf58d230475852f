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
REFERENCE = 1_500_000  # rounds of a loop that take 50 ms on the machine of the promise
SAMPLE, EVERY = REFERENCE // 10, 8
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
    return made, await steps


def forget_older_objects() -> None:
    """Keep the objects of earlier tests from the garbage collector, to which they may cost a quarter of a second."""
    gc.collect()
    gc.freeze()


def slowness(rounds: int = REFERENCE) -> float:
    """Return how much longer a loop takes than on the machine of the promise; at least 1."""
    began, total = time.thread_time(), 0
    for number in range(rounds):
        total += number
    return max(1.0, (time.thread_time() - began) / (0.05 * rounds / REFERENCE))


class StepTimes:
    """Short times of the processor, one after another, and how slow the machine was between them.

    Its speed halves and doubles within a second, as other work begins and ends on the same cores: what one measurement
    after all of them finds is not what it was meanwhile.
    """

    def __init__(self, sample: Callable[[], float] = lambda: slowness(SAMPLE)) -> None:
        self.times: list[float] = []
        self._sample, self._slow = sample, [sample()]

    def add(self, seconds: float) -> None:
        self.times.append(seconds)
        if len(self.times) % EVERY == 0:
            self._slow.append(self._sample())

    def longest(self) -> float:
        """Return the longest of them on the machine of the promise; a tenth of the samples may be a stolen moment."""
        usual = sorted(self._slow)[len(self._slow) * 9 // 10]
        return max(self.times, default=0.0) / usual


async def _longest(stop: asyncio.Event) -> float:
    steps = StepTimes()
    while not stop.is_set():
        began = time.thread_time()
        await asyncio.sleep(0.002)
        steps.add(time.thread_time() - began)
    return steps.longest()
