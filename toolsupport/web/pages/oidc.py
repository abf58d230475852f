"""Views of the sign-in through an OpenID Connect provider."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import timedelta

from channels.db import database_sync_to_async as in_database
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from toolsupport.core import oidc_rules
from toolsupport.core.errors import Busy, ConfigError, NotAllowed
from toolsupport.core.types import JSON
from toolsupport.registry.people import identities, security_events, sign_in_limits
from toolsupport.registry.people.identities import VouchedIdentity
from toolsupport.registry.people.permissions import ROLES
from toolsupport.services import oidc_client
from toolsupport.services.oidc_client import SignInAttempt
from toolsupport.web.authentication import device_cookie, session_origin
from toolsupport.web.client_ip import address_of
from toolsupport.web.pages.sign_in import refusal
from toolsupport.web.view_permissions import public

COOKIE, SALT = "sign_in", "toolsupport sign-in through a provider"
PATIENCE = timedelta(minutes=10)  # seconds from the start of the sign-in to the return


@require_GET
@never_cache
@public
async def begin(request: HttpRequest) -> HttpResponse:
    """Redirect to the provider, with a cookie that identifies the browser on its return."""
    if not oidc_client.configured():
        raise Http404
    attempt = oidc_client.begun()
    try:
        await in_database(sign_in_limits.begin_elsewhere)(address_of(request))
        answer = redirect(await oidc_client.authorize_url(attempt, _callback(request)))
    except (Busy, ConfigError, NotAllowed) as error:
        return await in_database(_refused)(request, error)
    kept = json.dumps(asdict(attempt) | {"next": request.GET.get("next", "")[:2000]})
    secure = settings.SESSION_COOKIE_SECURE
    answer.set_signed_cookie(COOKIE, kept, SALT, max_age=PATIENCE, httponly=True, samesite="Lax", secure=secure)
    return answer


@require_GET
@never_cache
@public
async def callback(request: HttpRequest) -> HttpResponse:
    """Sign in the person that the provider has authenticated."""
    if not oidc_client.configured():
        raise Http404
    try:
        attempt, back = await in_database(_taken)(request)
        given = {name: request.GET.get(name, "") for name in ("state", "code", "iss") if name in request.GET}
        claims = await oidc_client.claims(attempt, given, _callback(request))
        answer = await in_database(_signed_in)(request, claims, back)
    except (ConfigError, NotAllowed) as error:
        answer = await in_database(_refused)(request, error)
    answer.delete_cookie(COOKIE)
    return answer


def _taken(request: HttpRequest) -> tuple[SignInAttempt, str]:
    """Return the attempt of this browser, which counts once, and the page to go on to. Raises NotAllowed."""
    kept = json.loads(str(request.get_signed_cookie(COOKIE, "{}", SALT, max_age=PATIENCE)))
    attempt = SignInAttempt(*(kept.get(name, "") for name in ("state", "nonce", "verifier")))
    # A cookie can be sent repeatedly, and each time the provider would be asked.
    if not attempt.state or not sign_in_limits.once("provider", attempt.state, PATIENCE):
        raise NotAllowed(oidc_client.NOT_BEGUN)
    return attempt, kept.get("next", "")


def _signed_in(request: HttpRequest, claims: JSON, back: str) -> HttpResponse:
    claim = settings.ENV["TOOLSUPPORT_OIDC_ROLE_CLAIM"]
    role = oidc_rules.role_of(claims, claim, tuple(ROLES)) if claim else None
    issuer = settings.ENV["TOOLSUPPORT_OIDC_ISSUER"]
    name, exact = oidc_rules.name_of(claims)
    person = identities.signed_in(VouchedIdentity(issuer, claims["sub"], name, role, exact))
    session_origin.login(request, person, "the provider")
    # A fixed time that use does not extend, so a role that was withdrawn at the provider ends.
    request.session.set_expiry(timezone.now() + timedelta(hours=settings.ENV["TOOLSUPPORT_OIDC_HOURS"]))
    own = url_has_allowed_host_and_scheme(back, {request.get_host()}, require_https=request.is_secure())
    return device_cookie.remember(request, redirect(back if own else "/"), person)


def _refused(request: HttpRequest, error: Exception) -> HttpResponse:
    security_events.record("provider_refused", address_of(request))
    return refusal(request, str(error), 429 if isinstance(error, Busy) else 403)


def _callback(request: HttpRequest) -> str:
    return request.build_absolute_uri(reverse("oidc-callback"))
