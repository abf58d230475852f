"""Rows of the servers that offer tools of other programs, with each tool as it was approved."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class McpServer(models.Model):
    """A server that speaks the Model Context Protocol.

    One of kind stdio is started here, by a command that stands in the settings file of the site and nowhere else.
    """

    name = models.CharField(max_length=32, unique=True)
    kind = models.CharField(max_length=10, help_text="http or stdio.")
    url = models.URLField(max_length=300, blank=True, default="")
    token = models.TextField(blank=True, default="", help_text="Encrypted; never shown again.")
    enabled = models.BooleanField(default=True)
    in_house = models.BooleanField(default=False, help_text="What models tell it goes nowhere else.")
    version = models.CharField(max_length=120, blank=True, default="", help_text="As the server says it.")
    reachable = models.BooleanField(null=True, help_text="Unknown until it was asked once.")
    last_seen_at = models.DateTimeField(null=True, blank=True)
    checked_at = models.DateTimeField(null=True, blank=True)
    down_since = models.DateTimeField(null=True, blank=True)
    last_error = models.TextField(blank=True, default="")
    left_out = models.JSONField(default=list, blank=True, help_text="What of its list could not be taken, in words.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class McpTool(models.Model):
    """One tool of a server. It is pinned: what is called is the definition that an administrator approved.

    `digest` is that definition's, "" while none was approved; `waiting` is the one offered now, where it is another.
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
