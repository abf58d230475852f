"""Views of the account page that add and remove passkeys, and renew recovery codes."""

from __future__ import annotations

from django.http import HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from toolsupport.core.errors import NotAllowed
from toolsupport.registry.factors import passkeys, recovery_codes, second_factors
from toolsupport.registry.people.permissions import Action
from toolsupport.web.authentication import factor_proof
from toolsupport.web.pages import account, passkey_challenge, second_factor
from toolsupport.web.pages.factor_forms import (
    FactorForm,
    NewPasskeyForm,
    RemovePasskeyForm,
    RenewCodesForm,
)
from toolsupport.web.view_permissions import AuthedRequest, requires

ADD = "add"  # the purpose of a challenge


@require_POST
@never_cache
@sensitive_post_parameters("passkey-password")
@requires(Action.OWN_ACCOUNT, before_factor=True)
def begin(request: AuthedRequest) -> HttpResponse:
    """Return the options for making a passkey, after the password and a proof of the current factor."""
    form = NewPasskeyForm(request, request.user, request.POST)
    try:
        factor_proof.demand(request)
        if not form.is_valid():
            return _faults(form)
        ceremony = passkey_challenge.begin(request)
        options = passkeys.offer(request.user, ceremony)
    except NotAllowed as error:
        return JsonResponse({"error": str(error)}, status=409)
    purpose = passkey_challenge.of_session(request, ADD)
    answer = HttpResponse(options, content_type="application/json")
    return passkey_challenge.keep(answer, ceremony, purpose, passkeys.handle_in(options))


@require_POST
@never_cache
@requires(Action.OWN_ACCOUNT, before_factor=True)
@factor_proof.needs_proof
def add(request: AuthedRequest) -> HttpResponse:
    """Store the passkey; show recovery codes with the first factor, and end sessions that began without one."""
    had, name = second_factors.active(request.user.pk), request.POST.get("passkey-name", "").strip()
    try:
        ceremony, handle = passkey_challenge.taken(request, passkey_challenge.of_session(request, ADD))
        new = passkeys.NewPasskey(request.POST.get("answer", ""), name[: passkeys.NAME_LENGTH] or "Passkey", handle)
        codes = passkeys.add(request.user, new, ceremony)
    except NotAllowed as error:
        return account.answer(request, {"factor_failed": str(error)}, status=422)
    notice = "Saved." if had else second_factor.begun(request)
    return account.answer(request, {"recovery_codes": "\n".join(codes), "notice": notice})


@require_http_methods(["GET", "POST"])
@never_cache
@sensitive_post_parameters("passkey-password")
@requires(Action.OWN_ACCOUNT)
@factor_proof.needs_proof
def remove(request: AuthedRequest, passkey_id: int) -> HttpResponse:
    """Ask for the password, also after the proof, then remove one of the person's passkeys."""
    passkey = passkeys.named(request.user.pk, passkey_id)
    form = RemovePasskeyForm(request, request.user, request.POST if request.method == "POST" else None)
    if not form.is_valid():
        status = 200 if request.method == "GET" else 429 if form.too_often else 422
        return render(request, "toolsupport/passkey_removal.html", {"form": form, "passkey": passkey}, status=status)
    done = f"Removed {passkey.name} here. Delete it on your device as well."
    return account.removed(request, done, passkey_id)


@require_POST
@never_cache
@sensitive_post_parameters("recovery-password")
@requires(Action.OWN_ACCOUNT)
@factor_proof.needs_proof
def renew_codes(request: AuthedRequest) -> HttpResponse:
    """Show new recovery codes once, after the password; the old ones are void."""
    form = RenewCodesForm(request, request.user, request.POST)
    if not form.is_valid():
        return account.answer(request, {"renew_form": form}, status=429 if form.too_often else 422)
    if not second_factors.active(request.user.pk):
        raise NotAllowed("Set up a second factor first.")
    return account.answer(request, {"recovery_codes": "\n".join(recovery_codes.renew(request.user))})


def _faults(form: FactorForm) -> HttpResponse:
    words = " ".join(str(fault) for faults in form.errors.values() for fault in faults)
    return JsonResponse({"error": words}, status=429 if form.too_often else 422)
