"""Views that ask for the second factor before it may be changed: a stolen password must not be enough."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from toolsupport.core.errors import Busy, NotAllowed
from toolsupport.registry.factors import passkeys, second_factors
from toolsupport.registry.people.permissions import Action
from toolsupport.web.authentication import factor_proof
from toolsupport.web.pages import passkey_challenge, passkey_sign_in
from toolsupport.web.pages.factor_forms import SignInCodeForm
from toolsupport.web.view_permissions import AuthedRequest, requires

PURPOSE = "check"


@require_http_methods(["GET", "POST"])
@never_cache
@sensitive_post_parameters("factor-code")
@requires(Action.OWN_ACCOUNT)
def check(request: AuthedRequest) -> HttpResponse:
    """Ask for a code or a passkey, and accept the code."""
    if not second_factors.active(request.user.pk):
        return redirect("account")
    form = SignInCodeForm(request, request.user, request.POST if request.method == "POST" else None)
    if form.is_valid():
        return _accepted(request)
    status = 200 if request.method == "GET" else 429 if form.too_often else 422
    return _page(request, {"form": form}, status)


@require_POST
@never_cache
@requires(Action.OWN_ACCOUNT)
def begin_passkey(request: AuthedRequest) -> HttpResponse:
    """Return the challenge for the passkeys of this person."""
    if not passkeys.has_some(request.user.pk):
        return JsonResponse({"error": "Your account has no passkey."}, status=409)
    return passkey_sign_in.question(request, passkey_challenge.of_session(request, PURPOSE), request.user)


@require_POST
@never_cache
@requires(Action.OWN_ACCOUNT)
def passkey(request: AuthedRequest) -> HttpResponse:
    """Accept a passkey."""
    if not passkeys.has_some(request.user.pk):
        return redirect("factor-check")
    try:
        passkey_sign_in.prove(request, request.user, passkey_challenge.of_session(request, PURPOSE))
    except (Busy, NotAllowed) as error:
        return _page(request, {"failed": str(error)}, 429 if isinstance(error, Busy) else 403)
    return _accepted(request)


def _accepted(request: AuthedRequest) -> HttpResponse:
    factor_proof.put(request)
    return redirect(f"{reverse('account')}#second-factor")


def _page(request: AuthedRequest, more: dict[str, Any], status: int) -> HttpResponse:
    able = not passkey_challenge.problem(request)
    asks_passkey = able and passkeys.has_some(request.user.pk, passkey_challenge.site(request))
    context = {"form": SignInCodeForm(request, request.user), "passkey": asks_passkey, **more}
    return render(request, "toolsupport/factor_check.html", context, status=status)
