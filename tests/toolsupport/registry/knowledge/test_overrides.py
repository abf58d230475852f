"""Claims are appended and withdrawn; the effective values are always their fold."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from tests.effective_values import holding
from tests.examples import at_least
from tests.factories import ModelProfileFactory, UserFactory
from toolsupport.core.errors import Conflict, NotFound
from toolsupport.models import ModelProfile, Override
from toolsupport.registry.knowledge import effective_values, overrides
from toolsupport.registry.knowledge.overrides import NewOverride


def _tools(profile: ModelProfile) -> tuple[object, str]:
    row = holding(profile, "tools")
    return row.value, row.source


@pytest.mark.django_db
def test_a_persons_word_beats_the_servers():  # D3
    profile = ModelProfileFactory()
    overrides.declare(profile.pk, {"tools": True})
    assert _tools(profile) == (True, "declared")
    overrides.add(NewOverride(profile.pk, "tools", False, actor=UserFactory(username="Ana").pk, reason="tried it"))
    assert _tools(profile) == (False, "user_confirmed")
    assert "Ana's override" in overrides.stands(profile.pk, "tools")


@pytest.mark.django_db
def test_following_the_evidence_withdraws_every_decision_of_people():
    profile = ModelProfileFactory()
    overrides.declare(profile.pk, {"tools": False})
    for value in (True, False, True):
        overrides.add(NewOverride(profile.pk, "tools", value))
    assert overrides.follow_evidence(NewOverride(profile.pk, "tools")) == 3
    assert _tools(profile) == (False, "declared")
    assert overrides.follow_evidence(NewOverride(profile.pk, "tools")) == 0


@pytest.mark.django_db
def test_withdrawing_lets_the_former_one_show_again():
    profile = ModelProfileFactory()
    overrides.add(NewOverride(profile.pk, "tools", True))
    overrides.add(NewOverride(profile.pk, "tools", False))
    newest = Override.objects.get(profile=profile, seq=2)
    overrides.withdraw(newest.pk, NewOverride(profile.pk, "tools"))
    assert _tools(profile) == (True, "user_confirmed")
    with pytest.raises(Conflict, match="already withdrawn"):
        overrides.withdraw(newest.pk, NewOverride(profile.pk, "tools"))


@pytest.mark.django_db
def test_a_restored_decision_can_be_withdrawn_again():
    profile = ModelProfileFactory()
    overrides.add(NewOverride(profile.pk, "tools", True))
    overrides.follow_evidence(NewOverride(profile.pk, "tools"))
    withdrawal = Override.objects.get(profile=profile, seq=2)
    Override.objects.create(
        profile=profile, seq=3, capability="tools", source="user_confirmed", build_key="b", withdraws=withdrawal
    )
    assert _tools(profile) == (True, "user_confirmed")
    assert overrides.follow_evidence(NewOverride(profile.pk, "tools")) == 1
    assert _tools(profile)[0] is None


@pytest.mark.django_db
def test_nothing_is_updated_or_deleted():
    profile = ModelProfileFactory()
    overrides.add(NewOverride(profile.pk, "tools", True, reason="first"))
    before = Override.objects.values().get(seq=1)
    overrides.add(NewOverride(profile.pk, "tools", False))
    overrides.follow_evidence(NewOverride(profile.pk, "tools"))
    assert Override.objects.values().get(seq=1) == before
    assert list(Override.objects.values_list("seq", flat=True)) == [1, 2, 3, 4]


@pytest.mark.django_db
def test_the_second_of_two_editors_is_told_what_stands():
    profile = ModelProfileFactory()
    overrides.add(NewOverride(profile.pk, "tools", True, newest=0, actor=UserFactory(username="Ana").pk))
    with pytest.raises(Conflict) as raised:
        overrides.add(NewOverride(profile.pk, "tools", False, newest=0))
    assert "Ana's override" in raised.value.current
    assert Override.objects.count() == 1


@pytest.mark.django_db
def test_a_claim_about_something_else_is_no_conflict():
    profile = ModelProfileFactory()
    overrides.add(NewOverride(profile.pk, "vision", True))
    overrides.add(NewOverride(profile.pk, "tools", False, session="a-conversation"))
    overrides.add(NewOverride(profile.pk, "tools", True, newest=0))
    assert _tools(profile)[0] is True


@pytest.mark.django_db
def test_a_conversations_claim_changes_nothing_for_everyone():
    profile = ModelProfileFactory()
    overrides.add(NewOverride(profile.pk, "tools", False, "runtime_error", session="a-conversation"))
    assert _tools(profile) == (None, "default")


@pytest.mark.django_db
def test_impossible_claims_are_refused():
    profile, other = ModelProfileFactory(), ModelProfileFactory()
    overrides.add(NewOverride(other.pk, "tools", True))
    foreign = Override.objects.get(profile=other)
    with pytest.raises(ValueError, match="withdraw the override instead"):
        overrides.add(NewOverride(profile.pk, "tools", None))
    with pytest.raises(ValueError, match="not a source"):
        overrides.add(NewOverride(profile.pk, "tools", True, "profile"))
    with pytest.raises(NotFound):
        overrides.add(NewOverride(10**6, "tools", True))
    with pytest.raises(NotFound):
        overrides.withdraw(foreign.pk, NewOverride(profile.pk, "tools"))


@pytest.mark.django_db(transaction=True)
def test_of_eight_writers_one_wins():  # D3
    profile = ModelProfileFactory()
    together = Barrier(8)

    def write(number: int) -> str:
        try:
            together.wait(10)
            overrides.add(NewOverride(profile.pk, "tools", True, newest=0, reason=str(number)))
            return "won"
        except Conflict as conflict:
            return "lost" if "override of" in conflict.current else f"told {conflict.current!r}"
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        outcomes = sorted(pool.map(write, range(8)))
    assert outcomes == ["lost"] * 7 + ["won"]
    assert Override.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_eight_writers_who_saw_no_page_lose_nothing():
    profile = ModelProfileFactory()
    together = Barrier(8)

    def write(number: int) -> int:
        try:
            together.wait(10)
            return overrides.add(NewOverride(profile.pk, "tools", bool(number % 2)))
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(write, range(8))) == list(range(1, 9))


ACTS = st.one_of(
    st.tuples(st.just("add"), st.sampled_from(["tools", "vision"]), st.booleans(), st.sampled_from(["", "chat"])),
    st.tuples(st.just("measure"), st.sampled_from(["tools", "vision"]), st.booleans()),
    st.tuples(st.just("declare"), st.sampled_from(["tools", "vision"]), st.booleans()),
    st.tuples(st.just("follow"), st.sampled_from(["tools", "vision"])),
    st.tuples(st.just("rebuild"), st.sampled_from("abc")),
)


class WhatHoldsIsTheFold(TestCase):
    """What is read, for one model and for many, is the fold of all claims as they are at this moment (D3)."""

    @settings(max_examples=at_least(10), deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(st.lists(ACTS, max_size=10))
    def test_the_cache_is_never_older_than_the_claims(self, acts: list[tuple]) -> None:
        profile = ModelProfileFactory(name="qwen3:8b")
        for act in (("none",), *acts):
            _perform(profile, act)
            fresh = ModelProfile.objects.select_related("server").get(pk=profile.pk)
            said = effective_values.claims([fresh.pk])[fresh.pk]
            folded = effective_values.fold(fresh, said)
            self.assertEqual(effective_values.known_of_each([fresh]), {fresh.pk: folded})
            self.assertEqual(effective_values.known(fresh), folded)
            self.assertEqual(effective_values.known(fresh, "chat"), effective_values.fold(fresh, said, "chat"))


def _perform(profile: ModelProfile, act: tuple) -> None:
    match act:
        case ("add", capability, value, session):
            overrides.add(NewOverride(profile.pk, capability, value, session=session))
        case ("measure", capability, value):
            overrides.add(NewOverride(profile.pk, capability, value, "auto_detected"))
        case ("declare", capability, value):
            overrides.declare(profile.pk, {capability: value})
        case ("follow", capability):
            overrides.follow_evidence(NewOverride(profile.pk, capability))
        case ("rebuild", digest):
            profile.digest = digest
            profile.save()
