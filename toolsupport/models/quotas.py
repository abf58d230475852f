"""Rows of quotas, and of what was used of them."""

from __future__ import annotations

from django.db import models


class QuotaLimit(models.Model):
    """A quota that an administrator, or the maker of a key, set; an empty value is decided elsewhere, 0 is no limit."""

    kind = models.CharField(max_length=10, help_text="role, person or key.")
    subject = models.CharField(max_length=40, help_text="The name of a role, or the id of a person or key.")
    requests_day = models.BigIntegerField(null=True, blank=True)
    requests_month = models.BigIntegerField(null=True, blank=True)
    tokens_day = models.BigIntegerField(null=True, blank=True)
    tokens_month = models.BigIntegerField(null=True, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["kind", "subject"], name="one_quota_of_a_subject")]

    def __str__(self) -> str:
        return f"the quota of {self.kind} {self.subject}"


class QuotaUse(models.Model):
    """What a person or a key with a quota used on one day, in UTC."""

    kind = models.CharField(max_length=10, help_text="person or key.")
    subject = models.BigIntegerField()
    day = models.DateField(db_index=True)
    requests = models.BigIntegerField(default=0)
    tokens = models.BigIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["kind", "subject", "day"], name="one_count_of_a_day")]

    def __str__(self) -> str:
        return f"{self.requests} requests of {self.kind} {self.subject} on {self.day}"
