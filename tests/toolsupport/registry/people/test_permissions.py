"""The permissions of each role."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import AnonymousUser, User

from tests.factories import UserFactory
from toolsupport.registry.people.permissions import ROLES, Action, actions, may

# The table of SAFETY, chapter 3: who may, from the lowest role up.  # O5
MATRIX = [
    (Action.SEE_MODELS, "viewer user reviewer admin"),
    (Action.CHAT, "user reviewer admin"),
    (Action.DETECT, "user reviewer admin"),
    (Action.EDIT_EXAMS, "user reviewer admin"),
    (Action.DECIDE_FOR_CHAT, "user reviewer admin"),
    (Action.DECIDE_FOR_ALL, "reviewer admin"),
    (Action.REVIEW, "reviewer admin"),
    (Action.EXPORT_HISTORY, "reviewer admin"),
    (Action.ADMINISTER, "admin"),
    (Action.OWN_ACCOUNT, "viewer user reviewer admin"),
]


@pytest.mark.django_db
@pytest.mark.parametrize(("action", "roles"), MATRIX)
@pytest.mark.parametrize("role", ROLES)
def test_a_role_may_exactly_what_its_row_says(role: str, action: Action, roles: str):
    assert may(UserFactory(role=role), action) == (role in roles.split())


def test_the_matrix_speaks_of_every_action():
    assert [action for action, _ in MATRIX] == list(Action)


@pytest.mark.django_db
def test_nobody_without_a_role_may_anything_and_a_superuser_everything():
    assert actions(AnonymousUser()) == frozenset()
    assert actions(UserFactory()) == frozenset()
    assert actions(UserFactory(is_superuser=True)) == frozenset(Action)


@pytest.mark.django_db
def test_the_inactive_may_nothing_whatever_their_role():
    assert actions(UserFactory(role="admin", is_active=False)) == frozenset()
    assert actions(UserFactory(is_superuser=True, is_active=False)) == frozenset()


@pytest.mark.django_db
def test_a_role_taken_away_counts_at_once(bob: User):
    assert may(bob, Action.ADMINISTER)
    bob.groups.clear()
    assert not may(bob, Action.ADMINISTER)
