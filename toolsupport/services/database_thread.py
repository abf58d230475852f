"""Runs the frequent work of the event loop on the database in asgiref's thread, with less around it.

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
    """Return the result of `work`, which has no context of the caller's. If that is cancelled, `work` still ends.

    Where asgiref would choose another thread, it does: that of a synchronous caller, which may wait in the database's
    thread, or of a request.
    """
    loop = asyncio.get_running_loop()
    lent = getattr(AsyncToSync.executors, "current", None) or loop in AsyncToSync.loop_thread_executors
    if lent or SyncToAsync.thread_sensitive_context.get(None):
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
    # Where the loop was closed meanwhile, its error stays in asgiref's future: nothing waits for it.
    done.get_loop().call_soon_threadsafe(lambda: done.cancelled() or settle())
