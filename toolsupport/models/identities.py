"""Rows of people's accounts at a sign-in provider."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class ExternalIdentity(models.Model):
    """An account at a sign-in provider that belongs to a person here."""

    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="identities")
    issuer = models.CharField(max_length=500)
    subject = models.CharField(max_length=255, help_text="The provider's name for the account, which never changes.")
    created_at = models.DateTimeField(auto_now_add=True)
    used_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["issuer", "subject"], name="one_person_of_an_identity")]

    def __str__(self) -> str:
        return f"an identity of person {self.person_id}"
