"""Work on the database leaves the event loop, and its result or error comes back."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from asgiref.sync import ThreadSensitiveContext, async_to_sync, sync_to_async
from django.db.backends.base.base import BaseDatabaseWrapper

from toolsupport.services import database_thread

pytestmark = pytest.mark.django_db


async def thread() -> int:
    return await database_thread.run(threading.get_ident)


@pytest.mark.asyncio
async def test_work_runs_in_the_thread_that_asgiref_uses() -> None:
    assert await thread() == await sync_to_async(threading.get_ident)() != threading.get_ident()


def test_work_of_a_synchronous_caller_runs_in_its_thread() -> None:
    """The caller waits in this thread, which may be the database's: work that was queued there would never run."""
    assert async_to_sync(thread)() == threading.get_ident()


@pytest.mark.asyncio
async def test_a_request_uses_its_own_thread() -> None:
    with ThreadPoolExecutor(1) as own:
        of_request = own.submit(threading.get_ident).result()
        async with ThreadSensitiveContext(executor=own):
            assert await thread() == of_request


class Interrupted(BaseException):
    """Such as SystemExit, which no caller handles."""


@pytest.mark.asyncio
@pytest.mark.parametrize("kind", [ValueError, Interrupted])
async def test_an_error_reaches_the_caller(kind: type[BaseException]) -> None:
    def fails() -> None:
        raise kind("of the work")

    with pytest.raises(kind, match="of the work"):
        async with asyncio.timeout(10):
            await database_thread.run(fails)


@pytest.mark.asyncio
async def test_work_of_a_cancelled_caller_ends() -> None:
    begun, ended, go_on = threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        go_on.wait(10)
        ended.set()

    caller = asyncio.ensure_future(database_thread.run(work))
    assert await asyncio.to_thread(begun.wait, 10)
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    go_on.set()
    assert await asyncio.to_thread(ended.wait, 10)


@pytest.mark.asyncio
async def test_a_connection_that_broke_is_replaced_before_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    looked = "close_if_unusable_or_obsolete"
    monkeypatch.setattr(BaseDatabaseWrapper, looked, lambda self: done.append("looked at the connection"))
    await database_thread.run(lambda: done.append("worked"))
    assert done == ["looked at the connection", "worked"]
