"""Runs of exams as rows: queued once, claimed by one process, resumed after it ended."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.factories import ModelProfileFactory, UserFactory
from toolsupport.core.errors import Busy, ConfigError, NotFound
from toolsupport.core.exams.builtin import SUITES
from toolsupport.core.exams.cases import ExamSuite
from toolsupport.models import ExamPaper, ExamRun, ModelProfile
from toolsupport.registry.exams import exam_reports, exam_runs
from toolsupport.registry.exams.exam_runs import ExamRequest, ExamTrialRecord

pytestmark = pytest.mark.django_db

SUITE = ExamSuite("three", SUITES["quick"].cases[:3])
TRIAL = ExamTrialRecord("", "native", "single_1", "single", 1, True, "right", {}, [], 12, 100, 9)


def asked(profile: int, **more: object) -> ExamRequest:
    return ExamRequest(profile, SUITE, **more)  # type: ignore[arg-type]


def test_a_run_is_queued_once_for_the_same_build_and_cases() -> None:
    profile = ModelProfileFactory()
    first = exam_runs.open_run(asked(profile.pk))
    assert exam_runs.open_run(asked(profile.pk, formats=("native",))) == first
    other = exam_runs.open_run(ExamRequest(profile.pk, SUITES["quick"]))
    assert other != first
    assert ExamPaper.objects.count() == 2
    exam_runs.cancel(first)
    assert exam_runs.open_run(asked(profile.pk)) not in (first, other)
    assert ExamPaper.objects.count() == 2


def test_what_cannot_be_run_is_refused_with_the_reason() -> None:
    profile, person = ModelProfileFactory(), UserFactory(role="user")
    with pytest.raises(NotFound):
        exam_runs.open_run(asked(987_654))
    with pytest.raises(ConfigError, match="no call format “nope”"):
        exam_runs.open_run(asked(profile.pk, formats=("nope",)))
    for number in range(exam_runs.MOST_OPEN):
        suite = ExamSuite(f"suite {number}", SUITE.cases)
        exam_runs.open_run(replace(asked(profile.pk, actor=person.pk), suite=suite))
    with pytest.raises(Busy, match="You have 20 open exams"):
        exam_runs.open_run(asked(profile.pk, actor=person.pk))


def test_one_run_at_a_time_on_a_server() -> None:
    here, there = ModelProfileFactory(), ModelProfileFactory()
    neighbour = ModelProfileFactory(server=here.server)
    first, second, third = (exam_runs.open_run(asked(one.pk)) for one in (here, neighbour, there))
    claimed = [exam_runs.claim("worker") for _ in range(3)]
    assert [one and one.id for one in claimed] == [first, third, None]
    assert exam_runs.conclude(first, "worker", "passed", {})
    again = exam_runs.claim("worker")
    assert again and again.id == second


def test_another_process_goes_on_where_the_first_one_ended() -> None:
    run = exam_runs.open_run(asked(ModelProfileFactory().pk, formats=("", "hermes")))
    assert exam_runs.claim("first")
    assert exam_runs.add_trial(run, "first", TRIAL)
    assert exam_runs.add_trial(run, "first", replace(TRIAL, case="single_2", right=False, code="no_call"))
    assert exam_runs.claim("second") is None
    exam_runs.leave("first")
    found = exam_runs.claim("second")
    assert found and found.made == {("", "single_1"): (True,), ("", "single_2"): (False,)}
    assert found.formats == ("", "hermes")
    assert [case.to_json() for case in found.cases] == [case.to_json() for case in SUITE.cases]
    # The first one comes back: nothing of it counts any more.
    assert not exam_runs.add_trial(run, "first", replace(TRIAL, case="single_3"))
    assert not exam_runs.renew(run, "first", 3)
    assert not exam_runs.conclude(run, "first", "passed", {})
    assert exam_runs.renew(run, "second", 2)


def test_a_cancelled_run_takes_no_trial_and_keeps_those_it_has() -> None:
    run = exam_runs.open_run(asked(ModelProfileFactory().pk))
    exam_runs.claim("worker")
    exam_runs.add_trial(run, "worker", TRIAL)
    exam_runs.cancel(run)
    assert not exam_runs.add_trial(run, "worker", replace(TRIAL, n=2))
    assert exam_reports.shown(run).status == "cancelled"
    assert [case.trials for case in exam_reports.cases(run)] == [1, 0, 0]
    exam_runs.cancel(run)
    assert ExamRun.objects.get(pk=run).status == "cancelled"


def test_a_report_shows_each_case_with_the_reason_of_its_outcome() -> None:
    profile = ModelProfileFactory(name="m:1")
    run = exam_runs.open_run(asked(profile.pk))
    exam_runs.claim("worker")
    wrong = replace(TRIAL, case="single_2", right=False, code="no_call", facts={"tool": "get_stock_price"})
    for trial in (TRIAL, wrong, replace(wrong, n=2), replace(TRIAL, case="single_2", n=3)):
        exam_runs.add_trial(run, "worker", trial)
    cases = exam_reports.cases(run)
    assert [(case.id, case.right, case.passed, case.trials) for case in cases] == [
        ("single_1", True, 1, 1),
        ("single_2", False, 1, 3),
        ("single_3", None, 0, 0),
    ]
    assert cases[1].why == "No call was made; get_stock_price was expected."
    assert exam_reports.right_so_far(run) == 2
    assert exam_runs.add_trial(run, "worker", replace(TRIAL, case="single_3"), 3)
    assert exam_reports.shown(run).graded == exam_reports.right_so_far(run) == 3
    found = exam_reports.to_json(run)
    assert (found["model"], found["suite"]) == (f"{profile.server.name}/m:1", "three")
    assert [case["right"] for case in found["cases"]] == [1, 1, 1]


def test_the_cost_is_measured_once_there_are_trials() -> None:
    profile = ModelProfileFactory()
    assert not exam_reports.cost(profile.pk, 10).measured
    run = exam_runs.open_run(asked(profile.pk))
    exam_runs.claim("worker")
    exam_runs.add_trial(run, "worker", replace(TRIAL, duration_ms=4000))
    found = exam_reports.cost(profile.pk, 10)
    assert (found.measured, found.seconds, found.tokens) == (True, 10, 1090)


def test_a_changed_model_is_an_older_build() -> None:
    profile = ModelProfileFactory()
    run = exam_runs.open_run(asked(profile.pk))
    assert not exam_reports.shown(run).older
    ModelProfile.objects.filter(pk=profile.pk).update(digest="f" * 64)
    assert exam_reports.shown(run).older
