"""Runs blocking work in threads that end after a cancellation and never delay the end of the process.

A thread cannot be interrupted from outside. Work that can take long therefore calls `check` in its loops: after a
cancellation it raises WorkCancelled there. The threads are daemons, because the interpreter waits for all others when
it ends. Each call has a thread of its own, so that one that is stuck in the system keeps no place from others.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from contextvars import ContextVar, copy_context
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
Result = TypeVar("Result")

PREFIX = "work "
_cancelled: ContextVar[threading.Event | None] = ContextVar("cancelled", default=None)


class WorkCancelled(Exception):
    """The work was cancelled; its thread ends with this."""


async def run(work: Callable[P, Result], *args: P.args, **kwargs: P.kwargs) -> Result:
    """Return the result of `work`. A cancellation is passed on to the work and does not wait for its end."""
    done, cancelled = _start(lambda: work(*args, **kwargs), work)
    try:
        return await done
    finally:
        cancelled.set()


async def run_to_end(work: Callable[P, Result], *args: P.args, **kwargs: P.kwargs) -> Result:
    """Like `run`, but a cancellation is raised only after the thread has ended: what follows has the files alone."""
    done, cancelled = _start(lambda: work(*args, **kwargs), work)
    try:
        return await asyncio.shield(done)
    finally:
        cancelled.set()
        await asyncio.wait([done])


def check() -> None:
    """Raise WorkCancelled if the work of this thread was cancelled. Outside of `run` it does nothing."""
    cancelled = _cancelled.get()
    if cancelled is not None and cancelled.is_set():
        raise WorkCancelled


def pause(seconds: float) -> None:
    """Wait; raises WorkCancelled at once if the work of this thread is cancelled."""
    (_cancelled.get() or threading.Event()).wait(seconds)
    check()


def count() -> int:
    """Return the number of threads that work now."""
    return sum(thread.name.startswith(PREFIX) for thread in threading.enumerate())


def _start(work: Callable[[], Result], named: Callable[..., object]) -> tuple[asyncio.Future[Result], threading.Event]:
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Result] = loop.create_future()
    cancelled = threading.Event()

    def settle(result: Result | None, error: BaseException | None) -> None:
        if done.done():
            return
        if error is None:
            done.set_result(result)  # type: ignore[arg-type]
        else:
            done.set_exception(error)
            done.exception()  # after a cancellation nothing else reads it

    def perform() -> None:
        _cancelled.set(cancelled)
        result, error = None, None
        try:
            result = work()
        except BaseException as raised:
            error = raised
        with suppress(RuntimeError):  # the loop is closed already
            loop.call_soon_threadsafe(settle, result, error)

    name = PREFIX + getattr(named, "__qualname__", type(named).__name__)
    threading.Thread(target=copy_context().run, args=(perform,), name=name, daemon=True).start()
    return done, cancelled
