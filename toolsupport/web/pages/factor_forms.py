"""Forms of the second factor: set up, confirm, and the code at a sign-in."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.http import HttpRequest

from toolsupport.core.errors import Busy, ConfigError
from toolsupport.registry.factors import second_factors
from toolsupport.registry.factors.passkeys import NAME_LENGTH
from toolsupport.registry.people import known_devices, security_events, sign_in_limits
from toolsupport.web.authentication import device_cookie
from toolsupport.web.client_ip import address_of

HELP = "The six digits that your app shows, or a recovery code. Each code works once."


def code_field(help_text: str) -> forms.CharField:
    attributes = {"autocomplete": "one-time-code", "autocapitalize": "none", "spellcheck": "false"}
    return forms.CharField(max_length=100, label="Code", help_text=help_text, widget=forms.TextInput(attrs=attributes))


class FactorForm(forms.Form):
    """A form of one person, whose request shows the address and the browser."""

    prefix = "factor"

    def __init__(self, request: HttpRequest, person: User, data: Any = None) -> None:
        super().__init__(data)
        self.person, self.address = person, address_of(request)
        self.device = known_devices.known(person.get_username(), device_cookie.token_in(request))

    def refuse(self, kind: str, why: str, code: str = "wrong") -> ValidationError:
        """Record the event; return the error for the form."""
        security_events.record(kind, self.address, self.person.get_username())
        return ValidationError(why, code=code)

    @property
    def too_often(self) -> bool:
        """Whether a limit refused an entry."""
        return any(self.has_error(name, "too_often") for name in self.fields)


class FactorPasswordForm(FactorForm):
    """The person's own password, before anything about the second factor changes."""

    password = forms.CharField(
        strip=False, label="Password", widget=forms.PasswordInput(attrs={"autocomplete": "current-password"})
    )

    def clean_password(self) -> str:
        given = str(self.cleaned_data["password"])
        try:
            sign_in_limits.attempt_change(self.person.pk)
        except Busy as busy:
            raise self.refuse("password_limited", str(busy), "too_often") from busy
        if not self.person.check_password(given):
            raise self.refuse("password_wrong", "The password is wrong.")
        sign_in_limits.change_succeeded(self.person.pk)
        return given


class NewPasskeyForm(FactorPasswordForm):
    """Name and password, before the browser makes a passkey."""

    prefix = "passkey"
    name = forms.CharField(max_length=NAME_LENGTH, label="Name", help_text="For you, such as “Phone”.")
    field_order = ("name", "password")


class RemovePasskeyForm(FactorPasswordForm):
    """The password, before a passkey is removed."""

    prefix = "passkey"


class RenewCodesForm(FactorPasswordForm):
    """The password, before the recovery codes are replaced."""

    prefix = "recovery"


class FirstCodeForm(FactorForm):
    """The first code of a new key, which is shown to its owner only."""

    code = code_field("The six digits that your app shows.")

    def clean_code(self) -> str:
        try:
            sign_in_limits.attempt_code(self.person.get_username(), self.address, self.device)
        except Busy as busy:
            raise self.refuse("code_limited", str(busy), "too_often") from busy
        return str(self.cleaned_data["code"])

    def confirmed(self) -> tuple[str, ...]:
        """Make the key count; return the recovery codes. Raises ConfigError, NotAllowed, NotFound."""
        codes = second_factors.confirm(self.person, self.cleaned_data["code"])
        sign_in_limits.code_succeeded(self.person.get_username(), self.address, self.device)
        return codes


class SignInCodeForm(FactorForm):
    """A code of the app or a recovery code, which this check uses up."""

    code = code_field(HELP)

    def clean_code(self) -> str:
        given, name = str(self.cleaned_data["code"]), self.person.get_username()
        try:
            sign_in_limits.attempt_code(name, self.address, self.device)
            right = second_factors.accepts(self.person, given)
        except Busy as busy:
            raise self.refuse("code_limited", str(busy), "too_often") from busy
        except ConfigError as error:
            raise ValidationError(str(error)) from error
        if not right:
            raise self.refuse("code_wrong", "This code is wrong, or it was already used.")
        sign_in_limits.code_succeeded(name, self.address, self.device)
        return given
