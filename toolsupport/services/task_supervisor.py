"""Supervises tasks that run beside requests: none is lost, errors are logged, all end together."""

from __future__ import annotations

import asyncio
import contextvars
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from toolsupport import loop_share
from toolsupport.config import traces

log = logging.getLogger(__name__)


async def every(seconds: float, work: Callable[[], Awaitable[None]], purpose: str) -> None:
    """Run `work` after each pause. Errors are logged with its purpose ("check keys"). Ends only by being cancelled."""
    while True:
        await asyncio.sleep(seconds)
        try:
            await work()
        except Exception:
            log.exception("could not %s, retrying in %g s", purpose, seconds)


class TaskSupervisor:
    """`of` names the owner in the log. Errors in `expected` are handled by the task's caller."""

    def __init__(self, of: str, expected: tuple[type[Exception], ...] = ()) -> None:
        self._of = of
        self._expected = expected
        self._tasks: set[asyncio.Task[Any]] = set()

    def spawn(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Start a task with a new context: a request's database handles must not leak into it.

        Its work counts for the person of the caller's context, and is a part of the caller's span.
        """
        context = contextvars.Context()
        context.run(loop_share.person.set, loop_share.person.get())
        context.run(traces.enter, traces.current())
        task = asyncio.get_running_loop().create_task(work, context=context)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        # Often nothing awaits the task: without this line its error would be in no log.
        if not task.cancelled() and (error := task.exception()) is not None and not isinstance(error, self._expected):
            log.error("task of %s failed", self._of, exc_info=error)

    async def stop(self) -> None:
        """Cancel all tasks except the caller's, and wait until they have ended."""
        others = [task for task in self._tasks if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
