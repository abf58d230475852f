"""Batches the writes that begin and end answers: all waiting ones share one transaction.

If one fails after it has begun to write, or the database itself fails, everything is undone and each is tried alone:
that is rare, and a savepoint for each would be two statements more for every answer. Waiting writes are sorted by
conversation, so that two processes lock conversations in the same order.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from django.db import DatabaseError, Error, connection

from toolsupport.registry import row_cache, shared_transaction
from toolsupport.services import database_thread

MOST = 16  # a person waits for the whole transaction, so it stays short

Result = TypeVar("Result")
Work = Callable[[], Any]
Spawn = Callable[[Coroutine[Any, Any, None]], object]


@dataclass(frozen=True, slots=True)
class WriteOutcome:
    """The result of one write, or its error."""

    result: Any = None
    error: Exception | None = None


@dataclass(frozen=True, slots=True)
class _QueuedWrite:
    conversation: str
    work: Work
    done: asyncio.Future[WriteOutcome]


class BatchWriter:
    """The writer of one runner. A write starts at once if no other is in progress.

    `pause` returns the seconds for which writes gather first: with many answers a commit costs more than its writes.
    """

    def __init__(self, spawn: Spawn, pause: Callable[[], float] = lambda: 0.0) -> None:
        self._spawn, self._pause = spawn, pause
        self._waiting: list[_QueuedWrite] = []
        self._writing = False

    async def write(self, conversation: str, work: Callable[[], Result]) -> Result:
        """Return the result of `work` once it is committed; it may run twice if the first attempt is undone."""
        waiting = _QueuedWrite(conversation, work, asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        if not self._writing:
            self._writing = True
            self._spawn(self._write())
        outcome = await waiting.done
        if outcome.error is not None:
            raise outcome.error
        result: Result = outcome.result
        return result

    async def _write(self) -> None:
        try:
            while self._waiting:
                if (pause := self._pause()) and len(self._waiting) < MOST:
                    await asyncio.sleep(pause)
                taken, self._waiting = self._waiting[:MOST], self._waiting[MOST:]
                await self._write_together(sorted(taken, key=lambda one: one.conversation))
        finally:
            self._writing = False

    async def _write_together(self, taken: Sequence[_QueuedWrite]) -> None:
        outcomes: Sequence[WriteOutcome] = ()
        try:
            outcomes = await database_thread.run(lambda: together([one.work for one in taken]))
        except Exception as error:
            outcomes = [WriteOutcome(error=error)] * len(taken)
        finally:
            for one, outcome in zip(taken, outcomes, strict=False):
                if not one.done.done():
                    one.done.set_result(outcome)
            for one in taken:
                one.done.cancel()  # only if this call itself was cancelled: they have no outcome


def together(works: Sequence[Work]) -> list[WriteOutcome]:
    """Do all writes in one transaction, or each in its own if that fails."""
    if len(works) > 1:
        row_cache.settle()
        try:
            with shared_transaction.shared(), row_cache.held():
                outcomes = []
                for work in works:
                    outcomes.append(attempt(work))
                    raise_lost(outcomes[-1])
                return outcomes
        except Error:
            pass
    return [alone(work) for work in works]


def alone(work: Work) -> WriteOutcome:
    with row_cache.held():
        return attempt(work)


def attempt(work: Work) -> WriteOutcome:
    try:
        return WriteOutcome(work())
    except Exception as error:
        return WriteOutcome(error=error)


def raise_lost(outcome: WriteOutcome) -> None:
    """Raise an error of the database if the transaction may have lost its changes."""
    if isinstance(outcome.error, Error):
        raise outcome.error
    if connection.needs_rollback:
        raise DatabaseError("the transaction was spoiled")
