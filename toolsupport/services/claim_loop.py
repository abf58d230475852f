"""Claims rows of background work for one process, and runs each in a task of its own."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import partial
from typing import Any, ClassVar

log = logging.getLogger(__name__)

Spawn = Callable[[Coroutine[Any, Any, Any]], "asyncio.Task[Any]"]
Work = Coroutine[Any, Any, None]


class ClaimLoop:
    """The worker of one kind of rows, one for each process. Call `look` after queueing a row in this process.

    A subclass claims (`_next`) and releases (`_release`) its rows. `own` is the row for which this process was
    started, None if it works on all of them. `running` has the tasks by the id of their row.
    """

    what: ClassVar[str]  # the rows, as the log names them
    every: ClassVar[float] = 1.0  # seconds between two looks for queued rows
    most: ClassVar[int] = 8  # rows at once in one process; how many of one server are claimed is decided by their table

    def __init__(self, owner: str, spawn: Spawn) -> None:
        self.owner = owner
        self.own: int | None = None
        self.running: dict[int, asyncio.Task[Any]] = {}
        self._spawn = spawn
        self._served = False
        self._wake = asyncio.Event()

    async def _next(self) -> tuple[int, Work] | None:
        """Claim a row; return its id with the work on it, None if no row waits."""
        raise NotImplementedError

    async def _release(self) -> None:
        """Release the rows of this process."""
        raise NotImplementedError

    @property
    def busy(self) -> bool:
        """Return whether this process works on a row now."""
        return bool(self.running)

    def look(self) -> None:
        """Look for a queued row now, without waiting for the next interval."""
        self._wake.set()

    async def serve(self) -> None:
        """Claim and run until cancelled; call `leave` afterwards."""
        self._served = True
        while True:
            self._wake.clear()
            try:
                await self._claim()
            except Exception:
                log.exception("could not look for queued %s, retrying", self.what)
            with suppress(TimeoutError):
                async with asyncio.timeout(self.every):
                    await self._wake.wait()

    async def leave(self) -> None:
        """Release everything after cancellation, so that no row waits for an expired lease.

        It uses the rows, not the tasks: a claim cancelled half-way may have taken a row that no task works on.
        """
        if self._served:
            try:
                await self._release()
            except Exception:
                log.exception("could not release the %s of this process; their leases will expire", self.what)

    async def _claim(self) -> None:
        while len(self.running) < self.most and (found := await self._next()) is not None:
            row, work = found
            task = self.running[row] = self._spawn(work)
            task.add_done_callback(partial(self._done, row))

    def _done(self, row: int, task: asyncio.Task[Any]) -> None:
        if self.running.get(row) is task:  # a lost row may have been claimed again
            del self.running[row]
        self._wake.set()
