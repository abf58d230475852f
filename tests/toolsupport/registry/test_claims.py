"""Work that processes claim: only the owner of a running row writes it, and an ended one never changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from django.db.models import Model
from django.utils import timezone

from tests.factories import ModelProfileFactory, ServerFactory, UserFactory
from tests.toolsupport.registry.exams.test_exam_runs import SUITE
from tests.toolsupport.registry.exams.test_exam_runs import TRIAL as EXAM_TRIAL
from toolsupport.core.pull_progress import PullReader
from toolsupport.models import Detection, ExamRun, Lease, ModelPull, Override
from toolsupport.registry import leases
from toolsupport.registry.exams import exam_runs
from toolsupport.registry.exams.exam_runs import ExamRequest
from toolsupport.registry.servers import pulls, server_slots
from toolsupport.registry.testing import detections, later_steps, queue
from toolsupport.registry.testing.detections import DetectionRequest, DetectionResult, TrialRecord

pytestmark = pytest.mark.django_db
ME, ANOTHER = "me", "another"
TRIAL = TrialRecord("called", 1, {}, {}, True)
DONE = DetectionResult("native", {}, {"tools": True}, "It called.")


@dataclass(frozen=True)
class Claimed:
    """One kind of work: its rows, how one is queued, how a process claims it, and all that this process may write."""

    rows: type[Model]
    queued: Callable[[], int]
    claim: Callable[[str], object]
    writes: dict[str, Callable[[int, str], Any]]


def a_test() -> int:
    return detections.open_test(DetectionRequest(ModelProfileFactory().pk, "page")).id


def steps_that_follow() -> int:
    test = a_test()
    detections.claim(ANOTHER)
    detections.conclude(test, ANOTHER, DetectionResult("native", remaining=True))
    return test


def an_exam() -> int:
    return exam_runs.open_run(ExamRequest(ModelProfileFactory().pk, SUITE))


def a_pull() -> int:
    server = ServerFactory(kind="ollama")
    pulls.request(server.pk, "m", UserFactory(role="admin").pk)
    return ModelPull.objects.latest("pk").pk


WORK = {
    "tests": Claimed(
        Detection,
        a_test,
        detections.claim,
        {
            "renew": lambda row, owner: detections.renew(row, owner, [{"step": "called"}]),
            "add_trial": lambda row, owner: detections.add_trial(row, owner, TRIAL),
            "conclude": lambda row, owner: detections.conclude(row, owner, DONE),
            "leave": lambda row, owner: detections.leave(owner),
        },
    ),
    "steps that follow": Claimed(
        Detection,
        steps_that_follow,
        later_steps.claim,
        {
            "renew": lambda row, owner: later_steps.renew(row, owner, []),
            "add_trial": lambda row, owner: later_steps.add_trial(row, owner, TRIAL),
            "conclude": lambda row, owner: later_steps.conclude(row, owner, DONE),
            "leave": lambda row, owner: later_steps.leave(owner),
        },
    ),
    "exams": Claimed(
        ExamRun,
        an_exam,
        exam_runs.claim,
        {
            "renew": lambda row, owner: exam_runs.renew(row, owner, 2),
            "add_trial": lambda row, owner: exam_runs.add_trial(row, owner, EXAM_TRIAL, 1),
            "conclude": lambda row, owner: exam_runs.conclude(row, owner, "passed", {}),
            "leave": lambda row, owner: exam_runs.leave(owner),
        },
    ),
    "downloads": Claimed(
        ModelPull,
        a_pull,
        pulls.claim,
        {
            "progress": lambda row, owner: pulls.progress(row, owner, PullReader()),
            "conclude": lambda row, owner: pulls.conclude(row, owner, "it failed"),
            "leave": lambda row, owner: pulls.leave(owner),
        },
    ),
}
WRITES = [(kind, name) for kind, work in WORK.items() for name in work.writes]


def held(rows: type[Model], row: int) -> dict[str, Any]:
    """Return what the row holds, with the number of its trials."""
    one = rows._default_manager.get(pk=row)
    trials = one.trials.count() if hasattr(one, "trials") else 0
    return {field.attname: getattr(one, field.attname) for field in rows._meta.concrete_fields} | {"trials": trials}


@pytest.mark.parametrize(("kind", "write"), WRITES)
def test_nobody_writes_the_row_of_another(kind: str, write: str) -> None:
    work = WORK[kind]
    row = work.queued()
    assert work.claim(ANOTHER)
    before, claims = held(work.rows, row), Override.objects.count()
    work.writes[write](row, ME)
    assert (held(work.rows, row), Override.objects.count()) == (before, claims)


@pytest.mark.parametrize(("kind", "write"), WRITES)
def test_nothing_that_ended_changes(kind: str, write: str) -> None:
    work = WORK[kind]
    row = work.queued()
    assert work.claim(ME)
    ended = {"remaining": False} if kind == "steps that follow" else {"status": "cancelled"}
    # The lease is still there: only the state of the row keeps it from being written.
    work.rows._default_manager.filter(pk=row).update(**ended)
    before, claims = held(work.rows, row), Override.objects.count()
    work.writes[write](row, ME)
    assert (held(work.rows, row), Override.objects.count()) == (before, claims)


@pytest.mark.parametrize("kind", ["exams", "downloads", "tests"])
def test_two_processes_that_look_at_once_claim_a_row_once(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    work = WORK[kind]
    row, in_future = work.queued(), leases.in_future

    def faster(delta: timedelta) -> Any:
        """Let another process claim the row between the look for it and its claim."""
        taken = {"status": "running", "owner": ANOTHER, "lease_until": timezone.now() + timedelta(minutes=1)}
        work.rows._default_manager.filter(pk=row).update(**taken)
        return in_future(delta)

    monkeypatch.setattr(leases, "in_future", faster)
    assert work.claim(ME) is None
    assert held(work.rows, row)["owner"] == ANOTHER


@pytest.mark.parametrize("kind", ["exams", "downloads", "tests"])
def test_what_ended_is_not_claimed_again(kind: str) -> None:
    work = WORK[kind]
    ended, row = work.queued(), work.queued()
    work.rows._default_manager.filter(pk=ended).update(status="done", lease_until=None)
    work.claim(ME)
    assert (held(work.rows, ended)["status"], held(work.rows, row)["owner"]) == ("done", ME)


def test_a_dead_test_takes_no_finished_one_with_it() -> None:
    done, dead = a_test(), a_test()
    Detection.objects.filter(pk=done).update(status="done", verdict="native", lease_until=None)
    Detection.objects.filter(pk=dead).update(status="running", owner=ANOTHER, lease_until=None)
    assert detections.settle() == 1
    assert (held(Detection, done)["verdict"], held(Detection, dead)["status"]) == ("native", "interrupted")


def test_a_worker_for_one_test_requeues_no_finished_one() -> None:
    own, done = a_test(), a_test()
    Detection.objects.filter(pk=own).update(status="running", owner=ME)
    Detection.objects.filter(pk=done).update(status="done", owner=ME, verdict="native")
    detections.leave(ME, own)
    assert held(Detection, done)["status"] == "done"


def test_a_request_for_a_test_finds_the_open_one_and_no_older_one() -> None:
    asked = DetectionRequest(ModelProfileFactory().pk, "page")
    first = detections.open_test(asked).id
    Detection.objects.filter(pk=first).update(status="done")
    second = detections.open_test(asked).id
    assert second != first and detections.open_test(asked).id == second
    run = ExamRequest(asked.profile, SUITE)
    older = exam_runs.open_run(run)
    ExamRun.objects.filter(pk=older).update(status="done")
    newer = exam_runs.open_run(run)
    assert newer != older and exam_runs.open_run(run) == newer


def test_what_is_over_cannot_be_cancelled() -> None:
    test, run, pull = a_test(), an_exam(), a_pull()
    for rows, one in ((Detection, test), (ExamRun, run), (ModelPull, pull)):
        rows._default_manager.filter(pk=one).update(status="done")
    assert detections.cancel(test) == "done"
    detections.skip(test, "called")
    exam_runs.cancel(run)
    row = ModelPull.objects.get(pk=pull)
    pulls.cancel(row.server_id, row.name, UserFactory(role="admin").pk)
    assert (held(ExamRun, run)["status"], held(ModelPull, pull)["status"]) == ("done", "done")
    assert held(Detection, test)["cancel_requested_at"] is None and held(Detection, test)["skip_requested"] == ""


def test_ended_exams_of_a_person_do_not_count() -> None:
    person, profile = UserFactory(role="user"), ModelProfileFactory()
    run = exam_runs.open_run(ExamRequest(profile.pk, SUITE, actor=person.pk))
    row = ExamRun.objects.get(pk=run)
    row.status = "done"
    row.save(update_fields=["status"])
    for _ in range(exam_runs.MOST_OPEN):
        row.pk = None
        row.save(force_insert=True)
    assert exam_runs.open_run(ExamRequest(profile.pk, SUITE, actor=person.pk))


@pytest.mark.parametrize("same", [True, False])
def test_steps_that_follow_count_for_the_tested_build_alone(same: bool) -> None:
    test = steps_that_follow()
    later_steps.claim(ME)
    if not same:
        Detection.objects.filter(pk=test).update(build_key="of another build")
    assert later_steps.conclude(test, ME, DONE)
    assert Override.objects.filter(detection=test).exists() is same


def test_a_test_without_further_steps_leaves_none() -> None:
    test = a_test()
    detections.claim(ME)
    detections.conclude(test, ME, DONE)
    assert held(Detection, test)["remaining"] is False and later_steps.claim(ME) is None


def test_places_and_jobs_belong_to_their_owners() -> None:
    server = ServerFactory(kind="vllm")
    name = server_slots.take(server.pk, ANOTHER)
    soon = timezone.now() + timedelta(seconds=2)
    Lease.objects.filter(name=name).update(until=soon)
    server_slots.renew(ME)
    server_slots.release(name, ME)
    assert Lease.objects.get(name=name).until == soon
    assert leases.take("job", ANOTHER) and leases.take("job", ANOTHER)
    assert not leases.take("job", ME)
    leases.release("job", ME)
    assert not leases.take("job", ME)
    leases.release("job", ANOTHER)
    assert leases.take("job", ME)


def test_a_running_test_takes_one_place_and_not_two() -> None:
    test = a_test()
    detections.claim(ME)
    server = Detection.objects.get(pk=test).profile.server_id
    assert server_slots.later_steps(server) == 0
    assert list(queue.waiting(detections.always)) == []
