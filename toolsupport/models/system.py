"""Rows about the installation itself."""

from __future__ import annotations

from django.db import models


class Setting(models.Model):
    """A setting that an administrator may change on the settings page; the environment has precedence."""

    key = models.CharField(max_length=80, primary_key=True)
    value = models.JSONField(null=True)
    changed_at = models.DateTimeField(auto_now=True)

    def __str__(self) -> str:
        return self.key


class Lease(models.Model):
    """The worker that runs a periodic job, until `until` by the database's clock."""

    name = models.CharField(max_length=80, primary_key=True)
    owner = models.CharField(max_length=64)
    until = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.name} by {self.owner}"
