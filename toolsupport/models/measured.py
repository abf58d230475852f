"""Rows of measurements of a build in real turns."""

from __future__ import annotations

from django.db import models


class ProvenCall(models.Model):
    """The form of a successful call: an example for the same build in a text format. It holds no value from a chat."""

    build_key = models.CharField(max_length=32)
    tool = models.CharField(max_length=120)
    arguments = models.JSONField()
    proven_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["build_key", "tool"], name="one_proven_call_per_build_and_tool")]

    def __str__(self) -> str:
        return self.tool


class CallMetric(models.Model):
    """The outcomes of a model's calls on one day in one format; the outcomes are those of the registry.

    Time and tokens are sums over the replies, each counted once, at its first call. `requests` are the replies whose
    worst call has this outcome.
    """

    profile = models.ForeignKey("toolsupport.ModelProfile", on_delete=models.CASCADE, related_name="call_metrics")
    format = models.CharField(max_length=40)
    outcome = models.CharField(max_length=20)
    day = models.DateField()
    calls = models.PositiveIntegerField(default=0)
    requests = models.PositiveIntegerField(default=0)
    latency_ms = models.PositiveBigIntegerField(default=0)
    tokens = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["profile", "format", "outcome", "day"], name="one_count_per_model_format_outcome_and_day"
            )
        ]

    def __str__(self) -> str:
        return f"{self.outcome} in {self.format}: {self.calls}"


class ReplyTime(models.Model):
    """How many replies of a model with calls took this long on one day in one format (core/reply_time_histogram.py)."""

    profile = models.ForeignKey("toolsupport.ModelProfile", on_delete=models.CASCADE, related_name="reply_times")
    format = models.CharField(max_length=40)
    day = models.DateField()
    step = models.PositiveSmallIntegerField()
    replies = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["profile", "format", "day", "step"], name="one_count_per_reply_time")
        ]

    def __str__(self) -> str:
        return f"step {self.step} in {self.format}: {self.replies}"


class PromptCount(models.Model):
    """The shortest request to a build with a set of tools: its characters, and its tokens as counted by the server."""

    build_key = models.CharField(max_length=32)
    tools_digest = models.CharField(max_length=32, blank=True, help_text="Blank: no tools.")
    characters = models.PositiveIntegerField()
    tokens = models.PositiveIntegerField()
    counted_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["build_key", "tools_digest"], name="one_count_per_build_and_tools")
        ]

    def __str__(self) -> str:
        return f"{self.characters} characters, {self.tokens} tokens"
