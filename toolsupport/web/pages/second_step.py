"""Asks for the code of the second factor after the password; no session begins before it is right.

Between the two steps the browser has a signed cookie, which expires, and ends when the password changes.
"""

from __future__ import annotations

import json
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from toolsupport.registry.factors import passkeys, second_factors
from toolsupport.registry.people import accounts
from toolsupport.web.authentication import device_cookie, session_origin
from toolsupport.web.pages import passkey_challenge
from toolsupport.web.pages.factor_forms import SignInCodeForm
from toolsupport.web.view_permissions import public

COOKIE, SALT = "second_step", "toolsupport second step of a sign-in"
PATIENCE = 10 * 60  # seconds


def after_password(request: HttpRequest, person: User, back: str) -> HttpResponse:
    """Sign the person in whose password was right, or ask for the code first. `back` is an address of this site."""
    if not second_factors.active(person.pk):
        return signed_in(request, person, back)
    kept = json.dumps({"person": person.pk, "mark": person.get_session_auth_hash(), "next": back[:2000]})
    answer = redirect("sign-in-code")
    secure = settings.SESSION_COOKIE_SECURE
    answer.set_signed_cookie(COOKIE, kept, SALT, max_age=PATIENCE, httponly=True, samesite="Lax", secure=secure)
    return answer


@require_http_methods(["GET", "POST"])
@never_cache
@sensitive_post_parameters("factor-code")
@public
def code(request: HttpRequest) -> HttpResponse:
    """Ask for the code, and sign in with it."""
    person, back = waiting(request)
    if person is None:
        return redirect("login")
    form = SignInCodeForm(request, person, request.POST if request.method == "POST" else None)
    if form.is_valid():
        return completed(request, person, back)
    return page(request, person, {"form": form}, 429 if form.too_often else 200)


def waiting(request: HttpRequest) -> tuple[User | None, str]:
    """Return the person whose password was accepted here, and the address to return to; None without one."""
    kept = json.loads(str(request.get_signed_cookie(COOKIE, "{}", SALT, max_age=PATIENCE)))
    person = accounts.with_mark(kept.get("person", 0), kept.get("mark", ""))
    if person is None or not second_factors.active(person.pk):
        return None, ""
    return person, str(kept["next"])


def page(request: HttpRequest, person: User, more: dict[str, Any], status: int) -> HttpResponse:
    """Return the page that asks for the second factor, with the passkey first where the person has one."""
    able = not passkey_challenge.problem(request)
    passkey = able and passkeys.has_some(person.pk, passkey_challenge.site(request))
    context = {"form": SignInCodeForm(request, person), "name": person.username, "passkey": passkey, **more}
    if not passkey:
        context["form"].fields["code"].widget.attrs["autofocus"] = True
    return render(request, "registration/code.html", context, status=status)


def completed(request: HttpRequest, person: User, back: str) -> HttpResponse:
    """Sign the person in whose second factor was right."""
    answer = signed_in(request, person, back)
    answer.delete_cookie(COOKIE)
    return answer


def signed_in(request: HttpRequest, person: User, back: str) -> HttpResponse:
    """Begin the session, and remember the browser."""
    session_origin.login(request, person)
    return device_cookie.remember(request, redirect(back), person)
