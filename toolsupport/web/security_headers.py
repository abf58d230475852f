"""Adds security headers to every response: Content-Security-Policy and cache control."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.decorators import sync_and_async_middleware

DIRECTIVES = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self' data:",
    "font-src": "'self'",
    "connect-src": "'self'",
    "form-action": "'self'",
    "frame-ancestors": "'none'",
    "base-uri": "'none'",
}
HEADER = "Content-Security-Policy"


def policy(directives: dict[str, str] = DIRECTIVES) -> str:
    """Return the header's value."""
    return "; ".join(f"{name} {sources}" for name, sources in directives.items())


@sync_and_async_middleware
def ContentSecurityPolicy(get_response: Any) -> Callable[[HttpRequest], Any]:
    """Middleware that adds both headers unless a view has set its own."""
    value = policy()
    if iscoroutinefunction(get_response):

        async def answer_async(request: HttpRequest) -> HttpResponseBase:
            return _with_policy(await get_response(request), value)

        return answer_async

    def answer(request: HttpRequest) -> HttpResponseBase:
        return _with_policy(get_response(request), value)

    return answer


def _with_policy(response: HttpResponseBase, value: str) -> HttpResponseBase:
    response.headers.setdefault(HEADER, value)
    # Pages are personal and would still be shown after signing out; static files set their own header.
    response.headers.setdefault("Cache-Control", "private, no-store")
    return response
