"""Runs frequent work on the database in asgiref's thread, with fewer steps for each call.

Each answer waits for this thread before its first token. Channels' `database_sync_to_async` adds a copy of the context,
two futures and three rounds of the loop to each call, and looks at all connections twice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeVar

from asgiref.sync import AsyncToSync, SyncToAsync, sync_to_async
from django.db import connection

Result = TypeVar("Result")


def run(work: Callable[[], Result]) -> Awaitable[Result]:
    """Return the result of `work`, which runs without the caller's context, and to its end if the caller is cancelled.

    Where asgiref would choose another thread, that one is used: the thread of a synchronous caller, which may be the
    database's own, or the thread of a request.
    """
    loop = asyncio.get_running_loop()
    of_caller = getattr(AsyncToSync.executors, "current", None) or loop in AsyncToSync.loop_thread_executors
    if of_caller or SyncToAsync.thread_sensitive_context.get(None):
        return sync_to_async(_connected)(work)
    done: asyncio.Future[Result] = loop.create_future()
    SyncToAsync.single_thread_executor.submit(_settle, done, work)
    return done


def _connected(work: Callable[[], Result]) -> Result:
    connection.close_if_unusable_or_obsolete()
    return work()


def _settle(done: asyncio.Future[Result], work: Callable[[], Result]) -> None:
    try:
        settle = partial(done.set_result, _connected(work))
    except BaseException as error:
        settle = partial(done.set_exception, error)
    # If the loop was closed meanwhile, this raises: the error stays in the executor's future, which nothing reads.
    done.get_loop().call_soon_threadsafe(lambda: done.cancelled() or settle())
