"""Rows the installation keeps about itself."""

from __future__ import annotations

from django.db import models


class Setting(models.Model):
    """A setting an administrator may change in the page; the environment outranks it."""

    key = models.CharField(max_length=80, primary_key=True)
    value = models.JSONField(null=True)
    changed_at = models.DateTimeField(auto_now=True)

    def __str__(self) -> str:
        return self.key


class Lease(models.Model):
    """Who does a periodic job at the moment: one worker each, until `until` by the database's clock."""

    name = models.CharField(max_length=80, primary_key=True)
    owner = models.CharField(max_length=64)
    until = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.name} by {self.owner}"
