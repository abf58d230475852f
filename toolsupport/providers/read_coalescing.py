"""Joins reads of many answers: the more of them stream at once, the longer a piece of one gathers before it is read.

A read costs much more than the tokens in it: it passes through the codec, the parser and the frame of a page. With few
answers nothing waits, and the first piece of an answer never does. Reads that are due at about the same time begin
together, so that they need one timer and one round of the event loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from weakref import WeakKeyDictionary

LONGEST = 0.045  # seconds: 22 pieces a second still read as a flow
EACH = 0.0004  # seconds for each answer: the longest pause at 112
SHORTEST = 0.004  # seconds; a shorter pause would cost more than it saves
LARGE = 8 * 1024  # bytes; after a piece of this size more is waiting already
TOGETHER = 0.004  # seconds: reads that are due within this time begin together
MANY = 8  # answers at once, whose end leaves much freed memory

_Waiting = list["asyncio.Future[None]"]


class ReadingPace:
    """The pace of all answers that this process reads."""

    def __init__(self) -> None:
        self.answers = self.most = 0
        self.on_rest: Callable[[], None] = lambda: None  # called when MANY answers at once have all ended
        # By loop and by moment, which is a multiple of TOGETHER.
        self._due: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[int, _Waiting]] = WeakKeyDictionary()

    def pause(self) -> float:
        """Return the seconds to wait before the next read of an answer."""
        pause = min(LONGEST, self.answers * EACH)
        return pause if pause > SHORTEST else 0.0

    async def wait(self, size: int) -> None:
        """Wait until the next piece should be read, after one of this size."""
        pause = self.pause() if size < LARGE else 0.0
        if pause:
            await self._moment(pause)

    def _moment(self, pause: float) -> asyncio.Future[None]:
        """Return a future of the moment that is this pause away, nearly."""
        loop = asyncio.get_running_loop()
        due = self._due.setdefault(loop, {})
        moment = round((loop.time() + pause) / TOGETHER)
        if moment not in due:
            due[moment] = []
            loop.call_at(moment * TOGETHER, _begin, due, moment)
        future = loop.create_future()
        due[moment].append(future)
        return future


def _begin(due: dict[int, _Waiting], moment: int) -> None:
    """Let the reads of a moment begin, but for those that were cancelled."""
    for future in due.pop(moment):
        if not future.done():
            future.set_result(None)


_pace = ReadingPace()


@contextmanager
def reading() -> Iterator[ReadingPace]:
    """Count an answer as long as it is read."""
    _pace.answers += 1
    _pace.most = max(_pace.most, _pace.answers)
    try:
        yield _pace
    finally:
        _pace.answers -= 1
        if _pace.answers == 0:
            most, _pace.most = _pace.most, 0
            if most >= MANY:
                _pace.on_rest()


def on_rest(work: Callable[[], None]) -> None:
    """Call this whenever MANY answers at once have all ended; it replaces the function of before."""
    _pace.on_rest = work
