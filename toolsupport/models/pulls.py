"""Rows of the downloads of models that administrators started."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from toolsupport.models.servers import Server
from toolsupport.sentence_columns import SentenceTextField


class ModelPull(models.Model):
    """One download of a model to a server. It is run by one process at a time, which writes its progress here."""

    server = models.ForeignKey(Server, on_delete=models.PROTECT, related_name="pulls")
    name = models.CharField(max_length=200)
    status = models.CharField(max_length=10, default="queued", help_text="queued, running, done, failed or canceled.")
    step = models.CharField(max_length=20, blank=True, default="", help_text="A key of pull_progress.STEPS.")
    completed = models.BigIntegerField(default=0, help_text="Bytes, of all layers seen so far.")
    total = models.BigIntegerField(default=0)
    error = SentenceTextField(blank=True, default="")
    asked_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    owner = models.CharField(max_length=64, blank=True, default="")
    lease_until = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["server", "name"], condition=Q(status__in=["queued", "running"]), name="one_pull_at_a_time"
            )
        ]

    def __str__(self) -> str:
        return f"{self.name}: {self.status}"
