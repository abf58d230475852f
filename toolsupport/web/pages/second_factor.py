"""Views that set up and remove the second factor of a person."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from toolsupport.core.errors import ConfigError, NotAllowed, NotFound
from toolsupport.registry.factors import passkeys, second_factors
from toolsupport.registry.people import session_store
from toolsupport.registry.people.permissions import Action
from toolsupport.web.authentication import factor_proof
from toolsupport.web.pages import account, people
from toolsupport.web.pages.factor_forms import FactorForm, FactorPasswordForm, FirstCodeForm
from toolsupport.web.view_permissions import AuthedRequest, requires


@require_POST
@never_cache
@sensitive_post_parameters("factor-password")
@requires(Action.OWN_ACCOUNT, before_factor=True)
@factor_proof.needs_proof
def begin(request: AuthedRequest) -> HttpResponse:
    """Show a new key, after the password."""
    form = FactorPasswordForm(request, request.user, request.POST)
    if not form.is_valid():
        return _refused(request, form)
    try:
        offer = second_factors.begin(request.user)
    except NotAllowed as error:
        return account.answer(request, {"notice": str(error)}, status=409)
    return account.answer(request, {"factor_offer": offer, "first_code_form": FirstCodeForm(request, request.user)})


@require_POST
@never_cache
@sensitive_post_parameters("factor-code")
@requires(Action.OWN_ACCOUNT, before_factor=True)
@factor_proof.needs_proof
def confirm(request: AuthedRequest) -> HttpResponse:
    """Make the new key count; show the recovery codes once, and end the sessions that began without a code."""
    form, had = FirstCodeForm(request, request.user, request.POST), second_factors.active(request.user.pk)
    codes = _confirmed(form) if form.is_valid() else None
    if codes is None:
        return account.answer(request, {"first_code_form": form}, status=429 if form.too_often else 422)
    notice = "Saved." if had else begun(request)
    return account.answer(request, {"recovery_codes": "\n".join(codes), "notice": notice})


def begun(request: AuthedRequest) -> str:
    """End the other sessions, which began without the first factor; this one has just proved it."""
    factor_proof.put(request)
    ended = session_store.end(request.user.pk, but=request.session.session_key)
    return account.saved_words(ended)


@require_POST
@sensitive_post_parameters("factor-password")
@requires(Action.OWN_ACCOUNT)
@factor_proof.needs_proof
def remove(request: AuthedRequest) -> HttpResponse:
    """Remove the person's own app, after the proof and the password."""
    form = FactorPasswordForm(request, request.user, request.POST)
    if not form.is_valid():
        return _refused(request, form)
    left = passkeys.has_some(request.user.pk)
    done = "Removed." if left else "Removed. Your password alone signs you in now."
    return account.removed(request, done)


@require_POST
@requires(Action.ADMINISTER)
def remove_of(request: AuthedRequest, person_id: int) -> HttpResponse:
    """Remove the second factors of another person, who lost them; a session without a required one is confined."""
    if person_id == request.user.pk:
        raise NotAllowed("Remove your own second factor on your account page.")
    removed = second_factors.remove(request.user.pk, person_id, "on the page People")
    done = "Removed. They sign in with the password alone." if removed else "This person has no second factor."
    return people.answer(request, {"notice": done})


def _confirmed(form: FirstCodeForm) -> tuple[str, ...] | None:
    try:
        return form.confirmed()
    except (ConfigError, NotAllowed, NotFound) as error:
        form.add_error("code", str(error))
        return None


def _refused(request: AuthedRequest, form: FactorForm) -> HttpResponse:
    context: dict[str, Any] = {"factor_form": form}
    return account.answer(request, context, status=429 if form.too_often else 422)
