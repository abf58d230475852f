"""Stores in a session that its person proved the second factor, which every change of the factor requires.

A sign-in does not count: the browser may have been left open since then.
"""

from __future__ import annotations

import time
from functools import wraps
from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import redirect

from toolsupport.core.errors import NotAllowed
from toolsupport.registry.factors import second_factors
from toolsupport.web.view_permissions import AuthedRequest, View

KEY = "second factor proved at"
SECONDS = 10 * 60
FIRST = "Confirm your second factor first. Load the page again."


def put(request: HttpRequest) -> None:
    """Store the time of the proof that was just accepted."""
    request.session[KEY] = int(time.time())


def fresh(request: HttpRequest) -> bool:
    """Return whether this session proved the second factor a short time ago."""
    return 0 <= time.time() - int(request.session.get(KEY, 0)) < SECONDS


def demand(request: AuthedRequest) -> None:
    """Raise NotAllowed for a person who has a second factor and did not prove it in this session."""
    if not fresh(request) and second_factors.active(request.user.pk):
        raise NotAllowed(FIRST)


def needs_proof(view: View) -> View:
    """Send people to the page that asks for the second factor, unless they have none or proved it."""

    @wraps(view)
    def guarded(request: AuthedRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            demand(request)
        except NotAllowed:
            return redirect("factor-check")
        answer: HttpResponseBase = view(request, *args, **kwargs)
        return answer

    return guarded
