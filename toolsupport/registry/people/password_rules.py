"""Refuses passwords that attackers guess first: common ones, stolen ones, and words of the person or the site."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from ipaddress import ip_address

from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.password_validation import CommonPasswordValidator
from django.core.exceptions import ValidationError

from toolsupport.config.application_paths import COMMAND
from toolsupport.core import guessable_passwords
from toolsupport.core.errors import ConfigError
from toolsupport.registry.people import breached_passwords

log = logging.getLogger(__name__)
HELP = (
    "At least 8 characters, better 15. Any characters are allowed."
    " Common passwords and words from this site are refused."
)
MOST = 1000
PRODUCT = "toolsupport"
NAMES = ("username", "first_name", "last_name", "email")


class GuessablePasswordValidator:
    """One of AUTH_PASSWORD_VALIDATORS, beside Django's for the length and for similar names."""

    def __init__(self) -> None:
        self.common = CommonPasswordValidator().passwords  # Django's list of 20,000

    def validate(self, password: str, user: AbstractBaseUser | None = None) -> None:
        """Raise ValidationError with the reason."""
        if len(password) > MOST:
            raise ValidationError(f"This password is too long. Use {MOST:,} characters or fewer.", code="too_long")
        if self._is_common(password):
            raise ValidationError("This password is too common and easily guessed.", "common")
        words = [word for text in _context(user) for word in guessable_passwords.words_of(text)]
        rest = guessable_passwords.without(password, words)
        if len(rest) < min(len(password), guessable_passwords.REMAINING) or (
            rest != password and self._is_common(rest)
        ):
            raise ValidationError(
                "This password is little more than a name or a word from this site. Add words of your own.", "context"
            )
        _demand_not_stolen(password)

    def get_help_text(self) -> str:
        return HELP

    def _is_common(self, password: str) -> bool:
        return guessable_passwords.is_common(password, self.common.__contains__)


def _context(user: AbstractBaseUser | None) -> Iterator[str]:
    yield PRODUCT
    for host in {*settings.ALLOWED_HOSTS, *(origin.partition("://")[2] for origin in settings.ORIGINS)}:
        if not _is_address(host):
            yield host
    yield from (str(getattr(user, name, None) or "") for name in NAMES)


def _is_address(host: str) -> bool:
    try:
        return bool(ip_address(host.strip("[]")))
    except ValueError:
        return False


def _demand_not_stolen(password: str) -> None:
    path = settings.ENV[breached_passwords.VARIABLE]
    try:
        stolen = bool(path) and breached_passwords.contains(path, password)
    except ConfigError as error:
        log.error("%s", error)
        raise ValidationError(
            "The list of stolen passwords of this site cannot be read, so no password can be set. "
            f"An administrator finds the reason with `{COMMAND} doctor`.",
            code="unreadable",
        ) from error
    if stolen:
        raise ValidationError("This password is in a list of stolen passwords. Choose another one.", code="stolen")
