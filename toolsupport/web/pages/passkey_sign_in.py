"""Views that sign people in with a passkey, alone or after the password."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from toolsupport.config import metrics
from toolsupport.core.errors import Busy, NotAllowed
from toolsupport.registry.factors import passkeys
from toolsupport.registry.people import known_devices, security_events, sign_in_limits
from toolsupport.web.authentication import device_cookie
from toolsupport.web.client_ip import address_of
from toolsupport.web.pages import passkey_challenge, second_step, sign_in
from toolsupport.web.view_permissions import public

ALONE, STEP = "sign in", "second step of person"
OFF = "Sign-in with a password is switched off, and passkeys with it."


@require_POST
@never_cache
@public
def begin(request: HttpRequest) -> HttpResponse:
    """Return the challenge for any passkey of this site."""
    return question(request, ALONE)


@require_POST
@never_cache
@public
def enter(request: HttpRequest) -> HttpResponse:
    """Sign in the person whose passkey answered."""
    _demand_switched_on()
    metrics.SIGN_INS.labels("tried").inc()
    try:
        ceremony, _ = passkey_challenge.taken(request, ALONE)
        person = passkeys.person_of(request.POST.get("answer", ""), ceremony)
    except NotAllowed as error:
        return _refused(request, error)
    metrics.SIGN_INS.labels("succeeded").inc()
    back = request.POST.get("next", "")
    own = url_has_allowed_host_and_scheme(back, {request.get_host()}, require_https=request.is_secure())
    return second_step.signed_in(request, person, back if own else "/")


@require_POST
@never_cache
@public
def begin_step(request: HttpRequest) -> HttpResponse:
    """Return the challenge for the passkeys of the person whose password was right."""
    person, _ = second_step.waiting(request)
    if person is None:
        return JsonResponse({"error": "Enter your password again."}, status=403)
    return question(request, f"{STEP} {person.pk}", person)


@require_POST
@never_cache
@public
def enter_step(request: HttpRequest) -> HttpResponse:
    """Complete the sign-in with a passkey."""
    person, back = second_step.waiting(request)
    if person is None:
        return redirect("login")
    try:
        prove(request, person, f"{STEP} {person.pk}")
    except (Busy, NotAllowed) as error:
        return second_step.page(request, person, {"failed": str(error)}, 429 if isinstance(error, Busy) else 403)
    return second_step.completed(request, person, back)


def prove(request: HttpRequest, person: User, purpose: str) -> None:
    """Accept the proof of a passkey of this person; wrong ones count like codes. Raises Busy, NotAllowed."""
    _demand_switched_on()
    name, address = person.get_username(), address_of(request)
    device = known_devices.known(name, device_cookie.token_in(request))
    try:
        sign_in_limits.attempt_code(name, address, device)
        ceremony, _ = passkey_challenge.taken(request, purpose)
        passkeys.person_of(request.POST.get("answer", ""), ceremony, person.pk)
    except (Busy, NotAllowed) as error:
        kind = "passkey_limited" if isinstance(error, Busy) else "passkey_wrong"
        security_events.record(kind, address, name)
        raise
    sign_in_limits.code_succeeded(name, address, device)


def question(request: HttpRequest, purpose: str, person: User | None = None) -> HttpResponse:
    """Return the options with which the browser proves a passkey, and store the challenge for this purpose."""
    _demand_switched_on()
    try:
        ceremony = passkey_challenge.begin(request)
    except NotAllowed as error:
        return JsonResponse({"error": str(error)}, status=409)
    options = passkeys.question(ceremony, person.pk if person else None)
    return passkey_challenge.keep(HttpResponse(options, content_type="application/json"), ceremony, purpose)


def _demand_switched_on() -> None:
    if not settings.ENV["TOOLSUPPORT_PASSWORD_SIGN_IN"]:
        raise PermissionDenied(OFF)


def _refused(request: HttpRequest, error: Exception) -> HttpResponse:
    address = address_of(request)
    wait = sign_in_limits.wrong_token("passkey_wrong", address)
    security_events.record("passkey_limited" if wait else "passkey_wrong", address)
    answer = sign_in.refusal(request, str(error), 429 if wait else 403)
    if wait:
        answer.headers["Retry-After"] = str(wait)
    return answer
