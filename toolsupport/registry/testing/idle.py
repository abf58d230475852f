"""Detects servers that were idle for some time, as far as this site can see."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection

SECONDS = 30.0
GAP = 5.0  # between two checks: a longer gap may hide activity


def never() -> Collection[int]:
    """Treat every server as unused."""
    return ()


class IdleCheck:
    """Called repeatedly for a server, returns True once it has been idle for SECONDS.

    `in_use` returns the servers (ids) that answer a request now.
    """

    def __init__(self, in_use: Callable[[], Collection[int]] = never, clock: Callable[[], float] = time.monotonic):
        self.in_use = in_use
        self._clock = clock
        self._idle: dict[int, tuple[float, float]] = {}

    def __call__(self, server: int) -> bool:
        now = self._clock()
        if server in self.in_use():
            self._idle.pop(server, None)
            return False
        since, looked = self._idle.get(server, (now, now))
        since = since if now - looked <= GAP else now
        self._idle[server] = (since, now)
        return now - since >= SECONDS
