"""Forms for people: sign-in, setup, invitations, passwords."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm
from django.core.exceptions import ValidationError

from toolsupport.config import metrics
from toolsupport.core.errors import Busy
from toolsupport.registry.people import known_devices, password_rules, security_events, sign_in_limits
from toolsupport.registry.people.permissions import ROLES
from toolsupport.web.authentication import device_cookie
from toolsupport.web.client_ip import address_of


def new_password(label: str, help_text: str = "") -> forms.CharField:
    widget = forms.PasswordInput(attrs={"autocomplete": "new-password"})
    return forms.CharField(label=label, strip=False, help_text=help_text, widget=widget)


class JoinForm(forms.Form):
    """A first password, entered twice."""

    token = forms.CharField(widget=forms.HiddenInput)
    password = new_password("Password", password_rules.HELP)
    again = new_password("Password again")

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if cleaned.get("password") != cleaned.get("again"):
            self.add_error("again", "The two passwords are not the same.")
        return cleaned


class SetupForm(JoinForm):
    """The first administrator's account."""

    username = forms.CharField(
        max_length=150, label="Username", widget=forms.TextInput(attrs={"autocomplete": "username"})
    )
    field_order = ("token", "username", "password", "again")


class InvitationForm(forms.Form):
    """A new person."""

    name = forms.CharField(max_length=150, label="Username", widget=forms.TextInput(attrs={"autocomplete": "off"}))
    role = forms.ChoiceField(choices=[(role, role) for role in ROLES], label="Role")


class LoginForm(AuthenticationForm):
    """Django's form with our messages; counts the attempt first."""

    error_messages = AuthenticationForm.error_messages | {
        "invalid_login": "The username or password is wrong. Both are case-sensitive.",
    }

    def clean(self) -> dict[str, Any]:
        name = self.cleaned_data.get("username")
        if not (name and self.cleaned_data.get("password")):
            return super().clean()  # no password is checked
        address = address_of(self.request) if self.request else ""
        device = known_devices.known(name, device_cookie.token_in(self.request)) if self.request else ""
        try:
            sign_in_limits.attempt(name, address, device)
        except Busy as busy:
            raise _refused("sign_in_limited", name, address, busy) from busy
        metrics.SIGN_INS.labels("tried").inc()
        try:
            cleaned = super().clean()
        except ValidationError:
            security_events.record("sign_in_wrong", address, name)
            raise
        metrics.SIGN_INS.labels("succeeded").inc()
        sign_in_limits.succeeded(name, address, device)
        return cleaned


class PasswordForm(PasswordChangeForm):
    """A person's own password: requires the old one, and counts attempts of this person alone."""

    address = ""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["old_password"].widget.attrs.pop("autofocus", None)
        self.fields["new_password1"].help_text = password_rules.HELP

    def clean_old_password(self) -> str:
        name = self.user.get_username()
        try:
            sign_in_limits.attempt_change(self.user.pk)
        except Busy as busy:
            raise _refused("password_limited", name, self.address, busy) from busy
        try:
            old = str(super().clean_old_password())
        except ValidationError:
            security_events.record("password_wrong", self.address, name)
            raise
        sign_in_limits.change_succeeded(self.user.pk)
        return old


def _refused(kind: str, name: str, address: str, busy: Busy) -> ValidationError:
    """Record the refusal; return the error for the form."""
    security_events.record(kind, address, name)
    return ValidationError(str(busy), code="too_often")
