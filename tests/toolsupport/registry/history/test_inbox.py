"""The changes to review, and the acts that remove them: agreement, decision, undo."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from tests.effective_values import holding
from tests.factories import ModelProfileFactory, UserFactory
from toolsupport.core.errors import Conflict
from toolsupport.models import HistoryEntry, ModelProfile
from toolsupport.registry.history import inbox, model_timeline
from toolsupport.registry.knowledge import overrides, reviews
from toolsupport.registry.knowledge.overrides import NewOverride
from toolsupport.registry.knowledge.reviews import NewReview
from toolsupport.registry.testing import detections, later_steps
from toolsupport.registry.testing.detections import DetectionRequest, DetectionResult

pytestmark = pytest.mark.django_db


@pytest.fixture
def profile() -> ModelProfile:
    made: ModelProfile = ModelProfileFactory()
    return made


@pytest.fixture
def reviewer() -> User:
    made: User = UserFactory(role="reviewer")
    return made


def run_test(profile: ModelProfile, verdict: str = "native", tools: bool | None = True) -> int:
    """Run a test; return its entry."""
    test = detections.open_test(DetectionRequest(profile.pk, "page"))
    assert detections.claim("worker") == test.id
    values = {} if tools is None else {"tools": tools}
    detections.conclude(test.id, "worker", DetectionResult(verdict, values=values))
    return HistoryEntry.objects.get(kind="detection", detection=test.id).pk


def waiting() -> list[int]:
    return [one.entry for one in inbox.waiting(100)]


def act(deed: str, entry: int, reviewer: User, note: str = "") -> None:
    reviews.act(deed, NewReview(entry, reviewer.pk, note))


# D11: changes by a program wait until a person agrees; what a server claims of itself does not
def test_a_changed_result_waits_until_a_person_agrees(profile: ModelProfile, reviewer: User) -> None:
    overrides.declare(profile.pk, {"tools": False})
    assert waiting() == []
    first = run_test(profile)
    assert waiting() == [first]
    # A repetition changes nothing, and proves nothing new: the first one waits on.
    run_test(profile)
    run_test(profile, "inconclusive", None)
    assert waiting() == [first]
    second = run_test(profile, "ignored", tools=False)
    assert waiting() == [second]
    act("agree", second, reviewer)
    assert waiting() == []
    act("reopened", second, reviewer)
    assert waiting() == [second]
    third = run_test(profile)
    assert waiting() == [third]
    overrides.add(NewOverride(profile.pk, "tools", True, actor=reviewer.pk))
    assert waiting() == []


def test_a_test_is_reverted_restored_and_reverted_again(profile: ModelProfile, reviewer: User) -> None:
    overrides.declare(profile.pk, {"tools": False})
    entry = run_test(profile)
    for _ in range(2):
        act("revert", entry, reviewer)
        assert (holding(profile, "tools").value, waiting()) == (False, [])
        with pytest.raises(Conflict, match="already withdrawn"):
            act("revert", entry, reviewer)
        act("restore", entry, reviewer)
        assert (holding(profile, "tools").value, waiting()) == (True, [entry])
        with pytest.raises(Conflict, match="already applies"):
            act("restore", entry, reviewer)


def test_a_decision_is_reverted_and_restored(profile: ModelProfile, reviewer: User) -> None:
    overrides.add(NewOverride(profile.pk, "tools", True, actor=reviewer.pk))
    entry = HistoryEntry.objects.get().pk
    for _ in range(2):
        act("revert", entry, reviewer)
        assert holding(profile, "tools").value is None
        act("restore", entry, reviewer)
        assert holding(profile, "tools").value is True


# D10
def test_a_proposal_is_agreed_with_taken_back_and_rejected_with_a_reason(
    profile: ModelProfile, reviewer: User, alice: User
) -> None:
    overrides.add(NewOverride(profile.pk, "tools", True, actor=alice.pk, proposed=True))
    proposal = HistoryEntry.objects.get().pk
    assert waiting() == [proposal]
    act("agree", proposal, reviewer)
    assert (holding(profile, "tools").value, waiting()) == (True, [])
    act("reopened", proposal, reviewer)
    assert holding(profile, "tools").value is None
    overrides.add(NewOverride(profile.pk, "vision", True, actor=alice.pk, proposed=True))
    other = HistoryEntry.objects.filter(kind="proposal").latest("pk").pk
    with pytest.raises(ValueError, match="reason"):
        act("disagree", other, reviewer)
    act("disagree", other, reviewer, "Not seen.")
    assert (holding(profile, "vision").value, waiting()) == (None, [])


def test_what_a_person_s_test_measures_later_is_no_decision(profile: ModelProfile, reviewer: User) -> None:
    test = detections.open_test(DetectionRequest(profile.pk, "page", actor=reviewer.pk)).id
    assert detections.claim("worker") == test
    detections.conclude(test, "worker", DetectionResult("native", values={"tools": True}, remaining=True))
    entry = HistoryEntry.objects.get(kind="detection").pk
    assert waiting() == [entry]
    assert later_steps.claim("worker") == test
    later_steps.conclude(test, "worker", DetectionResult("", values={"constrains": "enforced"}))
    assert HistoryEntry.objects.filter(capability="constrains", actor=reviewer).exists()
    assert waiting() == [entry]
    act("disagree", entry, reviewer, "It never calls one.")
    repeated = detections.open_test(DetectionRequest(profile.pk, "page", actor=reviewer.pk)).id
    assert detections.claim("worker") == repeated
    detections.conclude(repeated, "worker", DetectionResult("ignored", values={"parallel": True}))
    assert entry in waiting() and reviews.needing() == {profile.pk}
    assert model_timeline.of_model(profile.pk, ()).flagged


def test_an_objection_brings_its_entry_back_with_the_reason(profile: ModelProfile, reviewer: User) -> None:
    entry = run_test(profile)
    act("agree", entry, reviewer)
    act("disagree", entry, reviewer, "It never calls one.")
    [one] = inbox.waiting(100)
    assert (one.entry, one.objection, one.objector) == (entry, "It never calls one.", reviewer.username)
    assert reviews.needing() == {profile.pk}
    act("agree", entry, reviewer)
    assert (waiting(), reviews.needing()) == ([], frozenset())
    act("reopened", entry, reviewer)
    # The agreement that answered the objection was taken back.
    assert waiting() == [entry] and reviews.needing() == {profile.pk}


def test_it_takes_the_same_few_queries_however_much_waits(
    reviewer: User, django_assert_max_num_queries, alice: User
) -> None:
    for profile in ModelProfileFactory.create_batch(6):
        entry = run_test(profile)
        overrides.add(NewOverride(profile.pk, "vision", True, actor=alice.pk, proposed=True))
        act("disagree", entry, reviewer, "No.")
    with django_assert_max_num_queries(4):
        assert len(waiting()) == 12
