"""Declares the permission of each view: an action, or that the view is public."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, cast

from asgiref.sync import iscoroutinefunction, sync_to_async
from django.contrib.auth.models import AnonymousUser, User
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, resolve_url
from django_htmx.http import HttpResponseClientRedirect
from django_htmx.middleware import HtmxDetails

from toolsupport.core.error_statuses import row_of
from toolsupport.core.errors import NotAllowed, NotFound
from toolsupport.registry.people import permissions, session_store
from toolsupport.registry.people.permissions import PUBLIC, SCOPES, Action

PAGES: dict[int, type[Exception]] = {403: PermissionDenied, 404: Http404}
View = Callable[..., Any]  # returns a response, or a coroutine of one


class AuthedRequest(HttpRequest):
    """The type of the request in every view with `requires`; `actions` are the person's permissions.

    `key` is the id of the API key that the request came with, 0 for a session.
    """

    user: User
    htmx: HtmxDetails
    actions: frozenset[Action]
    key: int = 0


def actions_of(request: HttpRequest) -> frozenset[Action]:
    """Return the person's permissions: read at the first call and cached for the rest of the request."""
    person = getattr(request, "user", None)  # an error page may be rendered before any middleware has run
    if person is None:
        return frozenset()
    known = _known_actions(request, person)
    if known is None:
        # Read with the session of this request, unless a person has signed in since.
        known = getattr(person, "actions_read", None)
        known = permissions.actions(person) if known is None else known
        request._actions = (person.pk, known)  # type: ignore[attr-defined]
    return known


def _known_actions(request: HttpRequest, person: User | AnonymousUser) -> frozenset[Action] | None:
    """Return the permissions that this request has read; signing in or out changes the person during a request."""
    known: tuple[int | None, frozenset[Action]] | None = getattr(request, "_actions", None)
    return known[1] if known is not None and known[0] == person.pk else None


def requires(action: Action, before_factor: bool = False, of_key: Action | None = None) -> Callable[[View], View]:
    """Declare the action that a view requires; anonymous visitors are sent to sign in, others get a 403.

    All views without `before_factor` redirect people without a required second factor to the account page. A key whose
    scopes allow `of_key` needs no scope for the action.
    """

    def declare(view: View) -> View:
        guarded = _guarded_async if iscoroutinefunction(view) else _guarded
        enough = frozenset({action, of_key or action})
        marked = _declared(view, guarded(view, action, before_factor, enough), action)
        marked.before_factor = before_factor  # type: ignore[attr-defined]
        return marked

    return declare


def _guarded(view: View, action: Action, before_factor: bool, of_key: frozenset[Action]) -> View:
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not request.user.is_authenticated:
            return _to_login(request)
        if not before_factor and confined(request):
            return _to_set_up(request)
        _demand(request, action, of_key)
        return cast(HttpResponseBase, view(request, *args, **kwargs))

    return guarded


def _guarded_async(view: View, action: Action, before_factor: bool, of_key: frozenset[Action]) -> View:
    async def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        person = await request.auser()
        if not person.is_authenticated:
            return _to_login(request)
        if not before_factor and confined(request):
            return _to_set_up(request)
        # The lazy object would read its row again, which a coroutine must not do.
        request.user = person
        if _known_actions(request, person) is None and not hasattr(person, "actions_read"):
            await sync_to_async(_demand)(request, action, of_key)
        else:
            _demand(request, action, of_key)
        return cast(HttpResponseBase, await view(request, *args, **kwargs))

    return guarded


def confined(request: HttpRequest) -> bool:
    """Return whether the request comes from a session that lacks a required second factor; API keys need none."""
    return not hasattr(request, "key_scopes") and session_store.confined(getattr(request, "session", None))


def _to_set_up(request: HttpRequest) -> HttpResponseBase:
    return HttpResponseClientRedirect("/account/") if getattr(request, "htmx", None) else redirect("account")


def _demand(request: HttpRequest, action: Action, of_key: frozenset[Action]) -> None:
    """Raise PermissionDenied if the person, or the request's API key, lacks the permission."""
    scopes: Collection[str] | None = getattr(request, "key_scopes", None)
    if scopes is not None and not any(of_key & SCOPES.get(scope, frozenset()) for scope in scopes):
        raise PermissionDenied(f"This key does not allow {action}.")
    allowed = actions_of(request)
    if action not in allowed:
        raise PermissionDenied(f"Your role does not allow you to {action}.")
    request.actions = allowed  # type: ignore[attr-defined]
    request.key = getattr(request, "key", 0)  # type: ignore[attr-defined]


def public(view: View) -> View:
    """Declare that a view is open to everyone, signed in or not."""
    return _declared(view, view, PUBLIC)


def _declared(view: View, inner: Any, permission: str) -> View:
    if iscoroutinefunction(inner):

        async def declared_async(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            with _as_answers_of_the_web():
                return cast(HttpResponseBase, await inner(request, *args, **kwargs))

        return _marked(view, declared_async, permission)

    def declared(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        with _as_answers_of_the_web():
            return cast(HttpResponseBase, inner(request, *args, **kwargs))

    return _marked(view, declared, permission)


def _marked(view: View, declared: View, permission: str) -> View:
    marked = wraps(view)(declared)
    marked.permission = permission  # type: ignore[attr-defined]
    return marked


@contextmanager
def _as_answers_of_the_web() -> Iterator[None]:
    """Convert our own errors into those for which Django has a page."""
    try:
        yield
    except (NotFound, NotAllowed) as error:
        raise PAGES[row_of(error).status](str(error)) from error


def _to_login(request: HttpRequest) -> HttpResponseBase:
    """Redirect to sign-in and back to the page, not to the requested fragment or form."""
    htmx = getattr(request, "htmx", None)
    if htmx:
        back = htmx.current_url_abs_path or resolve_url("/")
        return HttpResponseClientRedirect(redirect_to_login(back).url)
    return redirect_to_login(request.get_full_path() if request.method in ("GET", "HEAD") else "/")
