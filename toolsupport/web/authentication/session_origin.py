"""Begins sessions and stores in each how the person was authenticated.

The rule that requires a second factor is for sessions that began with a password: a provider, a trusted proxy and an
operator on the machine of the site have checks of their own.
"""

from __future__ import annotations

from django.contrib import auth
from django.contrib.auth.models import User
from django.http import HttpRequest

from toolsupport.registry.people import session_store

BACKEND = "django.contrib.auth.backends.ModelBackend"


def login(request: HttpRequest, person: User, vouched_by: str = "") -> None:
    """Begin a session; `vouched_by` is the provider or proxy that authenticated the person.

    The session key is always new, also if Django would keep the key of an earlier session of this person.
    """
    before = request.session.session_key
    auth.login(request, person, BACKEND)
    if request.session.session_key == before:
        request.session.cycle_key()
    if vouched_by:
        request.session[session_store.VOUCHED] = vouched_by
    else:
        request.session.pop(session_store.VOUCHED, None)
