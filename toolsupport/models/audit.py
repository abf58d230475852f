"""Rows of the audit log."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class Audit(models.Model):
    """One audited action. Append-only: each digest covers its row and the digest of the row before."""

    at = models.DateTimeField()
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
        help_text="Empty: the site itself, or a command on its machine.",
    )
    deed = models.CharField(max_length=40, help_text="What was done, a key of DEEDS.")
    subject = models.CharField(max_length=80, help_text="To which thing, by its id.", db_index=True)
    reason = models.TextField()
    previous = models.CharField(max_length=64, unique=True, help_text="The digest of the row before, so none is left.")
    digest = models.CharField(max_length=64)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M} {self.deed} by {self.actor_id}"
