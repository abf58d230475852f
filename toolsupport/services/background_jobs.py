"""Runs the periodic jobs of this process, supervised."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from typing import Any

from channels.db import database_sync_to_async as in_database
from django.conf import settings
from django.utils import timezone

from toolsupport.registry import leases
from toolsupport.registry.knowledge import expiries
from toolsupport.registry.people import known_devices, quota_use, security_events, session_store, sign_in_limits
from toolsupport.services import refresh, serve_lock
from toolsupport.services.claim_loop import ClaimLoop
from toolsupport.services.detection_worker import DetectionWorker
from toolsupport.services.exam_worker import ExamWorker
from toolsupport.services.first_use_waits import FirstUseWaits
from toolsupport.services.pull_worker import PullWorker
from toolsupport.services.task_supervisor import TaskSupervisor

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class BackgroundJob:
    """A job that runs at start, then every `minutes` (0: never again), in one worker at a time if `alone`.

    A worker that runs alone writes twice for each run, after which every kept row is read again.
    """

    name: str
    run: Callable[[], Awaitable[object]]
    at_start: bool
    minutes: float
    alone: bool = True


def jobs() -> tuple[BackgroundJob, ...]:
    """Return the periodic jobs, as configured by the environment."""
    minutes = settings.ENV["TOOLSUPPORT_REFRESH_MINUTES"]
    return (
        BackgroundJob("servers", refresh.ensure_servers, at_start=True, minutes=0),
        BackgroundJob("refresh at start", refresh.refresh_at_start, at_start=True, minutes=0),
        BackgroundJob("changed models", refresh.mark_changed, at_start=True, minutes=0),
        BackgroundJob("expired rows", in_database(_clear_expired), at_start=True, minutes=60),
        BackgroundJob("expired overrides", in_database(_withdraw_expired), at_start=True, minutes=1, alone=False),
        BackgroundJob("refresh", refresh.refresh_all, at_start=False, minutes=minutes),
    )


def _withdraw_expired() -> None:
    expiries.withdraw_expired(timezone.now())


def _clear_expired() -> None:
    """Delete rows that pile up: expired sessions, counted attempts, unused devices, old events and uses of quotas."""
    session_store.clear_expired()
    sign_in_limits.clear_expired()
    known_devices.clear_expired()
    security_events.clear_old()
    quota_use.clear_old()


class JobRunner:
    """Runs the jobs of one process; owns its tasks, which end with `stop`. `kind` begins the id of a command."""

    def __init__(self, kind: str = "") -> None:
        self.owner = f"{kind}{uuid.uuid4().hex}"
        self.supervisor = TaskSupervisor("the background jobs")
        self.tester = DetectionWorker(self.owner, self.spawn)
        self.puller = PullWorker(self.owner, self.spawn)
        self.examiner = ExamWorker(self.owner, self.spawn)
        self.examiner.idle = self.tester.idle
        self.first_uses = FirstUseWaits(self.spawn)
        self._added: dict[type[ClaimLoop], ClaimLoop] = {}

    def start(self) -> None:
        """Start the periodic jobs and the queued tests; needs the running event loop."""
        self.spawn(self._begin())
        self.spawn(self.tester.serve())
        self.spawn(self.puller.serve())
        self.spawn(self.examiner.serve())
        self.spawn(refresh.keep_asking())

    def add(self, kind: type[ClaimLoop]) -> None:
        """Start a worker of another package."""
        self._added[kind] = worker = kind(self.owner, self.spawn)
        self.spawn(worker.serve())

    def repeat(self, job: BackgroundJob) -> None:
        """Start a periodic job of another package."""
        self.spawn(self._first_and_again(job))

    def look(self, kind: type[ClaimLoop]) -> None:
        """Make an added worker look for a queued row now."""
        if kind in self._added:
            self._added[kind].look()

    def spawn(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Start a supervised task; it ends with `stop`."""
        return self.supervisor.spawn(work)

    async def stop(self) -> None:
        """Cancel all tasks except the caller's."""
        await self.supervisor.stop()
        await self.tester.leave()
        await self.puller.leave()
        await self.examiner.leave()
        for worker in self._added.values():
            await worker.leave()

    async def _begin(self) -> None:
        """Run the jobs due at start, in the order of the table, then each at its own interval."""
        if serve_lock.alone():
            abandon = in_database(partial(leases.abandon, self.owner))
            await self._once(BackgroundJob("abandoned work", abandon, at_start=True, minutes=0))
        for job in jobs():
            if job.at_start:
                await self._once(job)
            self.spawn(self._repeat(job))

    async def _first_and_again(self, job: BackgroundJob) -> None:
        if job.at_start:
            await self._once(job)
        await self._repeat(job)

    async def _repeat(self, job: BackgroundJob) -> None:
        while job.minutes:
            await asyncio.sleep(job.minutes * 60)
            await self._once(job)

    async def _once(self, job: BackgroundJob) -> None:
        """Run a job unless it runs alone and another worker runs it now.

        A failure is logged, and the job is tried again later.
        """
        try:
            await (self._alone(job) if job.alone else job.run())
        except Exception:
            # A failed release is logged too: otherwise it would end the job in this process for good.
            log.exception("job %s failed, retrying at its next time", job.name)

    async def _alone(self, job: BackgroundJob) -> None:
        try:
            if await in_database(leases.take)(job.name, self.owner):
                await job.run()
        finally:
            await in_database(leases.release)(job.name, self.owner)


_work: JobRunner | None = None


def current() -> JobRunner:
    """Return this process's runner, created at the first call."""
    global _work
    if _work is None:
        _work = JobRunner()
    return _work


async def shut_down() -> None:
    """Stop the periodic jobs of this process."""
    global _work
    if _work is not None:
        await _work.stop()
        _work = None
