"""The heartbeat of a test survives a database that does not answer; no test ends without a verdict and a reason."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
import pytest_asyncio
from channels.db import database_sync_to_async as in_database
from django.core.management import call_command
from django.db import DataError, InterfaceError, OperationalError
from django.db.models.functions import Now
from django.utils import timezone

from tests.factories import ModelProfileFactory, OverrideFactory, ServerFactory
from toolsupport import providers
from toolsupport.config import application_paths, environment
from toolsupport.core.verdicts import TrialOutcome, Verdict
from toolsupport.detection import ProbeReply, ProbeRunner
from toolsupport.detection.probe_runner import ProbeRequest
from toolsupport.models import Detection, Lease, Override
from toolsupport.registry import leases
from toolsupport.registry.testing import detection_reports, detections
from toolsupport.registry.testing.detection_reports import ShownDetection
from toolsupport.registry.testing.detections import DetectionRequest
from toolsupport.services import background_jobs, detection_worker
from toolsupport.services.background_jobs import BackgroundJob, JobRunner

pytestmark = pytest.mark.django_db(transaction=True)
LOCKED = OperationalError("database is locked")
FOUND = Verdict("native", values={"tools": True}, reason="It called.")
ORDINARY = {name: getattr(detections, name) for name in ("renew", "add_trial", "conclude", "claim")}


class Failing:
    """A function of the registry that fails while `errors` last, or for as long as `ever` is set."""

    def __init__(self, name: str, *errors: Exception) -> None:
        self.ordinary, self.errors = ORDINARY[name], list(errors)
        self.ever: Exception | None = None
        self.calls = 0

    def __call__(self, *given: Any) -> Any:
        self.calls += 1
        if self.ever is not None:
            raise self.ever
        if self.errors:
            raise self.errors.pop(0)
        return self.ordinary(*given)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(detection_worker, "HEARTBEAT", 0.02)
    monkeypatch.setattr(detection_worker, "RETRY", 0.01)
    monkeypatch.setattr(detection_worker.DetectionWorker, "every", 0.02)


class Held:
    """A test of a model that goes on until it is let go, and then keeps a trial."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.began, self.go = asyncio.Event(), asyncio.Event()
        monkeypatch.setattr(detection_worker, "examine", self.examine)
        self.ended = ""

    async def examine(self, runner: ProbeRunner, *_: Any) -> Verdict:
        self.began.set()
        try:
            await self.go.wait()
            await runner.note(ProbeRequest(()), ProbeReply(), TrialOutcome("called", "right"))
        except asyncio.CancelledError:
            self.ended = "cancelled"
            raise
        self.ended = "whole"
        return FOUND


@pytest_asyncio.fixture
async def worker() -> AsyncIterator[JobRunner]:
    made = JobRunner()
    made.spawn(made.tester.serve())
    yield made
    await made.stop()
    await providers.close()


@in_database
def opened() -> int:
    profile = ModelProfileFactory(server=ServerFactory(base_url="http://127.0.0.1:1"))
    return detections.open_test(DetectionRequest(profile.pk, "page")).id


async def until(condition: Callable[[], Any]) -> None:
    async with asyncio.timeout(20):
        while not condition():
            await asyncio.sleep(0.005)


async def over(detection: int) -> ShownDetection:
    async with asyncio.timeout(20):
        while True:
            found: ShownDetection = await in_database(detection_reports.shown)(detection)
            if not found.open:
                return found
            await asyncio.sleep(0.01)


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Held:
    return Held(monkeypatch)


def failing(monkeypatch: pytest.MonkeyPatch, name: str, *errors: Exception) -> Failing:
    made = Failing(name, *errors)
    monkeypatch.setattr(detections, name, made)
    return made


# D6: one error of the database ended the heartbeat, and the test was interrupted while its own process was alive.
@pytest.mark.asyncio
@pytest.mark.parametrize(
    "error", [LOCKED, InterfaceError("closed"), DataError("odd")], ids=lambda one: type(one).__name__
)
async def test_a_heartbeat_survives_errors_of_the_database(
    worker: JobRunner, held: Held, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    renew = failing(monkeypatch, "renew")
    test = await opened()
    await asyncio.wait_for(held.began.wait(), 10)
    renew.errors = [error] * 3
    await until(lambda: not renew.errors)
    calls = renew.calls
    # It beats on: the lease is renewed after the errors as it was before.
    await until(lambda: renew.calls > calls + 2)
    assert (await in_database(Detection.objects.get)()).status == "running"
    held.go.set()
    done = await over(test)
    assert (done.status, done.verdict, done.reason) == ("done", "native", "It called.")


@pytest.mark.asyncio
@pytest.mark.parametrize("name", ["add_trial", "conclude"])
async def test_what_a_test_writes_is_tried_again(
    worker: JobRunner, held: Held, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    write = failing(monkeypatch, name, LOCKED, LOCKED)
    test = await opened()
    held.go.set()
    done = await over(test)
    assert (done.status, done.verdict) == ("done", "native") and write.calls == 3
    assert len(await in_database(detection_reports.trials)(test)) == 1


@pytest.mark.asyncio
async def test_a_test_ends_with_a_reason_where_its_lease_has_really_run_out(
    worker: JobRunner, held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(detections, "LEASE", timedelta(seconds=1.5))
    renew = failing(monkeypatch, "renew")
    test = await opened()
    await asyncio.wait_for(held.began.wait(), 10)
    renew.ever = LOCKED
    calls = renew.calls
    await until(lambda: held.ended)
    assert held.ended == "cancelled" and renew.calls > calls + 2, "it tried again until the lease was over"
    done = await over(test)
    assert (done.status, done.verdict) == ("interrupted", "inconclusive")
    assert "Inconclusive" in done.reason and done.verdict_words


@pytest.mark.asyncio
async def test_a_test_that_another_process_ended_stops_and_keeps_that_end(
    worker: JobRunner, held: Held, caplog: pytest.LogCaptureFixture
) -> None:
    def settle() -> int:
        Detection.objects.update(lease_until=Now() - timedelta(seconds=1))
        return detections.settle()

    test = await opened()
    await asyncio.wait_for(held.began.wait(), 10)
    with caplog.at_level(logging.WARNING, "toolsupport.services.detection_worker"):
        assert await in_database(settle)() == 1
        await until(lambda: held.ended)
        await until(lambda: not worker.tester.running)
    done = await in_database(detection_reports.shown)(test)
    assert (done.status, done.verdict, done.reason) == ("interrupted", "inconclusive", detections.GONE)
    assert "another process ended model test" in caplog.text


@pytest.mark.asyncio
async def test_a_test_that_breaks_off_says_so(worker: JobRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    async def breaks(*_: Any) -> Verdict:
        raise RuntimeError("a mistake")

    monkeypatch.setattr(detection_worker, "examine", breaks)
    conclude = failing(monkeypatch, "conclude", LOCKED)
    done = await over(await opened())
    assert (done.status, done.verdict, done.reason) == ("failed", "inconclusive", detection_worker.BROKE_OFF)
    assert conclude.calls == 2


@pytest.mark.asyncio
async def test_a_process_does_not_settle_what_it_runs_itself(worker: JobRunner, held: Held) -> None:
    """It stood still for longer than a lease, say, and looks for work before its heartbeat comes."""

    def run_out() -> int | None:
        Detection.objects.update(lease_until=Now() - timedelta(seconds=1))
        return detections.claim("me", detections.always, list(worker.tester.running))

    test = await opened()
    await asyncio.wait_for(held.began.wait(), 10)
    assert [*worker.tester.running] == [test]
    assert await in_database(run_out)() is None
    held.go.set()
    assert (await over(test)).status == "done"


def test_a_stopped_process_leaves_a_verdict_with_its_reason() -> None:
    profile = ModelProfileFactory()
    test = detections.open_test(DetectionRequest(profile.pk, "page")).id
    assert detections.claim("me") == test
    detections.leave("another")
    assert Detection.objects.get().status == "running"
    detections.leave("me")
    found = detection_reports.shown(test)
    assert (found.status, found.verdict, found.reason) == ("interrupted", "inconclusive", detections.STOPPED)
    assert not found.proved


# What interrupted tests beside other commands: the command that ran them had its own verdict, and ended.
@pytest.mark.asyncio
async def test_a_command_that_ends_lets_the_tests_of_others_wait_again(held: Held) -> None:
    own, other = await opened(), await opened()
    made = JobRunner()
    made.tester.own = own
    made.spawn(made.tester.serve())
    await until(lambda: len(made.tester.running) == 2)
    await in_database(detections.add_trial)(other, made.owner, detections.TrialRecord("called", 1, {}, {}, True))
    await made.stop()
    mine, theirs = [await in_database(detection_reports.shown)(test) for test in (own, other)]
    assert (mine.status, mine.verdict, mine.reason) == ("interrupted", "inconclusive", detections.STOPPED)
    assert (theirs.status, theirs.verdict, theirs.steps) == ("queued", "", [])
    assert await in_database(detection_reports.trials)(other) == []
    assert await in_database(detections.claim)("another") == other


@pytest.mark.asyncio
async def test_a_claim_that_is_cut_off_by_the_end_leaves_no_test_without_a_worker(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The row was taken in the database's thread, and nobody came to run it."""
    test, made = await opened(), JobRunner()

    def claim(*given: Any) -> None:
        assert ORDINARY["claim"](*given) == test

    monkeypatch.setattr(detections, "claim", claim)
    made.spawn(made.tester.serve())
    async with asyncio.timeout(10):
        while (await in_database(detection_reports.shown)(test)).status != "running":
            await asyncio.sleep(0.01)
    await made.stop()
    done = await in_database(detection_reports.shown)(test)
    assert (done.status, done.verdict) == ("interrupted", "inconclusive")


def test_a_lease_outlasts_two_waits_for_the_writers_of_sqlite() -> None:
    options = environment.database({"DATABASE_URL": ""}, application_paths.IMPORT_ROOT)["OPTIONS"]
    assert detections.LEASE.total_seconds() >= 2 * options["timeout"] + 2 * detection_worker.HEARTBEAT


# -- the command --


def test_the_command_prints_how_a_test_was_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    async def nothing(self: detection_worker.DetectionWorker) -> None:
        await asyncio.Event().wait()

    profile = ModelProfileFactory()
    ordinary, seen = detection_reports.shown, list[int]()

    def shown(detection: int) -> ShownDetection:
        seen.append(detection)
        if len(seen) in (1, 2):
            raise LOCKED
        if len(seen) == 3:
            detections.claim("a process that dies")
            Detection.objects.update(lease_until=Now() - timedelta(seconds=1))
            detections.settle()
        return ordinary(detection)

    monkeypatch.setattr(detection_worker.DetectionWorker, "serve", nothing)
    monkeypatch.setattr(detection_reports, "shown", shown)
    out, err = StringIO(), StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("detect", profile.name, stdout=out, stderr=err)
    assert ended.value.code == 2
    assert f"the test was inconclusive. {detections.GONE}" in out.getvalue()
    assert err.getvalue().count("trying again") == 1


# -- other loops --


@pytest.mark.asyncio
@pytest.mark.parametrize("name", ["take", "release"])
async def test_a_periodic_job_survives_errors_of_the_database(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    ran, errors, ordinary = list[int](), [LOCKED, LOCKED], getattr(leases, name)

    async def run() -> None:
        ran.append(1)

    def fails(*given: Any) -> Any:
        if errors:
            raise errors.pop()
        return ordinary(*given)

    monkeypatch.setattr(leases, name, fails)
    made = JobRunner()
    task = made.spawn(made._repeat(BackgroundJob("often", run, at_start=False, minutes=0.0005)))
    await until(lambda: len(ran) > 3)
    assert not task.done() and not errors
    await made.stop()


@pytest.mark.asyncio
async def test_a_job_that_cannot_be_taken_at_the_start_keeps_no_other_one_from_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ran, errors, ordinary = list[str](), [LOCKED], leases.release

    def fails(*given: str) -> None:
        if errors:
            raise errors.pop()
        ordinary(*given)

    async def first() -> None:
        ran.append("first")

    async def second() -> None:
        ran.append("second")

    monkeypatch.setattr(leases, "release", fails)
    jobs = BackgroundJob("one", first, at_start=True, minutes=0), BackgroundJob("two", second, at_start=True, minutes=0)
    monkeypatch.setattr(background_jobs, "jobs", lambda: jobs)
    made = JobRunner()
    with suppress(asyncio.CancelledError):
        await made.spawn(made._begin())
    await made.stop()
    assert ran == ["first", "second"]


@pytest.mark.asyncio
async def test_jobs_of_every_minute_write_nothing_while_nothing_expires() -> None:
    """A write would clear the rows that are kept for answers."""
    often = [job for job in background_jobs.jobs() if 0 < job.minutes <= 1]
    made = JobRunner()
    for job in often:
        await made._once(job)
    assert "expired overrides" in [job.name for job in often]
    assert not await in_database(Lease.objects.exists)()


@pytest.mark.asyncio
async def test_an_override_expires_whichever_worker_runs_the_job() -> None:
    row = await in_database(OverrideFactory)(expires_at=timezone.now() - timedelta(seconds=1))
    [job] = [job for job in background_jobs.jobs() if job.name == "expired overrides"]
    made, other = JobRunner(), JobRunner()
    await asyncio.gather(made._once(job), other._once(job))
    ended = await in_database(lambda: list(Override.objects.exclude(pk=row.pk).values_list("withdraws", flat=True)))()
    assert ended == [row.pk]


@pytest.mark.asyncio
async def test_a_background_task_that_ends_with_an_error_is_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    async def breaks() -> None:
        raise RuntimeError("a mistake of this test")

    made = JobRunner()
    with suppress(RuntimeError):
        await made.spawn(breaks())
    await asyncio.sleep(0)
    assert "a mistake of this test" in caplog.text
