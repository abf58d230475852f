"""The declaration of a view is enforced: who may enter, who is sent to sign in, and what is read for it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser, Group, User
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.test import Client, RequestFactory
from django.urls import URLPattern, URLResolver, get_resolver

from toolsupport.core.errors import NotAllowed, NotFound
from toolsupport.registry.people.permissions import PUBLIC, ROLES, Action
from toolsupport.web.view_permissions import AuthedRequest, actions_of, public, requires


@requires(Action.CHAT)
def room(request: AuthedRequest) -> HttpResponse:
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


@requires(Action.CHAT)
def counting(request: AuthedRequest) -> HttpResponse:
    assert actions_of(request) == request.actions == ROLES["user"]
    return HttpResponse()


@pytest.mark.django_db
def test_the_roles_are_read_once_per_request_and_again_for_the_next(
    alice: User, django_assert_num_queries: Any
) -> None:
    alice.groups.set([Group.objects.get_or_create(name="user")[0]])
    with django_assert_num_queries(1):
        counting(_ask(alice))
    alice.groups.clear()
    with pytest.raises(PermissionDenied):
        counting(_ask(alice))


@pytest.mark.django_db
def test_whoever_signs_in_during_a_request_has_their_own_actions_from_then_on(alice: User) -> None:
    request = _ask(AnonymousUser())
    assert actions_of(request) == frozenset()
    request.user = alice
    assert Action.CHAT in actions_of(request)
    request.user = AnonymousUser()
    assert actions_of(request) == frozenset()


def test_a_request_that_no_middleware_has_seen_may_do_nothing() -> None:
    assert actions_of(RequestFactory().get("/")) == frozenset()
