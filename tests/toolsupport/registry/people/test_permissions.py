"""Roles, and that every address of the site declares who may see it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.test import Client, RequestFactory
from django.urls import URLPattern, URLResolver, get_resolver

from tests.factories import UserFactory
from toolsupport.core.errors import NotAllowed, NotFound
from toolsupport.registry.people.permissions import (
    PUBLIC,
    ROLES,
    Action,
    actions,
    may,
    public,
    requires,
)

# The table of SAFETY, chapter 3: who may, from the lowest role up.  # O5
MATRIX = [
    (Action.SEE_MODELS, "viewer user reviewer admin"),
    (Action.CHAT, "user reviewer admin"),
    (Action.DETECT, "user reviewer admin"),
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


@requires(Action.CHAT)
def room(request: HttpRequest) -> HttpResponse:
    return HttpResponse("in")


def _ask(user: Any, method: str = "get", **headers: str) -> HttpRequest:
    request = getattr(RequestFactory(), method)("/room/?a=1", headers=headers)
    request.user = user
    return request


@pytest.mark.django_db
def test_the_view_opens_for_those_who_may(alice: User, charlie: User):
    assert room(_ask(alice)).status_code == 200
    with pytest.raises(PermissionDenied, match="does not allow you to chat"):
        room(_ask(charlie))


def test_strangers_are_sent_to_sign_in_and_come_back():
    assert room(_ask(AnonymousUser()))["Location"] == "/login/?next=/room/%3Fa%3D1"
    assert room(_ask(AnonymousUser(), "post"))["Location"] == "/login/?next=/"


@pytest.mark.parametrize(("error", "answer"), [(NotFound("x"), Http404), (NotAllowed("x"), PermissionDenied)])
def test_our_own_errors_become_answers_of_the_web(error: Exception, answer: type[Exception]):
    @public
    def view(request: HttpRequest) -> HttpResponse:
        raise error

    with pytest.raises(answer):
        view(_ask(AnonymousUser()))


@pytest.mark.django_db
def test_htmx_strangers_are_redirected_as_a_whole_page(client: Client):
    answer = client.get("/models/", headers={"HX-Request": "true", "HX-Current-URL": "http://testserver/models/?q=a"})
    assert answer.headers["HX-Redirect"] == "/login/?next=/models/%3Fq%3Da"


def _views(patterns: list[Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for entry in patterns:
        if isinstance(entry, URLResolver):
            if entry.namespace != "admin":  # Django's admin has a permission check of its own.
                yield from _views(entry.url_patterns, prefix + str(entry.pattern))
        elif isinstance(entry, URLPattern):
            yield prefix + str(entry.pattern), entry.callback


def test_every_address_declares_its_permission():
    views = list(_views(get_resolver().url_patterns))
    assert len(views) > 10
    for address, view in views:
        permission = getattr(view, "permission", None)
        assert permission == PUBLIC or permission in list(Action), f"/{address} does not say who may see it"
