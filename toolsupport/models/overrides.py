"""Rows of the claims of people, tests and servers about a model."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from toolsupport.models.servers import ModelProfile
from toolsupport.sentence_columns import SentenceTextField


class Override(models.Model):
    """One claim about one capability. Append-only: withdrawing is a new row too."""

    profile = models.ForeignKey(ModelProfile, on_delete=models.PROTECT, related_name="overrides")
    seq = models.PositiveIntegerField(help_text="1, 2, 3 … for each profile.")
    capability = models.CharField(max_length=60)
    value = models.JSONField(null=True)
    source = models.CharField(max_length=20, help_text="One of core.sources.STORED.")
    session = models.CharField(max_length=40, blank=True, default="", help_text="A conversation; blank is everyone.")
    build_key = models.CharField(max_length=32)
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    reason = SentenceTextField(blank=True, default="")
    detection = models.ForeignKey(
        "toolsupport.Detection", null=True, blank=True, on_delete=models.PROTECT, related_name="overrides"
    )
    proposed = models.BooleanField(default=False)
    accepts = models.OneToOneField("self", null=True, blank=True, on_delete=models.PROTECT, related_name="accepted_by")
    withdraws = models.OneToOneField(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="withdrawn_by"
    )
    said_at = models.DateTimeField(null=True, blank=True, help_text="When it was said elsewhere, if it was imported.")
    expires_at = models.DateTimeField(null=True, blank=True, help_text="When it is withdrawn; blank for no end.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["profile", "seq"]
        constraints = [models.UniqueConstraint(fields=["profile", "seq"], name="one_override_per_profile_and_seq")]
        indexes = [
            models.Index(fields=["id"], name="override_proposals", condition=models.Q(proposed=True)),
            models.Index(fields=["expires_at"], name="override_expiries", condition=models.Q(expires_at__isnull=False)),
        ]

    def __str__(self) -> str:
        return f"{self.profile_id}#{self.seq} {self.capability}={self.value!r} ({self.source})"
