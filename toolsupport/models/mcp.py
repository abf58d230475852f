"""Rows of MCP servers, with each tool as it was approved."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from toolsupport.models.encrypted import EncryptedTextField
from toolsupport.sentence_columns import SentenceJSONField, SentenceTextField


class McpServer(models.Model):
    """A server of the Model Context Protocol.

    A stdio server is started here, by a command that exists only in the settings file of the site.
    """

    name = models.CharField(max_length=32, unique=True)
    kind = models.CharField(max_length=10, help_text="http or stdio.")
    url = models.URLField(max_length=300, blank=True, default="")
    token = EncryptedTextField(blank=True, default="", help_text="Encrypted; never shown again.")
    enabled = models.BooleanField(default=True)
    in_house = models.BooleanField(default=False, help_text="What models tell it goes nowhere else.")
    version = models.CharField(max_length=120, blank=True, default="", help_text="As the server says it.")
    reachable = models.BooleanField(null=True, help_text="Unknown until it was asked once.")
    last_seen_at = models.DateTimeField(null=True, blank=True)
    checked_at = models.DateTimeField(null=True, blank=True)
    down_since = models.DateTimeField(null=True, blank=True)
    last_error = SentenceTextField(blank=True, default="")
    left_out = SentenceJSONField(default=list, blank=True, help_text="What of its list could not be taken, in words.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class McpTool(models.Model):
    """One tool of a server, pinned: calls use the definition that an administrator approved.

    `digest` is that definition's, "" while none is approved; `waiting` is the currently offered one, if it differs.
    """

    server = models.ForeignKey(McpServer, on_delete=models.CASCADE, related_name="tools")
    name = models.CharField(max_length=128)
    definition = models.JSONField(default=dict, blank=True)
    digest = models.CharField(max_length=64, blank=True, default="")
    approved_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    approved_at = models.DateTimeField(null=True, blank=True)
    read_only = models.BooleanField(default=False, help_text="Only an administrator says so, never the server.")
    enabled = models.BooleanField(default=True)
    waiting = models.JSONField(null=True, blank=True)
    waiting_digest = models.CharField(max_length=64, blank=True, default="")
    waiting_since = models.DateTimeField(null=True, blank=True)
    gone_since = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["server__name", "name"]
        constraints = [models.UniqueConstraint(fields=["server", "name"], name="one_row_per_server_and_tool")]

    def __str__(self) -> str:
        return f"{self.server.name}__{self.name}"
