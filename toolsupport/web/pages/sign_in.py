"""Views for signing in and out, invitations and the first administrator."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.models import User
from django.contrib.auth.views import LoginView, LogoutView, redirect_to_login
from django.core.exceptions import NON_FIELD_ERRORS, PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_safe

from toolsupport.core.errors import NotAllowed, NotFound
from toolsupport.registry.people import accounts, first_admin, security_events, sign_in_limits
from toolsupport.services import oidc_client
from toolsupport.web.client_ip import address_of
from toolsupport.web.pages import passkey_challenge, second_step
from toolsupport.web.pages.people_forms import JoinForm, LoginForm, SetupForm
from toolsupport.web.view_permissions import confined, public


class SignInView(LoginView):
    """Django's view with our form, which counts attempts; asks for a second factor before a session begins."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not settings.ENV["TOOLSUPPORT_PASSWORD_SIGN_IN"]:
            raise PermissionDenied("Sign-in with a password is switched off.")
        return super().post(request, *args, **kwargs)

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        return second_step.after_password(self.request, form.get_user(), self.get_success_url())

    def form_invalid(self, form: AuthenticationForm) -> HttpResponse:
        answer = super().form_invalid(form)
        answer.status_code = 429 if form.has_error(NON_FIELD_ERRORS, "too_often") else 200
        return answer

    def get_context_data(self, **more: Any) -> dict[str, Any]:
        return super().get_context_data(**more) | {"ways": sign_in_ways(self.request)}


def sign_in_ways(request: HttpRequest) -> dict[str, bool]:
    """Return the ways to sign in that the page offers."""
    password = settings.ENV["TOOLSUPPORT_PASSWORD_SIGN_IN"]
    passkey = password and not passkey_challenge.problem(request)
    return {"password": password, "passkey": passkey, "provider": oidc_client.configured()}


def refusal(request: HttpRequest, why: str, status: int) -> HttpResponse:
    """Return the page with the reason why a sign-in without a password was refused."""
    context = {"failed": why, "ways": sign_in_ways(request), "form": LoginForm(request)}
    return render(request, "registration/login.html", context, status=status)


sign_in = public(
    SignInView.as_view(
        form_class=LoginForm,
        redirect_authenticated_user=True,
        extra_context={"needs_setup": first_admin.needs_setup},
    )
)
sign_out = public(LogoutView.as_view())


@require_safe
@public
def admin_sign_in(request: HttpRequest) -> HttpResponse:
    """Redirect the admin's sign-in to the site's own, which counts attempts."""
    if request.user.is_authenticated:
        if confined(request):
            return redirect("account")
        raise NotAllowed("Your role does not allow you to administer this site.")
    return redirect_to_login(request.GET.get("next") or "/admin/")


@require_http_methods(["GET", "POST"])
@never_cache
@sensitive_post_parameters("password", "again")
@public
def setup(request: HttpRequest) -> HttpResponse:
    """Create the first administrator, by the one-time address that `serve` prints."""
    form = SetupForm(request.POST if request.method == "POST" else None, initial={"token": request.GET.get("token")})
    if not first_admin.needs_setup():
        return redirect("login")
    token = request.POST.get("token") or request.GET.get("token", "")
    if not first_admin.token_opens(token):
        return refused(request, "setup_token_wrong", "toolsupport/setup.html", {})
    if form.is_valid() and (user := _admin(form)):
        return second_step.after_password(request, user, "/start/")
    return render(request, "toolsupport/setup.html", {"form": form})


@require_http_methods(["GET", "POST"])
@never_cache
@sensitive_post_parameters("token", "password", "again")
@public
def join(request: HttpRequest) -> HttpResponse:
    """Set a password with the one-time link of an invitation."""
    token = request.POST.get("token") or request.GET.get("token", "")
    try:
        name = accounts.invited(token).username
    except NotFound as error:
        return refused(request, "link_wrong", "toolsupport/join.html", {"why": str(error)})
    form = JoinForm(request.POST if request.method == "POST" else None, initial={"token": token})
    if form.is_valid() and (user := _joined(form, token)):
        return second_step.after_password(request, user, "/start/")
    return render(request, "toolsupport/join.html", {"form": form, "name": name})


def refused(request: HttpRequest, kind: str, page: str, context: dict[str, str]) -> HttpResponse:
    """Return the page for an invalid token; 429 after many from one address. Without a token it is no guess."""
    wait = 0
    if request.POST.get("token") or request.GET.get("token"):
        address = address_of(request)
        security_events.record(kind, address)
        wait = sign_in_limits.wrong_token(kind, address)
    answer = render(request, page, context, status=429 if wait else 403)
    if wait:
        answer.headers["Retry-After"] = str(wait)
    return answer


def _joined(form: JoinForm, token: str) -> User | None:
    """Return the person with the new password; None on an error, which the form shows."""
    try:
        return accounts.set_password(token, form.cleaned_data["password"])
    except NotFound as error:
        form.add_error(None, str(error))
    except ValidationError as error:
        form.add_error("password", error.messages)
    return None


def _admin(form: SetupForm) -> User | None:
    """Return the new administrator; None on an error, which the form shows."""
    given = form.cleaned_data
    try:
        return first_admin.create_admin(given["token"], given["username"], given["password"])
    except NotAllowed as error:
        form.add_error(None, str(error))
    except ValidationError as error:
        for field, messages in _by_field(error).items():
            form.add_error(field, messages)
    return None


def _by_field(error: ValidationError) -> dict[str, list[str]]:
    if hasattr(error, "error_dict"):
        return {
            ("username" if field == "username" else "password"): faults for field, faults in error.message_dict.items()
        }
    return {"password": error.messages}
