"""Keeps the challenge of a passkey between two requests of one browser; each is for one purpose and counts once."""

from __future__ import annotations

import base64
import json
import secrets
from datetime import timedelta

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import salted_hmac

from toolsupport.core import passkey_origins
from toolsupport.core.errors import NotAllowed
from toolsupport.registry.factors.passkeys import SECONDS, Ceremony
from toolsupport.registry.people import sign_in_limits
from toolsupport.web.client_ip import address_of

COOKIE, SALT = "passkey", "toolsupport challenge of a passkey"
LATE = "This took too long, or it was sent twice. Try again."
FOREIGN = "This address is not among the origins of this site (TOOLSUPPORT_ORIGINS)."


def problem(request: HttpRequest) -> str:
    """Return why passkeys cannot be used at this address, "" if they can."""
    origin = _origin(request)
    why = passkey_origins.why_not(origin) or ("" if origin in settings.ORIGINS else FOREIGN)
    others = [one for one in settings.ORIGINS if passkey_origins.site_of(one)]
    return f"{why} Open this site at {others[0]}." if why and others else why


def site(request: HttpRequest) -> str:
    """Return the host name that the passkeys of this address belong to."""
    return passkey_origins.site_of(_origin(request))


def begin(request: HttpRequest) -> Ceremony:
    """Return a new challenge. Raises NotAllowed if passkeys cannot be used."""
    if why := problem(request):
        raise NotAllowed(why)
    return Ceremony(secrets.token_bytes(32), _origin(request), address_of(request))


def keep(answer: HttpResponse, ceremony: Ceremony, purpose: str, more: str = "") -> HttpResponse:
    """Store the challenge in a signed cookie."""
    challenge = base64.urlsafe_b64encode(ceremony.challenge).decode()
    kept = json.dumps({"challenge": challenge, "for": purpose, "more": more})
    secure = settings.SESSION_COOKIE_SECURE
    answer.set_signed_cookie(COOKIE, kept, SALT, max_age=SECONDS, httponly=True, samesite="Lax", secure=secure)
    return answer


def taken(request: HttpRequest, purpose: str) -> tuple[Ceremony, str]:
    """Return the challenge that this browser got for this purpose, and the data stored with it. Raises NotAllowed."""
    kept = json.loads(str(request.get_signed_cookie(COOKIE, "{}", SALT, max_age=SECONDS)))
    challenge = str(kept.get("challenge", ""))
    if kept.get("for") != purpose or not sign_in_limits.once("passkey", challenge, timedelta(seconds=2 * SECONDS)):
        raise NotAllowed(LATE)
    if why := problem(request):
        raise NotAllowed(why)
    asked = base64.urlsafe_b64decode(challenge + "==")  # also without its padding
    return Ceremony(asked, _origin(request), address_of(request)), str(kept["more"])


def of_session(request: HttpRequest, purpose: str) -> str:
    """Return this purpose for the current session only."""
    return f"{purpose} " + salted_hmac(SALT, str(request.session.session_key), algorithm="sha256").hexdigest()


def _origin(request: HttpRequest) -> str:
    return f"{request.scheme}://{request.get_host()}"
