"""Rows of the databases that models may read."""

from __future__ import annotations

from django.contrib.auth.models import Group
from django.db import models

from toolsupport.models.encrypted import EncryptedTextField
from toolsupport.sentence_columns import SentenceTextField


class SqlSource(models.Model):
    """A database, defined by an administrator. `tables` is its schema at the last check."""

    name = models.CharField(max_length=40, unique=True)
    kind = models.CharField(max_length=20, help_text="A key of sources.KINDS.")
    location = EncryptedTextField(help_text="Encrypted, as it may hold a password; never shown again.")
    enabled = models.BooleanField(default=True)
    groups = models.ManyToManyField(Group, blank=True, related_name="+", help_text="Whose chats may read it.")
    tables = models.JSONField(default=list, blank=True)
    looked_at = models.DateTimeField(null=True, blank=True)
    why = SentenceTextField(blank=True, default="", help_text="Why it cannot be read, or empty.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name
