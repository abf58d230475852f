"""Sets the person of a request from the row that was read with the session; Django would read it again."""

from __future__ import annotations

from functools import partial
from typing import Any, cast

from django.contrib.auth import SESSION_KEY, aget_user, get_user
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from toolsupport.registry.people import session_store

Person = AbstractBaseUser | AnonymousUser


class SessionPerson(AuthenticationMiddleware):
    """Django's middleware, with one statement for session, person and roles."""

    def process_request(self, request: HttpRequest) -> None:
        super().process_request(request)
        request.user = SimpleLazyObject(partial(_person, request))  # type: ignore[assignment]
        request.auser = partial(_person_async, request)  # type: ignore[assignment]


def _person(request: Any) -> Person:
    """The two attributes have Django's names, because Django's own functions set and read them."""
    if not hasattr(request, "_cached_user"):
        request._cached_user = session_store.person_of(request.session) or get_user(request)
    return cast(Person, request._cached_user)


async def _person_async(request: Any) -> Person:
    if not hasattr(request, "_acached_user"):
        await request.session.aget(SESSION_KEY)  # loads the row
        request._acached_user = session_store.person_of(request.session) or await aget_user(request)
    return cast(Person, request._acached_user)
