"""Views of a person's own account: password, appearance, signed-in browsers."""

from __future__ import annotations

from typing import Any

from django.contrib.auth import logout, update_session_auth_hash
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_POST

from toolsupport.core.errors import NotAllowed
from toolsupport.registry.factors import second_factors
from toolsupport.registry.people import api_keys, known_devices, quota_use, quotas, security_events, session_store
from toolsupport.registry.people.permissions import Action
from toolsupport.web.authentication import device_cookie, factor_proof
from toolsupport.web.client_ip import address_of
from toolsupport.web.pages import passkey_challenge
from toolsupport.web.pages.factor_forms import FactorPasswordForm, NewPasskeyForm, RenewCodesForm
from toolsupport.web.pages.form_page import moved_on
from toolsupport.web.pages.key_form import KeyForm
from toolsupport.web.pages.people_forms import PasswordForm
from toolsupport.web.view_permissions import AuthedRequest, requires


@require_GET
@requires(Action.OWN_ACCOUNT, before_factor=True)
def account(request: AuthedRequest) -> HttpResponse:
    """Show the page."""
    return answer(request, {})


@sensitive_post_parameters()
@require_POST
@requires(Action.OWN_ACCOUNT)
def password(request: AuthedRequest) -> HttpResponse:
    """Change the password; every other browser must sign in again."""
    user = request.user
    form = PasswordForm(user, request.POST)
    form.address = address_of(request)
    if not form.is_valid():
        return answer(request, {"form": form}, status=422)
    form.save()
    update_session_auth_hash(request, user)
    ended = session_store.end(user.pk, but=request.session.session_key)
    known_devices.forget(user.pk)
    security_events.record("password_changed", form.address, user.get_username())
    saved = moved_on(request, reverse("account"), saved_words(ended))
    device_cookie.renew(request, saved, user)
    return saved


def saved_words(ended: int) -> str:
    """Return the sentence for a change that signed out this many other browsers."""
    if not ended:
        return "Saved. No other browser was signed in."
    return f"Saved. {ended} other browser{' was' if ended == 1 else 's were'} signed out."


@require_POST
@requires(Action.OWN_ACCOUNT)
def sign_out_everywhere(request: AuthedRequest) -> HttpResponse:
    """End every session of this person, including this one."""
    session_store.end(request.user.pk)
    known_devices.forget(request.user.pk)
    logout(request)
    return redirect("login")


def removed(request: AuthedRequest, done: str, passkey_id: int | None = None) -> HttpResponse:
    """Remove the person's app or a passkey, and redirect to the page; it shows the reason if that is refused."""
    try:
        second_factors.remove_own(request.user, passkey_id)
    except NotAllowed as error:
        return answer(request, {"factor_failed": str(error)}, status=409)
    return moved_on(request, f"{reverse('account')}#second-factor", done)


def answer(request: AuthedRequest, notice: dict[str, Any], status: int = 200) -> HttpResponse:
    """Return the page with a message."""
    user = request.user
    if session_store.confined(request.session):
        context = _factor(request)
        return render(request, "toolsupport/set_up_factor.html", context | notice, status=status)
    own_keys = api_keys.listed(user.pk) if Action.CHAT in request.actions else None
    context = {"form": PasswordForm(user), "browsers": session_store.count(user.pk)}
    context |= {"keys": own_keys, "key_form": KeyForm()}
    context |= {
        "shares": [share for one in quotas.limited(user.pk) for share in quota_use.shares(one)],
        **_factor(request),
    }
    return render(request, "toolsupport/account.html", context | notice, status=status)


def _factor(request: AuthedRequest) -> dict[str, Any]:
    """Return the context of the section about the second factor; empty for people who sign in without a password."""
    found = second_factors.state(request.user.pk)
    if not (found.active or request.user.has_usable_password()):
        return {}
    if found.active and not factor_proof.fresh(request):
        return {"factor": found, "factor_closed": True}
    return {
        "factor": found,
        "factor_form": FactorPasswordForm(request, request.user),
        "passkey_problem": passkey_challenge.problem(request),
        "passkey_form": NewPasskeyForm(request, request.user),
        "renew_form": RenewCodesForm(request, request.user),
    }
