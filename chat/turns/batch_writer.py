"""Writes beginnings and ends of answers: all that wait at the same time go into one transaction.

Each is a savepoint of its own, so that one which is refused takes nothing of the others with it. Where the database
itself fails, the whole is undone and each is tried alone. What waits is sorted by its conversation, so that two
processes lock conversations in the same order.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from channels.db import database_sync_to_async as in_database
from django.db import DatabaseError, connection, transaction

MOST = 16  # a person waits for the whole transaction, so it stays short

Result = TypeVar("Result")
Work = Callable[[], Any]
Spawn = Callable[[Coroutine[Any, Any, None]], object]


@dataclass(frozen=True, slots=True)
class WriteOutcome:
    """The result of one piece of work, or why there is none."""

    result: Any = None
    error: Exception | None = None


@dataclass(frozen=True, slots=True)
class _QueuedWrite:
    conversation: str
    work: Work
    done: asyncio.Future[WriteOutcome]


class BatchWriter:
    """One for each runner. Nothing waits while nothing is being written."""

    def __init__(self, spawn: Spawn) -> None:
        self._spawn = spawn
        self._waiting: list[_QueuedWrite] = []
        self._writing = False

    async def write(self, conversation: str, work: Callable[[], Result]) -> Result:
        """The result of `work`, once it is committed; it may run twice, the first time for nothing."""
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
                taken, self._waiting = self._waiting[:MOST], self._waiting[MOST:]
                await self._write_together(sorted(taken, key=lambda one: one.conversation))
        finally:
            self._writing = False

    async def _write_together(self, taken: Sequence[_QueuedWrite]) -> None:
        outcomes: Sequence[WriteOutcome] = ()
        try:
            outcomes = await in_database(together)([one.work for one in taken])
        except Exception as error:
            outcomes = [WriteOutcome(error=error)] * len(taken)
        finally:
            for one, outcome in zip(taken, outcomes, strict=False):
                if not one.done.done():
                    one.done.set_result(outcome)
            for one in taken:
                one.done.cancel()  # only where this was cancelled itself: they have no outcome


def together(works: Sequence[Work]) -> list[WriteOutcome]:
    """Do all works in one transaction, or each in its own where that cannot be."""
    if len(works) > 1:
        try:
            with transaction.atomic():
                outcomes = [attempt(work) for work in works]
                raise_lost(outcomes)
                return outcomes
        except DatabaseError:
            pass
    return [attempt(work) for work in works]


def attempt(work: Work) -> WriteOutcome:
    try:
        return WriteOutcome(work())
    except Exception as error:
        return WriteOutcome(error=error)


def raise_lost(outcomes: Sequence[WriteOutcome]) -> None:
    """Raises DatabaseError where the transaction cannot be trusted to keep what was done in it."""
    for outcome in outcomes:
        if isinstance(outcome.error, DatabaseError):
            raise outcome.error
    if connection.needs_rollback:
        raise DatabaseError("the transaction was spoiled")
