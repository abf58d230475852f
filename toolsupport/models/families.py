"""Rows of the families that a team added to the shipped table."""

from __future__ import annotations

from django.db import models


class Family(models.Model):
    """A family defined by the team; it has precedence over a shipped one with the same pattern.

    Blank and null: unknown.
    """

    name = models.CharField(max_length=80, unique=True)
    patterns = models.JSONField(help_text='Names in one spelling, as in ["my-model"]; the longest one that fits wins.')
    excepted = models.JSONField(default=list, blank=True, help_text="Words a name must not have.")
    tools = models.BooleanField(null=True, blank=True, help_text="Calls tools natively.")
    call_format = models.CharField(max_length=40, blank=True, default="")
    parallel = models.BooleanField(null=True, blank=True)
    streaming_calls = models.BooleanField(null=True, blank=True)
    prompt_style = models.CharField(max_length=40, blank=True, default="")
    multi_turn = models.CharField(max_length=20, blank=True, default="")
    max_tools = models.PositiveIntegerField(null=True, blank=True)
    refuses = models.JSONField(default=list, blank=True, help_text="Names of tools it is known to refuse.")
    thinking = models.BooleanField(null=True, blank=True)
    vision = models.BooleanField(null=True, blank=True)
    context = models.PositiveIntegerField(null=True, blank=True, help_text="In tokens.")
    notes = models.TextField(blank=True, default="", help_text="Where this is known from.")
    enabled = models.BooleanField(default=True)

    class Meta:
        ordering = ["name"]
        verbose_name_plural = "families"

    def __str__(self) -> str:
        return self.name
