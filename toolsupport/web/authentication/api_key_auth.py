"""Authenticates programs by API key, for /v1 and /api."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable
from contextvars import copy_context
from functools import partial
from typing import Any

from asgiref.sync import iscoroutinefunction
from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.decorators import sync_and_async_middleware

from toolsupport.registry.people import api_keys, security_events, sign_in_limits
from toolsupport.services import database_thread
from toolsupport.web import api_errors
from toolsupport.web.client_ip import address_of
from toolsupport.web.view_permissions import actions_of

MINUTE = 60
NEEDED = "An API key is needed: send the header `Authorization: Bearer <key>`. Create one on your account page."
WRONG = "This API key is unknown, revoked or expired. Create a new one on your account page."


class RateLimiter:
    """Counts the requests of each key in the current minute."""

    def __init__(self) -> None:
        self._minute = -1
        self._counted: Counter[int] = Counter()

    def wait(self, key: int, most: int, now: float) -> int:
        """Count a request; return the seconds until the next is allowed, 0 if this one is."""
        if int(now // MINUTE) != self._minute:
            self._minute = int(now // MINUTE)
            self._counted.clear()
        self._counted[key] += 1
        return 0 if self._counted[key] <= most else math.ceil(MINUTE - now % MINUTE)


rate = RateLimiter()


@sync_and_async_middleware
def Bearer(get_response: Any) -> Callable[[HttpRequest], Any]:
    """Middleware for API keys; runs after the session middleware."""
    if iscoroutinefunction(get_response):

        async def answer_async(request: HttpRequest) -> HttpResponseBase:
            refused: HttpResponseBase | None = None
            if api_errors.wanted_by(request):
                # In a copy of the context, which has the number of the request for the log.
                refused = await database_thread.run(partial(copy_context().run, _refused, request))
            response: HttpResponseBase = refused or await get_response(request)
            return response

        return answer_async

    def answer(request: HttpRequest) -> HttpResponseBase:
        refused = _refused(request) if api_errors.wanted_by(request) else None
        return refused or get_response(request)

    return answer


def _refused(request: HttpRequest) -> HttpResponse | None:
    """Return the response that refuses the request; None if it may continue, with its person set."""
    kind, _, key = request.headers.get("Authorization", "").partition(" ")
    if kind.lower() != "bearer" or not key.strip():
        # The header of Anthropic's clients, which send a blank token beside it if their variable for one is empty.
        key = request.headers.get("X-Api-Key", "")
    if not key.strip():
        # The short chain has no sessions: two headers of which one held a key are one here that holds none.
        signed_in = hasattr(request, "user") and request.user.is_authenticated
        return None if signed_in else _unknown(NEEDED)
    holder = api_keys.holder(key.strip())
    if holder is None:
        return _wrong(request)
    wait = rate.wait(holder.key, settings.ENV["TOOLSUPPORT_KEY_REQUESTS"], time.time())
    if wait:
        return _slow(f"Too many requests with this key. Try again in {wait} s.", wait)
    _let_in(request, holder)
    # Read here, in the database's thread, where the view would need another trip to it.
    actions_of(request)
    return None


def _wrong(request: HttpRequest) -> HttpResponse:
    """Refuse a wrong key, and count it for the address. A valid key from there still works."""
    address = address_of(request)
    security_events.record("api_key_wrong", address)
    wait = sign_in_limits.wrong_token("api_key_wrong", address)
    return _slow(f"Too many wrong API keys. Try again in {wait} s.", wait) if wait else _unknown(WRONG)


def _slow(message: str, wait: int) -> HttpResponse:
    slow = api_errors.answer(429, message, code="rate_limit")
    slow.headers["Retry-After"] = str(wait)
    return slow


def _let_in(request: HttpRequest, holder: api_keys.KeyHolder) -> None:
    async def person() -> User:
        return holder.person

    request.user = holder.person
    request.auser = person
    request.key = holder.key  # type: ignore[attr-defined]
    request.key_scopes = holder.scopes  # type: ignore[attr-defined]
    # A browser never adds this header automatically, so the request cannot come from a page of another site.
    request._dont_enforce_csrf_checks = True  # type: ignore[attr-defined]


def _unknown(message: str) -> HttpResponse:
    refused = api_errors.answer(401, message, code="invalid_api_key")
    refused.headers["WWW-Authenticate"] = "Bearer"
    return refused
