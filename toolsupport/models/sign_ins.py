"""Rows of browser sessions, known devices, counted attempts and security events."""

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


class SignInDevice(models.Model):
    """A browser in which a person signed in; `digest` is that of the token in its cookie."""

    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="known_devices")
    digest = models.CharField(max_length=64, db_index=True)
    password_mark = models.CharField(max_length=64, help_text="Identifies the password that it signed in with.")
    created_at = models.DateTimeField(auto_now_add=True)
    used_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["person", "digest"], name="one_device_of_a_person")]

    def __str__(self) -> str:
        return f"a device of person {self.person_id}"


class SecurityEvent(models.Model):
    """A kind of event from one source in one hour; `key` is a digest of these three."""

    key = models.CharField(max_length=64, unique=True)
    kind = models.CharField(max_length=40, help_text="A key of security_events.EVENTS.")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    address = models.CharField(max_length=64, help_text="The network that it came from.")
    times = models.PositiveIntegerField(default=1)
    first_at = models.DateTimeField()
    last_at = models.DateTimeField(db_index=True)

    class Meta:
        indexes = [models.Index(fields=["kind", "first_at"], name="security_events_by_kind")]

    def __str__(self) -> str:
        return f"{self.kind}, {self.times} times"
