"""Waits for tests of models on behalf of answers: each process reads the rows once for all that wait."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from functools import partial
from typing import Any

from channels.db import database_sync_to_async as in_database

from toolsupport.registry.testing import first_uses

LOOK = 0.25  # seconds between two reads of a test
COMMENT = 5.0  # seconds of silence before a program is shown that its answer is under way

Spawn = Callable[[Coroutine[Any, Any, Any]], "asyncio.Task[Any]"]


class FirstUseWaits:
    """The tests of one process that answers wait for."""

    def __init__(self, spawn: Spawn) -> None:
        self._spawn = spawn
        self._watched: dict[int, asyncio.Task[Any]] = {}

    async def until_settled(self, detection: int) -> AsyncGenerator[None, None]:
        """Yield after each long silence until this test has decided, or takes too long.

        Closing this does not affect other waiting answers or the test.
        """
        task = self._watched.get(detection)
        if task is None:
            task = self._watched[detection] = self._spawn(_settled(detection))
            task.add_done_callback(partial(self._forget, detection))
        while not (await asyncio.wait([task], timeout=COMMENT))[0]:
            yield

    def _forget(self, detection: int, _: asyncio.Task[Any]) -> None:
        self._watched.pop(detection, None)


async def _settled(detection: int) -> None:
    while not await in_database(first_uses.settled)(detection):
        await asyncio.sleep(LOOK)
