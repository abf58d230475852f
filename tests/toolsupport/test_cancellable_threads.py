"""Blocking work ends after a cancellation, and no stuck thread delays the end of a process."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading

import pytest

from tests.databases import ROOT
from toolsupport import cancellable_threads

# A thread that never ends, as one that waits for a silent name server.
STUCK = """
import asyncio, threading
from toolsupport import cancellable_threads
async def main():
    stuck = asyncio.ensure_future(cancellable_threads.run(threading.Event().wait))
    await asyncio.sleep(0)
    stuck.cancel()
asyncio.run(main())
"""


# S3
@pytest.mark.asyncio
async def test_a_cancellation_ends_the_thread_at_its_next_check() -> None:
    began, seen = asyncio.Event(), list[threading.Thread]()
    loop = asyncio.get_running_loop()

    def work() -> None:
        seen.append(threading.current_thread())
        loop.call_soon_threadsafe(began.set)
        while True:
            cancellable_threads.pause(0.001)

    task = asyncio.create_task(cancellable_threads.run(work))
    await began.wait()
    assert cancellable_threads.count() == 1
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.to_thread(seen[0].join, 10)
    assert not seen[0].is_alive() and cancellable_threads.count() == 0


@pytest.mark.asyncio
async def test_work_that_must_end_first_is_waited_for_when_cancelled() -> None:
    began, go_on, ended = asyncio.Event(), threading.Event(), list[str]()
    loop = asyncio.get_running_loop()

    def work() -> None:
        loop.call_soon_threadsafe(began.set)
        go_on.wait(10)
        ended.append("work")

    task = asyncio.create_task(cancellable_threads.run_to_end(work))
    await began.wait()
    task.cancel()
    await asyncio.sleep(0)
    assert not task.done()
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended == ["work"]


@pytest.mark.asyncio
async def test_results_and_errors_come_through() -> None:
    assert await cancellable_threads.run(divmod, 7, 2) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        await cancellable_threads.run_to_end(divmod, 7, 0)
    cancellable_threads.check()  # outside of such a thread nothing is cancelled


def test_a_stuck_thread_does_not_keep_the_process() -> None:
    assert subprocess.run([sys.executable, "-c", STUCK], cwd=ROOT, timeout=30).returncode == 0
