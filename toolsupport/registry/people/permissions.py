"""Who may do what: actions by role, declared by every view."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from functools import wraps
from typing import Any, cast

from asgiref.sync import iscoroutinefunction, sync_to_async
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser, User
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import resolve_url
from django_htmx.http import HttpResponseClientRedirect

from toolsupport.core.errors import NotAllowed, NotFound
from toolsupport.registry import raw_sql

Person = AbstractBaseUser | AnonymousUser
View = Callable[..., Any]  # gives an answer, or a coroutine of one


class Action(StrEnum):
    """Everything a role may or may not do."""

    SEE_MODELS = "see models and servers"
    CHAT = "chat"
    DETECT = "start a test of a model"
    DECIDE_FOR_CHAT = "decide for an own conversation"
    DECIDE_FOR_ALL = "decide for everyone"
    REVIEW = "review decisions"
    EXPORT_HISTORY = "export the history"
    ADMINISTER = "administer"
    OWN_ACCOUNT = "look after your own account"


_VIEWER = frozenset({Action.SEE_MODELS, Action.OWN_ACCOUNT})
_USER = _VIEWER | {Action.CHAT, Action.DETECT, Action.DECIDE_FOR_CHAT}
_REVIEWER = _USER | {Action.DECIDE_FOR_ALL, Action.REVIEW, Action.EXPORT_HISTORY}

# A role is the Django group of its name; superusers may do everything.
ROLES: dict[str, frozenset[Action]] = {
    "viewer": _VIEWER,
    "user": _USER,
    "reviewer": _REVIEWER,
    "admin": frozenset(Action),
}
PUBLIC = "public"

# What a key may be made for; it never lets its owner do more than their roles do.
SCOPES: dict[str, frozenset[Action]] = {
    "models": frozenset({Action.SEE_MODELS}),
    "chat": frozenset({Action.CHAT}),
    "detect": frozenset({Action.DETECT}),
}

ROLES_OF = """SELECT auth_user.is_superuser, auth_group.name FROM auth_user
LEFT JOIN auth_user_groups ON auth_user_groups.user_id = auth_user.id
LEFT JOIN auth_group ON auth_group.id = auth_user_groups.group_id
WHERE auth_user.id = %s AND auth_user.is_active"""


def actions(person: Person) -> frozenset[Action]:
    """Everything this person may do now, read afresh (one query); nobody inactive may do anything."""
    if not isinstance(person, User) or not person.is_active:
        return frozenset()
    if person.is_superuser:
        return frozenset(Action)
    return _of_roles(person.groups.values_list("name", flat=True))


def actions_of(user_id: int) -> frozenset[Action]:
    """The same for the person of this id, in one query: what every frame of a socket asks for."""
    found = raw_sql.rows(ROLES_OF, user_id)
    if any(is_superuser for is_superuser, _ in found):
        return frozenset(Action)
    return _of_roles(name for _, name in found)


def actions_of_each(user_ids: Collection[int]) -> dict[int, frozenset[Action]]:
    """The same for many people in one query; those who are inactive or absent are left out."""
    found: dict[int, frozenset[Action]] = {}
    people = User.objects.filter(pk__in=user_ids, is_active=True)
    for user_id, is_superuser, group in people.values_list("pk", "is_superuser", "groups__name"):
        allowed = frozenset(Action) if is_superuser else _of_roles([group])
        found[user_id] = found.get(user_id, frozenset()) | allowed
    return found


def _of_roles(names: Iterable[str | None]) -> frozenset[Action]:
    return frozenset[Action]().union(*(ROLES.get(name or "", frozenset()) for name in names))


def may(person: Person, action: Action) -> bool:
    """True when one of the person's roles includes the action."""
    return action in actions(person)


def requires(action: Action) -> Callable[[View], View]:
    """Declare that a view is for people who may do `action`; strangers are sent to sign in, others get a 403."""

    def declare(view: View) -> View:
        guarded = _guarded_async if iscoroutinefunction(view) else _guarded
        return _declared(view, guarded(view, action), action)

    return declare


def _guarded(view: View, action: Action) -> View:
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not request.user.is_authenticated:
            return _to_login(request)
        _demand(request, request.user, action)
        return cast(HttpResponseBase, view(request, *args, **kwargs))

    return guarded


def _guarded_async(view: View, action: Action) -> View:
    async def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        person = await request.auser()
        if not person.is_authenticated:
            return _to_login(request)
        await sync_to_async(_demand)(request, person, action)
        return cast(HttpResponseBase, await view(request, *args, **kwargs))

    return guarded


def _demand(request: HttpRequest, person: Person, action: Action) -> None:
    """Raises PermissionDenied where the person may not, or the key that the request came with."""
    scopes: Collection[str] | None = getattr(request, "key_scopes", None)
    if scopes is not None and not any(action in SCOPES.get(scope, ()) for scope in scopes):
        raise PermissionDenied(f"This key was not made to {action}.")
    if not may(person, action):
        raise PermissionDenied(f"Your role does not allow you to {action}.")


def public(view: View) -> View:
    """Declare that anybody may see a view, signed in or not."""
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
    """The one place that turns the errors of our own tree into those of the web."""
    try:
        yield
    except NotFound as error:
        raise Http404(str(error)) from error
    except NotAllowed as error:
        raise PermissionDenied(str(error)) from error


def _to_login(request: HttpRequest) -> HttpResponseBase:
    """A redirect that comes back to the page, not to the fragment or the form that was asked for."""
    htmx = getattr(request, "htmx", None)
    if htmx:
        back = htmx.current_url_abs_path or resolve_url("/")
        return HttpResponseClientRedirect(redirect_to_login(back).url)
    return redirect_to_login(request.get_full_path() if request.method in ("GET", "HEAD") else "/")
