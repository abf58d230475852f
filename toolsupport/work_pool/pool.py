"""Runs tasks in a few worker processes, in turn by person, for async code and for threads.

Each worker process belongs to one thread, which is started on demand, waits for the answer, kills the process when its
time is over, and ends after a while without work. A caller that is cancelled ends its task:
a waiting one is removed, the process of a running one is killed.
"""

from __future__ import annotations

import asyncio
import atexit
import logging
import math
import threading
import time
from collections.abc import Hashable
from concurrent.futures import CancelledError, Future, wait
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from toolsupport.config import environment
from toolsupport.work_pool.fair_queue import FairQueue
from toolsupport.work_pool.types import OverBudget, Task, WorkError, WorkFailed, WorkRefused
from toolsupport.work_pool.worker_process import WorkerProcess

log = logging.getLogger(__name__)

IDLE = 30.0
# Each process takes 14 MiB, so a further one starts only where a task of so many seconds keeps others waiting. One that
# got little of the processor is not long until STUCK: a further process would not get more.
LONG, LONG_AT_WORK, STUCK = 0.5, 0.2, 5.0  # seconds by the clock, of the processor, by the clock
STARTING = 2.0  # what a new process takes before its first task, at most
WAITING_PER_PERSON = 16


@dataclass(eq=False, slots=True)
class Job:
    """A task with its arguments, its owner and its result to come; `process` runs it, and has since `began`."""

    owner: Hashable
    task: Task
    arguments: tuple[Any, ...]
    result: Future[Any] = field(default_factory=Future)
    process: WorkerProcess | None = None
    began: float = math.inf
    cancelled: bool = False

    def is_long(self) -> bool:
        """Return whether it takes long, and its process works."""
        took = time.monotonic() - self.began
        if self.process is None or took <= LONG:
            return False
        return took > STUCK or self.process.at_work() > LONG_AT_WORK


class WorkPool:
    """At most `workers` processes; each ends after `idle` seconds without work."""

    def __init__(self, workers: int, idle: float = IDLE) -> None:
        self._workers, self._idle = workers, idle
        # One place always stays free for other people.
        self._queue: FairQueue[Job] = FairQueue(WAITING_PER_PERSON, max(1, workers - 1))
        self._changed = threading.Condition()
        self._threads = 0
        self._running: set[Job] = set()
        self._closed = False

    async def run(self, owner: Hashable, task: Task, *arguments: Any) -> Any:
        """Return the result of a task. Raises WorkError. A cancellation ends the task."""
        job = self.submit(owner, task, *arguments)
        result = asyncio.wrap_future(job.result)
        try:
            while not (await asyncio.wait({result}, timeout=LONG))[0]:
                self._help(job)
            return await result
        finally:
            result.cancel()
            self.cancel(job)

    def run_blocking(self, owner: Hashable, task: Task, *arguments: Any) -> Any:
        """Do the same in a thread that may wait: neither that of the event loop nor that of the database."""
        job = self.submit(owner, task, *arguments)
        try:
            while not wait([job.result], LONG).done:
                self._help(job)
            return job.result.result()
        except CancelledError:
            raise WorkRefused("the process is stopping") from None
        finally:
            self.cancel(job)

    def submit(self, owner: Hashable, task: Task, *arguments: Any) -> Job:
        """Start a task, or let it wait. Raises WorkRefused."""
        job = Job(owner, task, arguments)
        with self._changed:
            if self._closed or not self._queue.put(owner, job):
                raise WorkRefused("too much work is waiting")
            self._start(1)
            self._changed.notify()
        return job

    def _help(self, job: Job) -> None:
        """Start a further process if this job waits for one that takes long."""
        with self._changed:
            if job not in self._running and any(each.is_long() for each in self._running):
                self._start(self._workers)

    def _start(self, most: int) -> None:
        """Start a thread if tasks wait for one, up to so many."""
        with self._changed:
            if len(self._queue) > self._threads - len(self._running) and self._threads < most and not self._closed:
                self._threads += 1
                threading.Thread(target=self._serve, name="work-pool", daemon=True).start()

    def wake(self, task: Task, *arguments: Any) -> None:
        """Start a process with a cheap task if none is there. Raises WorkRefused."""
        if not self._threads:
            self.submit("", task, *arguments)

    def cancel(self, job: Job) -> None:
        """End a job; nothing happens if it has ended."""
        with self._changed:
            if not job.result.cancel() and job in self._running:
                self._interrupt(job)

    def close(self) -> None:
        """End all work, and accept none any more."""
        with self._changed:
            self._closed = True
            for job in self._queue.clear():
                job.result.cancel()
            for job in self._running:
                self._interrupt(job)
            self._changed.notify_all()

    def _interrupt(self, job: Job) -> None:
        job.cancelled = True
        if job.process is not None:
            job.process.interrupt()

    def pids(self) -> list[int]:
        """Return the processes that run a job now."""
        with self._changed:
            return [job.process.pid for job in self._running if job.process is not None]

    def _serve(self) -> None:
        """Run jobs in one process after the other until there are none."""
        process: WorkerProcess | None = None
        try:
            while (job := self._next()) is not None:
                process = self._run(job, process)
        finally:
            if process is not None:
                process.kill()

    def _next(self) -> Job | None:
        """Wait for a job; None if none came for a while, or the pool is closed."""
        idle = False
        with self._changed:
            while not self._closed:
                job = self._queue.take()
                if job is not None:
                    self._running.add(job)
                    return job
                # Checked again after the wait: a job may have arrived just when it ended.
                if idle:
                    break
                idle = not self._changed.wait(self._idle)
            self._threads -= 1
            return None

    def _run(self, job: Job, process: WorkerProcess | None) -> WorkerProcess | None:
        """Run a job; return the process for the next one, which may have ended: its socket is still to be closed."""
        wanted = job.result.set_running_or_notify_cancel()
        result: Any = None
        error: WorkError | None = None
        try:
            if wanted:
                process = usable(process)
                self._assign(job, process)
                result = process.ask(job.task, job.arguments)
        except WorkError as caught:
            error = caught
        except Exception as caught:
            log.exception("could not run %s", job.task.function)
            error = WorkFailed(str(caught))
        self._release(job)
        if process is not None and job.cancelled:
            process.kill()
        if wanted:
            self._give(job, result, error)
        return process

    def _assign(self, job: Job, process: WorkerProcess) -> None:
        with self._changed:
            job.process = process
            job.began = time.monotonic() + (0.0 if process.used else STARTING)
            if job.cancelled:
                process.interrupt()

    def _release(self, job: Job) -> None:
        """End a job for the pool: from here on its process is not killed because of it."""
        with self._changed:
            self._running.discard(job)
            self._queue.done(job.owner)
            # Another job of this person may run now.
            self._changed.notify()

    def _give(self, job: Job, result: Any, error: WorkError | None) -> None:
        if error is None:
            job.result.set_result(result)
            return
        if isinstance(error, OverBudget) and not job.cancelled:
            log.info("work was stopped: %s", error)
        elif isinstance(error, WorkFailed):
            log.error("work failed: %s", error)
        job.result.set_exception(error)


def usable(process: WorkerProcess | None) -> WorkerProcess:
    """Return this process, or a new one if it has ended meanwhile."""
    if process is not None and process.alive:
        return process
    if process is not None:
        process.kill()
    return WorkerProcess()


@cache
def work_pool() -> WorkPool:
    """Return the pool of this process."""
    pool = WorkPool(int(environment.read()["TOOLSUPPORT_WORK_PROCESSES"]))
    atexit.register(pool.close)
    return pool
