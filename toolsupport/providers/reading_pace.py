"""Joins reads of many answers: the more of them stream at once, the longer a piece of one gathers before it is read.

A read costs much more than the tokens in it: it passes through the codec, the parser and the frame of a page. With few
answers nothing waits, and the first piece of an answer never does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

LONGEST = 0.045  # seconds: 22 pieces a second still read as a flow
EACH = 0.00025  # seconds for each answer: the longest pause at 180
SHORTEST = 0.002  # seconds; a shorter pause would cost more than it saves
LARGE = 8 * 1024  # bytes; after a piece of this size more is waiting already


class ReadingPace:
    """The pace of all answers that this process reads."""

    def __init__(self) -> None:
        self.answers = 0

    def pause(self) -> float:
        """Return the seconds to wait before the next read of an answer."""
        pause = min(LONGEST, self.answers * EACH)
        return pause if pause > SHORTEST else 0.0

    async def wait(self, size: int) -> None:
        """Wait until the next piece should be read, after one of this size."""
        pause = self.pause() if size < LARGE else 0.0
        if pause:
            await asyncio.sleep(pause)


_pace = ReadingPace()


@contextmanager
def reading() -> Iterator[ReadingPace]:
    """Count an answer as long as it is read."""
    _pace.answers += 1
    try:
        yield _pace
    finally:
        _pace.answers -= 1
