"""Keeps the cookie that identifies a browser in which an account has signed in before."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse

from toolsupport.registry.people import known_devices, security_events
from toolsupport.web.client_ip import address_of

NAME = "device"
SALT = "toolsupport known device"


def token_in(request: HttpRequest) -> str:
    """Return the token of the browser; "" without one, or if the cookie was not signed by this site."""
    return str(request.get_signed_cookie(NAME, default="", salt=SALT, max_age=known_devices.LASTS))


def remember(request: HttpRequest, response: HttpResponse, person: User) -> HttpResponse:
    """Make the browser a known device after a sign-in; the first one is a security event."""
    if renew(request, response, person):
        security_events.record("new_device", address_of(request), person.get_username())
    return response


def renew(request: HttpRequest, response: HttpResponse, person: User) -> bool:
    """Give the browser a new token; return whether it is new to this account."""
    token, is_new = known_devices.remember(person, token_in(request))
    response.set_signed_cookie(
        NAME,
        token,
        salt=SALT,
        max_age=known_devices.LASTS,
        httponly=True,
        secure=settings.SESSION_COOKIE_SECURE,
        samesite="Lax",
    )
    return is_new
