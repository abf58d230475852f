"""Rows of browser sessions and of failed sign-in attempts."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from django.conf import settings
from django.contrib.sessions.base_session import AbstractBaseSession
from django.db import models


class Session(AbstractBaseSession):
    """One signed-in browser; `person` makes it possible to end all sessions of a person."""

    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.CASCADE, related_name="browser_sessions"
    )

    @classmethod
    def get_session_store_class(cls) -> Any:
        """Return the class with which Django decodes a row."""
        return import_module(settings.SESSION_ENGINE).SessionStore

    def __str__(self) -> str:
        # The key is a secret: it is sufficient to sign in.
        return f"a browser of person {self.person_id}"


class SignInTally(models.Model):
    """The number of sign-in attempts for one key (a digest of a name, an address, or both) until `until`."""

    key = models.CharField(max_length=64, primary_key=True)
    tries = models.PositiveIntegerField(default=0)
    until = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"{self.tries} tries"
