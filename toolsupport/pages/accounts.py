"""Signing in, signing out, the first administrator."""

from __future__ import annotations

from django.contrib.auth import login
from django.contrib.auth.models import User
from django.contrib.auth.views import LoginView, LogoutView
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from toolsupport.access import public
from toolsupport.core.errors import NotAllowed
from toolsupport.pages.forms import LoginForm, SetupForm
from toolsupport.registry import people

sign_in = public(
    LoginView.as_view(
        form_class=LoginForm,
        redirect_authenticated_user=True,
        extra_context={"needs_setup": people.needs_setup},
    )
)
sign_out = public(LogoutView.as_view())


@require_http_methods(["GET", "POST"])
@never_cache
@sensitive_post_parameters("password", "again")
@public
def setup(request: HttpRequest) -> HttpResponse:
    """Make the first administrator, by the one-time address that `serve` prints."""
    form = SetupForm(request.POST if request.method == "POST" else None, initial={"token": request.GET.get("token")})
    if not people.needs_setup():
        return redirect("login")
    token = request.POST.get("token") or request.GET.get("token", "")
    if not people.token_opens(token):
        return render(request, "toolsupport/setup.html", {}, status=403)
    if form.is_valid() and (user := _admin(form)):
        login(request, user)
        return redirect("/")
    return render(request, "toolsupport/setup.html", {"form": form})


def _admin(form: SetupForm) -> User | None:
    """The new administrator; None where the form now says what is wrong."""
    given = form.cleaned_data
    try:
        return people.create_admin(given["token"], given["username"], given["password"])
    except NotAllowed as error:
        form.add_error(None, str(error))
    except ValidationError as error:
        for field, messages in _by_field(error).items():
            form.add_error(field, messages)
    return None


def _by_field(error: ValidationError) -> dict[str, list[str]]:
    if hasattr(error, "error_dict"):
        return {("username" if field == "username" else "password"): told for field, told in error.message_dict.items()}
    return {"password": error.messages}
