"""Tests of models as rows: single flight, leases, evidence, verdicts."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connection
from django.db.models.functions import Now

from tests.effective_values import holding
from tests.factories import ModelProfileFactory, UserFactory
from toolsupport.core.errors import Conflict, NotFound
from toolsupport.models import Detection, HistoryEntry, ModelProfile, Override, Trial
from toolsupport.registry.history import model_timeline
from toolsupport.registry.knowledge import overrides
from toolsupport.registry.testing import detection_reports, detections
from toolsupport.registry.testing.detections import DetectionRequest, DetectionResult, OpenedDetection, TrialRecord

NATIVE = DetectionResult(
    "native", {"passed": 3, "tried": 3}, {"tools": True, "parallel": False}, "3 of 3 calls were right."
)


def _running(profile: ModelProfile, owner: str = "w1") -> int:
    opened = detections.open_test(DetectionRequest(profile.pk, "page"))
    assert detections.claim(owner) == opened.id
    return opened.id


@pytest.mark.django_db(transaction=True)
def test_fifty_people_cause_one_test():  # D7
    profile = ModelProfileFactory()
    together = Barrier(10)

    def ask(_: int) -> OpenedDetection:
        together.wait(10)
        try:
            return detections.open_test(DetectionRequest(profile.pk, "chat"))
        finally:
            connection.close()

    with ThreadPoolExecutor(10) as pool:
        opened = list(pool.map(ask, range(50)))
    assert len({one.id for one in opened}) == 1
    assert sum(one.fresh for one in opened) == 1
    assert Detection.objects.count() == 1


@pytest.mark.django_db
def test_a_verdict_becomes_claims_for_everyone():  # D6
    ana = UserFactory(username="ana")
    profile = ModelProfileFactory()
    opened = detections.open_test(DetectionRequest(profile.pk, "page", actor=ana.pk))
    detections.claim("w1")
    assert detections.conclude(opened.id, "w1", NATIVE)
    standing = holding(profile, "tools")
    assert (standing.value, standing.source) == (True, "auto_detected")
    row = Override.objects.get(profile=profile, capability="tools")
    assert (row.detection_id, row.actor) == (opened.id, ana)
    line = HistoryEntry.objects.get(kind="detection")
    assert (line.before, line.after, line.verdict) == (None, True, "native")


@pytest.mark.django_db
def test_equal_results_are_kept_for_each_test_and_told_once():
    profile = ModelProfileFactory()
    for _ in range(2):
        assert detections.conclude(_running(profile), "w1", NATIVE)
    assert Override.objects.filter(profile=profile).count() == 4
    assert HistoryEntry.objects.filter(kind="override").count() == 2
    first, second = HistoryEntry.objects.filter(kind="detection").order_by("pk")
    assert "Confirmed" not in first.text and "Confirmed: native tools, several calls at once." in second.text
    lines = model_timeline.of_model(profile.pk, ()).lines
    assert [(line.test is not None, [change.title for change in line.changes]) for line in lines] == [
        (True, []),
        (True, ["Native tool calls", "Parallel calls"]),
    ]


def _tested(profile: ModelProfile, **values: object) -> int:
    test = _running(profile)
    assert detections.conclude(test, "w1", DetectionResult("native", {}, values, "It was tried."))
    return test


def _tools(profile: ModelProfile) -> tuple[object, str]:
    row = holding(profile, "tools")
    return row.value, row.source


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("found", "undone", "left"),
    [
        # Two tests agree: either of them can be undone, and the other one still counts.
        ((True, True), (0,), (True, "auto_detected")),
        ((True, True), (1,), (True, "auto_detected")),
        ((True, True), (0, 1), (None, "default")),
        ((True, True), (1, 0), (None, "default")),
        # What a middle test found is no trace after it was undone, in any order.
        ((True, False, True), (2,), (False, "auto_detected")),
        ((True, False, True), (1,), (True, "auto_detected")),
        ((True, False, True), (2, 1), (True, "auto_detected")),
        ((True, True, False), (2,), (True, "auto_detected")),
        ((True, True, False), (2, 0), (True, "auto_detected")),
    ],
)
def test_undo_withdraws_exactly_one_test(found: tuple[bool, ...], undone: tuple[int, ...], left: tuple[object, str]):
    profile, bob = ModelProfileFactory(), UserFactory()
    tests = [_tested(profile, tools=value, parallel=value) for value in found]
    for number in undone:
        assert detections.undo(tests[number], bob.pk) == 2
        assert detections.undo(tests[number], bob.pk) == 0
    assert _tools(profile) == left


@pytest.mark.django_db(transaction=True)
def test_of_eight_undos_at_once_one_withdraws():  # D4
    profile, together = ModelProfileFactory(), Barrier(8)
    test = _tested(profile, tools=True, parallel=True)

    def undo(_: int) -> int:
        try:
            together.wait(10)
            return detections.undo(test, None)
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(undo, range(8))) == [0] * 7 + [2]
    assert _tools(profile) == (None, "default")


@pytest.mark.django_db
def test_undo_says_what_changed_back():
    profile, bob = ModelProfileFactory(), UserFactory(username="bob")
    _tested(profile, tools=True, parallel=True)
    later = _tested(profile, tools=False, parallel=True)
    assert detection_reports.shown(later).undone is None
    detections.undo(later, bob.pk)
    undone = detection_reports.shown(later).undone
    assert undone and undone.actor == "bob" and undone.why == ""
    assert undone.changes == (("Native tool calls", "no", "yes"),)
    line = HistoryEntry.objects.get(kind="withdrawal")
    assert (line.before, line.after, line.detection_id) == (False, True, later)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("number", "why"), [(1, "an earlier test found the same"), (0, "a later test decides"), (2, "a person decided it")]
)
def test_undo_says_why_nothing_changed(number: int, why: str):
    profile, bob = ModelProfileFactory(), UserFactory()
    tests = [_tested(profile, tools=True) for _ in range(2)]
    if number == 2:
        overrides.add(overrides.NewOverride(profile.pk, "tools", True, actor=bob.pk))
    test = tests[min(number, 1)]
    detections.undo(test, bob.pk)
    undone = detection_reports.shown(test).undone
    assert undone and undone.changes == () and undone.why == f"Nothing changed: {why}."
    assert [one for one in tests if detection_reports.shown(one).undone is not None] == [test]


@pytest.mark.django_db
@pytest.mark.parametrize("values", [{}, {"format": "mistral"}])
def test_a_format_that_a_chat_left_is_no_undo_and_comes_back_with_one(values: dict[str, object]):
    profile, bob = ModelProfileFactory(), UserFactory(username="bob")
    _tested(profile, **values)
    overrides.add(overrides.NewOverride(profile.pk, "format", "hermes", session="chat"))
    test = _running(profile)
    detections.add_trial(test, "w1", TrialRecord("formats", 1, {}, {"subject": "hermes"}, False))
    assert detections.conclude(test, "w1", DetectionResult("ignored", {}, values, "Hermes failed."))
    chosen = overrides.NewOverride(profile.pk, "format", session="chat")
    assert not overrides.in_force(profile, chosen)
    assert detection_reports.shown(test).undone is None
    assert detections.undo(test, bob.pk)
    assert [claim.value for claim in overrides.in_force(profile, chosen)] == ["hermes"]
    undone = detection_reports.shown(test).undone
    assert undone is not None and undone.actor == "bob"
    told = undone.why if values else str(undone.changes)
    assert ("chats that had left a format use it again" if values else "'Text format', 'no'") in told


@pytest.mark.django_db
def test_a_test_that_runs_cannot_be_undone():
    test = _running(ModelProfileFactory())
    with pytest.raises(Conflict):
        detections.undo(test, None)
    assert detections.conclude(test, "w1", NATIVE) and detections.undo(test, None) == 2


@pytest.mark.django_db
def test_a_test_confirms_only_what_holds_of_its_own_build():
    profile = ModelProfileFactory(digest="one")
    first = _tested(profile, tools=True)
    ModelProfile.objects.filter(pk=profile.pk).update(digest="two")
    profile.refresh_from_db()
    test = _tested(profile, tools=True)
    assert Detection.objects.get(pk=test).detail["confirmed"] == []
    assert [detection_reports.shown(one).older for one in (first, test)] == [True, False]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("state", "result", "holds"),
    [("done", "failed", False), ("done", "inconclusive", None), ("skipped", "skipped", None)],
)
def test_formats_that_all_failed_are_a_no_and_no_others(state: str, result: str, holds: bool | None):  # D6, D1
    profile = ModelProfileFactory()
    test = _running(profile)
    detections.renew(test, "w1", [{"step": "formats", "state": state, "result": result}])
    detections.add_trial(test, "w1", TrialRecord("formats", 1, {}, {"subject": "hermes"}, False))
    assert detections.conclude(test, "w1", DetectionResult("ignored", {}, {"tools": False}, "It called nothing."))
    assert holding(profile, "format").value is holds


@pytest.mark.django_db
def test_inconclusive_changes_nothing():  # D6, D1
    profile = ModelProfileFactory()
    detections.conclude(_running(profile), "w1", DetectionResult("inconclusive", {"why": "the server was busy"}))
    assert not Override.objects.exists()
    assert Detection.objects.get().verdict == "inconclusive"


@pytest.mark.django_db
def test_no_machine_overrides_a_person():  # D3
    profile = ModelProfileFactory()
    overrides.add(overrides.NewOverride(profile.pk, "tools", False, actor=UserFactory().pk))
    detections.conclude(_running(profile), "w1", NATIVE)
    standing = holding(profile, "tools")
    assert (standing.value, standing.source) == (False, "user_confirmed")


@pytest.mark.django_db
def test_a_model_that_changed_under_the_test_gets_no_claims():  # M3
    profile = ModelProfileFactory(digest="one")
    test = _running(profile)
    ModelProfile.objects.filter(pk=profile.pk).update(digest="two")
    assert detections.conclude(test, "w1", NATIVE)
    assert not Override.objects.exists()
    assert Detection.objects.get().detail["same_build"] is False


@pytest.mark.django_db
def test_a_worker_that_died_leaves_it_interrupted():  # D7
    profile = ModelProfileFactory()
    test = _running(profile)
    assert detections.settle() == 0
    Detection.objects.filter(pk=test).update(lease_until=Now() - detections.LEASE)
    assert detections.settle() == 1
    assert Detection.objects.get().status == "interrupted"
    assert not detections.renew(test, "w1", []).mine
    assert not detections.add_trial(test, "w1", TrialRecord("called", 1, {}, {}, True))
    assert not detections.conclude(test, "w1", NATIVE)
    assert not Override.objects.exists()
    assert detections.open_test(DetectionRequest(profile.pk, "page")).fresh


@pytest.mark.django_db
def test_trials_are_numbered_and_kept():  # D8
    test = _running(ModelProfileFactory())
    for n in (1, 2):
        assert detections.add_trial(test, "w1", TrialRecord("called", n, {"tools": 1}, {"calls": []}, n == 1, "why"))
    assert list(Trial.objects.values_list("seq", "n", "passed")) == [(1, 1, True), (2, 2, False)]
    assert not detections.add_trial(test, "w2", TrialRecord("called", 3, {}, {}, True))


@pytest.mark.django_db
def test_people_can_cancel_and_skip():
    test = _running(ModelProfileFactory())
    assert detections.renew(test, "w1", [{"step": "called"}]) == detections.DetectionSignals(mine=True)
    detections.skip(test, "parallel")
    assert detections.cancel(test) == "running"
    assert detections.renew(test, "w1", []) == detections.DetectionSignals(mine=True, cancel=True, skip="parallel")
    queued = detections.open_test(DetectionRequest(ModelProfileFactory().pk, "page"))
    assert detections.cancel(queued.id) == "cancelled"
    with pytest.raises(NotFound):
        detections.cancel(10**6)
    with pytest.raises(NotFound):
        detections.open_test(DetectionRequest(10**6, "page"))


@pytest.mark.django_db
def test_a_proposal_counts_once_it_is_accepted():  # D10
    profile, ana = ModelProfileFactory(), UserFactory(username="ana")
    overrides.add(overrides.NewOverride(profile.pk, "tools", True, actor=UserFactory().pk, proposed=True))
    assert holding(profile, "tools").value is None
    proposal = Override.objects.get()
    overrides.accept(proposal.pk, ana.pk)
    assert holding(profile, "tools").value is True
    assert list(HistoryEntry.objects.order_by("id").values_list("kind", flat=True)) == ["proposal", "override"]
    with pytest.raises(Conflict):
        overrides.accept(proposal.pk, ana.pk)
