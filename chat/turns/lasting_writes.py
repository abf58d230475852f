"""Retries the writes of a running turn until they succeed, so that it survives a failing storage.

The turn waits meanwhile, and its data stays in memory. Stop still ends it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import ParamSpec, TypeVar

from channels.db import database_sync_to_async
from django.db import InterfaceError, OperationalError

from toolsupport.registry import storage

log = logging.getLogger(__name__)

P = ParamSpec("P")
Result = TypeVar("Result")
RETRY = 0.4  # seconds


def in_database(work: Callable[P, Result]) -> Callable[P, Awaitable[Result]]:
    """Return `work` for the database's thread, as a coroutine function that raises no error of the storage."""

    async def lasting(*args: P.args, **kwargs: P.kwargs) -> Result:
        waited = False
        while True:
            try:
                return await database_sync_to_async(work)(*args, **kwargs)
            except (OperationalError, InterfaceError) as error:
                if not storage.state.failed(error):
                    raise
                if not waited:
                    log.warning("a running answer waits until its rows can be written: %s", error)
            waited = True
            await asyncio.sleep(RETRY)

    return lasting
