"""Rows of the API keys of people's programs."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class ApiKey(models.Model):
    """The digest of one person's key, and its first characters, by which people recognise it.

    `scopes` are keys of permissions.SCOPES: the key may not do anything that they do not name, even if its owner may.
    """

    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="api_keys")
    name = models.CharField(max_length=80)
    prefix = models.CharField(max_length=16)
    digest = models.CharField(max_length=64, unique=True)
    scopes = models.JSONField()
    created_at = models.DateTimeField(auto_now_add=True)
    used_at = models.DateTimeField(null=True, blank=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.prefix}… ({self.name})"
