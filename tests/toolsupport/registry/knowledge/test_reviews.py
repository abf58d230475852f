"""Reviews: notes that change nothing, and deeds that are new rows."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from tests.effective_values import holding
from tests.factories import ModelProfileFactory, UserFactory
from toolsupport.core.errors import Conflict, NotFound
from toolsupport.models import HistoryEntry, ModelProfile, Override, Review
from toolsupport.registry.knowledge import overrides, reviews
from toolsupport.registry.knowledge.overrides import NewOverride
from toolsupport.registry.knowledge.reviews import NewReview

pytestmark = pytest.mark.django_db


@pytest.fixture
def profile() -> ModelProfile:
    made: ModelProfile = ModelProfileFactory()
    return made


@pytest.fixture
def reviewer() -> User:
    made: User = UserFactory(role="reviewer")
    return made


def value(profile: ModelProfile) -> object:
    return holding(profile, "tools").value


def newest(kind: str) -> int:
    return HistoryEntry.objects.filter(kind=kind).latest("pk").pk


# D10
def test_a_proposal_is_accepted_once(profile: ModelProfile, reviewer: User):
    overrides.add(NewOverride(profile.pk, "tools", True, proposed=True))
    assert value(profile) is None and reviews.needing() == {profile.pk}
    reviews.act("accept", NewReview(newest("proposal"), reviewer.pk))
    assert value(profile) is True and reviews.needing() == frozenset()
    for deed in ("accept", "reject"):
        with pytest.raises(Conflict, match="already accepted"):
            reviews.act(deed, NewReview(newest("proposal"), reviewer.pk))


# D10
def test_a_rejected_proposal_never_counts(profile: ModelProfile, reviewer: User):
    overrides.add(NewOverride(profile.pk, "tools", True, proposed=True))
    reviews.act("reject", NewReview(newest("proposal"), reviewer.pk, "not seen"))
    assert value(profile) is None and reviews.needing() == frozenset()
    with pytest.raises(Conflict, match="already rejected"):
        reviews.act("accept", NewReview(newest("proposal"), reviewer.pk))
    assert Override.objects.count() == 2


# D11
def test_reverting_is_a_new_row(profile: ModelProfile, reviewer: User):
    overrides.declare(profile.pk, {"tools": True})
    overrides.add(NewOverride(profile.pk, "tools", False))
    entry = newest("override")
    reviews.act("revert", NewReview(entry, reviewer.pk, "it works"))
    assert value(profile) is True and Override.objects.count() == 3
    with pytest.raises(Conflict):
        reviews.act("revert", NewReview(entry, reviewer.pk))


# D3: a reviewer's disagreement is a note and "needs review", not a change.
def test_a_disagreement_needs_a_note_and_changes_no_value(profile: ModelProfile, reviewer: User):
    overrides.add(NewOverride(profile.pk, "tools", True))
    entry = newest("override")
    with pytest.raises(ValueError, match="reason"):
        reviews.act("disagree", NewReview(entry, reviewer.pk))
    reviews.act("disagree", NewReview(entry, reviewer.pk, "It never calls one."))
    assert value(profile) is True and Override.objects.count() == 1
    assert Review.objects.get().note == "It never calls one."
    with pytest.raises(ValueError, match="Only an override"):
        reviews.act("agree", NewReview(newest("review"), reviewer.pk))


def test_what_is_nothing_is_said(profile: ModelProfile, reviewer: User):
    overrides.add(NewOverride(profile.pk, "tools", True))
    with pytest.raises(ValueError, match="Choose one of"):
        reviews.act("burn", NewReview(newest("override"), reviewer.pk))
    with pytest.raises(NotFound):
        reviews.act("agree", NewReview(987_654_321, reviewer.pk))
    with pytest.raises(Conflict, match="does not fit this entry"):
        reviews.act("accept", NewReview(newest("override"), reviewer.pk))
