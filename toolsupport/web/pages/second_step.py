"""Asks for the code of the second factor after the password; no session begins before it is right.

Between the two steps the browser has a signed cookie, which ends with its time and with the password.
"""

from __future__ import annotations

import json

from django.conf import settings
from django.contrib.auth import login
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from toolsupport.registry.factors import second_factors
from toolsupport.registry.people import accounts
from toolsupport.web.authentication import device_cookie
from toolsupport.web.pages.factor_forms import SignInCodeForm
from toolsupport.web.view_permissions import public

BACKEND = "django.contrib.auth.backends.ModelBackend"
COOKIE, SALT = "second_step", "toolsupport second step of a sign-in"
PATIENCE = 10 * 60  # seconds


def after_password(request: HttpRequest, person: User, back: str) -> HttpResponse:
    """Sign the person in whose password was right, or ask for the code first. `back` is an address of this site."""
    if not second_factors.active(person.pk):
        return _signed_in(request, person, back)
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
    kept = json.loads(str(request.get_signed_cookie(COOKIE, "{}", SALT, max_age=PATIENCE)))
    person = accounts.with_mark(kept.get("person", 0), kept.get("mark", ""))
    if person is None or not second_factors.active(person.pk):
        return redirect("login")
    form = SignInCodeForm(request, person, request.POST if request.method == "POST" else None)
    form.fields["code"].widget.attrs["autofocus"] = True
    if form.is_valid():
        answer = _signed_in(request, person, kept["next"])
        answer.delete_cookie(COOKIE)
        return answer
    status = 429 if form.too_often else 200
    return render(request, "registration/code.html", {"form": form, "name": person.username}, status=status)


def _signed_in(request: HttpRequest, person: User, back: str) -> HttpResponse:
    login(request, person, BACKEND)
    return device_cookie.remember(request, redirect(back), person)
