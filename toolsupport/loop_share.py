"""Shares the event loop among people: work on their texts takes turns, a few milliseconds in each round of the loop.

An event of one person, such as a ping, passes through about six rounds of the loop. Where each of eight answers does 50
ms of work in each round, a ping takes 2.4 s, although no answer works for long. So costly work is done in steps:

    async with loop_share.step() as step:
        ...  # some milliseconds of work; `step.over()` returns whether another step should continue

- All steps of one round share ROUND seconds of processor time; the rest wait for a later round, in turn by person.
- A step that takes longer is followed by a pause of the same length, in which everything else continues.
- What is awaited inside a step ends it, if that has to wait at all.
- Where no step waits, a step begins at once and costs two microseconds more: the processor time of a thread is a system
  call, so it is read once in a round, and again only for a step that took long by the clock.

Work that may take longer than a few steps and cannot be cut is done in a thread: `await loop_share.apart(work, size)`.

The person is that of the context, and tasks of the supervisor inherit it.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Hashable
from contextvars import ContextVar
from typing import TypeVar
from weakref import WeakKeyDictionary

from toolsupport.work_pool.fair_queue import FairQueue

ROUND = 0.005
MOST_STEPS = 16  # that are let in for one round, however short they were so far
SHORTEST_PAUSE = 0.001
SHORT = 0.0005  # seconds: a step that took no longer by the clock counts as that
BRIEF = 0.0001  # seconds: work without a step that took no longer is not counted
# Work on so many characters is done in a step; on more it could take half a second, for which all others would wait.
LONG = 64 * 1024
Given = TypeVar("Given")
Made = TypeVar("Made")

person: ContextVar[Hashable] = ContextVar("person", default=None)


class LoopShare:
    """The steps of one event loop.

    `clock` returns the processor time of the loop's thread, `now` the time, both in seconds.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        clock: Callable[[], float] = time.thread_time,
        now: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.loop, self._clock, self.now = loop, clock, now
        self._at_round = 0.0
        self._waiting: FairQueue[tuple[Hashable, asyncio.Future[None]]] = FairQueue(sys.maxsize, sys.maxsize)
        self._spent = 0.0
        self._typical = ROUND
        self._scheduled = False
        self.round = 0

    def is_free(self) -> bool:
        """Return whether a step may begin at once."""
        if not self._scheduled:
            self._schedule()
        return not self.is_taken()

    def is_taken(self) -> bool:
        """Return whether other work must wait for a later round. Nothing was done in a round that is not scheduled."""
        return self._scheduled and (self._spent >= ROUND or bool(self._waiting))

    async def wait(self) -> None:
        """Wait until the next step may begin, where it may not at once."""
        owner, turn = person.get(), self.loop.create_future()
        self._waiting.put(owner, (owner, turn))
        await turn
        self._schedule()

    def spend(self, seconds: float) -> None:
        """Count a step that has ended."""
        self._spent += seconds
        self._typical += (seconds - self._typical) / 8

    def count(self, began: float) -> None:
        """Count work without a step that began then, if it took long by the clock."""
        if self.now() - began > BRIEF:
            seconds = self.since(began)
            self._schedule()
            self.spend(seconds)

    def _schedule(self) -> None:
        if not self._scheduled:
            self._scheduled, self._at_round = True, self._clock()
            self.loop.call_soon(self._next_round)

    def since(self, began: float) -> float:
        """Return the processor time since then: at most the time that passed, and what this round took so far."""
        passed = self.now() - began
        return passed if passed < SHORT else min(passed, self._clock() - self._at_round)

    def _next_round(self) -> None:
        """Let the next steps in: as many as usually fit into a round, after a pause if the last ones took too long."""
        over, self._spent, self.round = self._spent - ROUND, 0.0, self.round + 1
        if over > SHORTEST_PAUSE:
            self._spent = ROUND
            self.loop.call_later(over, self._next_round)
            return
        self._scheduled = False
        if not self._waiting:
            return
        fitting = int(ROUND / self._typical) if self._typical > 0 else MOST_STEPS
        for _ in range(max(1, min(MOST_STEPS, fitting))):
            self._let_in()
        if self._waiting:
            self._schedule()

    def _let_in(self) -> None:
        while (found := self._waiting.take()) is not None:
            owner, turn = found
            self._waiting.done(owner)
            if not turn.done():  # its task was cancelled
                turn.set_result(None)
                return


class LoopStep:
    """One step. It does not count if it had to wait: other work was done meanwhile."""

    __slots__ = ("_began", "_round", "_share")

    def __init__(self, share: LoopShare) -> None:
        self._share = share

    async def __aenter__(self) -> LoopStep:
        if not self._share.is_free():
            await self._share.wait()
        self._round, self._began = self._share.round, self._share.now()
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._round == self._share.round:
            self._share.spend(self._share.since(self._began))

    def over(self) -> bool:
        """Return whether the rest of the work should wait for another step."""
        return self._share.since(self._began) > ROUND / 2


_shares: WeakKeyDictionary[asyncio.AbstractEventLoop, LoopShare] = WeakKeyDictionary()
_latest: LoopShare | None = None  # the one looked up last: a process that serves the site has one loop


def here() -> LoopShare:
    """Return the steps of the running loop."""
    global _latest
    loop, share = asyncio.get_running_loop(), _latest
    if share is None or share.loop is not loop:
        share = _latest = _shares.get(loop) or _shares.setdefault(loop, LoopShare(loop))
    return share


def step() -> LoopStep:
    """Return a step of the running loop."""
    return LoopStep(here())


async def brief(work: Callable[[Given], Made], given: Given) -> Made:
    """Do some microseconds of work: in a step if others wait, else at once. It counts only if it took long.

    Counting a step takes longer than reading a short part of a reply.
    """
    share = here()
    if share.is_taken():
        async with LoopStep(share):
            return work(given)
    began = share.now()
    try:
        return work(given)
    finally:
        share.count(began)


async def apart(work: Callable[[], Made], size: int) -> Made:
    """Do work on so many characters: in a step, or in a thread if they are LONG."""
    if size > LONG:
        return await asyncio.to_thread(work)
    async with step():
        return work()
