"""Signs in the people that a trusted proxy names in a header, for pages, programs without a key, and sockets.

The header counts only from an address in TOOLSUPPORT_TRUSTED_PROXIES, sent once, in its own spelling. A session that
began with it is valid only while each request names the same person.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from asgiref.sync import iscoroutinefunction
from channels.db import database_sync_to_async as in_database
from django.conf import settings
from django.contrib.auth import logout
from django.contrib.auth.models import AnonymousUser, User
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.decorators import sync_and_async_middleware

from toolsupport.core import client_address
from toolsupport.core.errors import NotAllowed
from toolsupport.registry.people import identities, security_events, session_store
from toolsupport.web import api_errors
from toolsupport.web.authentication import session_origin
from toolsupport.web.client_ip import address_of

MARK = "named by the proxy"  # in a session: the name in the header
# Browsers send at least one of these with each request that a page of another site can cause.
OF_BROWSERS = ("Origin", "Referer", "Sec-Fetch-Site")


def configured() -> bool:
    return bool(settings.ENV["TOOLSUPPORT_TRUSTED_HEADER"])


def name_in(scope: Mapping[str, Any]) -> str:
    """Return the name that a trusted proxy sent with this request, "" for none."""
    peer = client_address.parsed((scope.get("client") or ("",))[0])
    proxies = settings.ENV["TOOLSUPPORT_TRUSTED_PROXIES"]
    if not configured() or peer is None or not any(peer in network for network in proxies):
        return ""
    header = settings.ENV["TOOLSUPPORT_TRUSTED_HEADER"].lower().encode()
    folded = header.replace(b"_", b"-")
    sent = [(name, value) for name, value in scope["headers"] if name.lower().replace(b"_", b"-") == folded]
    if len(sent) != 1 or sent[0][0].lower() != folded:
        return ""
    # Strips only the blanks that HTTP allows around a value: with others it is another name.
    return str(sent[0][1].strip(b" \t").decode("utf-8", "replace"))


@sync_and_async_middleware
def TrustedHeader(get_response: Any) -> Callable[[HttpRequest], Any]:
    """Middleware that runs after the sessions and before API keys."""
    if iscoroutinefunction(get_response):

        async def answer_async(request: HttpRequest) -> HttpResponseBase:
            if configured():
                await in_database(_settle)(request)
            return cast(HttpResponseBase, await get_response(request))

        return answer_async

    def answer(request: HttpRequest) -> HttpResponseBase:
        if configured():
            _settle(request)
        return cast(HttpResponseBase, get_response(request))

    return answer


def _settle(request: HttpRequest) -> None:
    """Set the person of the request to the named one; end a session that began with another name."""
    name = name_in(getattr(request, "scope", {}))
    mark = request.session.get(MARK)
    if mark is not None and mark != name:
        logout(request)
    if name and request.user.get_username() != name:
        _enter(request, name)


def _enter(request: HttpRequest, name: str) -> None:
    try:
        person = identities.of_header(name)
    except NotAllowed:
        security_events.record("header_refused", address_of(request))
        logout(request)
        return
    if api_errors.wanted_by(request):
        _set(request, person)  # programs keep no cookies: each of their requests would leave a session
        # A program has no form token. A page of another site can send neither this type nor a request without a mark.
        if request.content_type == "application/json" and not any(name in request.headers for name in OF_BROWSERS):
            request._dont_enforce_csrf_checks = True  # type: ignore[attr-defined]
        return
    session_origin.login(request, person, "a trusted proxy")
    request.session[MARK] = name


def _set(request: HttpRequest, person: User) -> None:
    async def found() -> User:
        return person

    request.user, request.auser = person, found


class SocketGuard:
    """Lets a session that began with the header open sockets only if the proxy names the same person again.

    A session that lacks a required second factor opens none.
    """

    def __init__(self, application: Any) -> None:
        self.application = application

    async def __call__(self, scope: Any, receive: Any, send: Any) -> Any:
        if session_store.confined(scope["session"]):
            scope["user"] = AnonymousUser()
        elif configured():
            mark, name = await in_database(scope["session"].get)(MARK), name_in(scope)
            if (mark is not None and mark != name) or (name and scope["user"].get_username() != name):
                scope["user"] = AnonymousUser()
        return await self.application(scope, receive, send)
