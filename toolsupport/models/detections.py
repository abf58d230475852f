"""Rows of tests of models, with the evidence of each trial."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from toolsupport.models.servers import ModelProfile
from toolsupport.sentence_columns import SentenceJSONField, SentenceTextField

OPEN = ("queued", "running")


class Detection(models.Model):
    """One test of one build. Only one test of a kind can be open for a build, however many people request it."""

    profile = models.ForeignKey(ModelProfile, on_delete=models.PROTECT, related_name="detections")
    build_key = models.CharField(max_length=32)
    kind = models.CharField(max_length=20, default="tools", help_text="A key of detection.KINDS.")
    trigger = models.CharField(
        max_length=20, help_text="What asked for it: page, chat, command, api, bulk, refusal, drift, program."
    )
    status = models.CharField(
        max_length=12, default="queued", help_text="queued, running, done, cancelled, interrupted or failed."
    )
    owner = models.CharField(max_length=64, blank=True, default="", help_text="The worker that runs it.")
    lease_until = models.DateTimeField(null=True, blank=True)
    cancel_requested_at = models.DateTimeField(null=True, blank=True)
    skip_requested = models.CharField(max_length=30, blank=True, default="", help_text="The step to leave out.")
    progress = SentenceJSONField(default=list, blank=True, help_text="[{step, state, detail}] so far, in order.")
    verdict = models.CharField(max_length=20, blank=True, default="", help_text="One of core.verdicts.VERDICTS.")
    detail = SentenceJSONField(
        default=dict, blank=True, help_text="What the verdict rests on: format, passed, tried, flag, why."
    )
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    bulk = models.ForeignKey(
        "self",
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
        help_text="The first of the tests that were started together; empty for a test of its own.",
    )
    remaining = models.BooleanField(default=False, help_text="Steps of it follow the verdict, after other tests.")
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    load_ms = models.PositiveIntegerField(null=True, blank=True)
    run_ms = models.PositiveIntegerField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["build_key", "kind"], condition=Q(status__in=OPEN), name="one_open_detection_per_build_and_kind"
            )
        ]
        indexes = [
            models.Index(fields=["status", "lease_until"], name="detection_by_status"),
            models.Index(fields=["id"], condition=Q(remaining=True), name="detection_with_remaining"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.profile_id}: {self.verdict or self.status}"


class Trial(models.Model):
    """One request of a detection with its result, redacted; kept as long as the detection."""

    detection = models.ForeignKey(Detection, on_delete=models.PROTECT, related_name="trials")
    seq = models.PositiveIntegerField(help_text="1, 2, 3 … for each detection.")
    step = models.CharField(max_length=30, help_text="A key of detection.DETECTORS.")
    n = models.PositiveIntegerField(default=1, help_text="1, 2, 3 … within its step.")
    request = models.JSONField(default=dict)
    response = models.JSONField(default=dict)
    status = models.PositiveIntegerField(null=True, blank=True, help_text="The HTTP status, where there was one.")
    duration_ms = models.PositiveIntegerField(default=0)
    prompt_tokens = models.PositiveIntegerField(null=True, blank=True)
    output_tokens = models.PositiveIntegerField(null=True, blank=True)
    passed = models.BooleanField(null=True, help_text="Unknown where the trial says nothing about the model.")
    why = SentenceTextField(blank=True, default="")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["detection", "seq"]
        constraints = [models.UniqueConstraint(fields=["detection", "seq"], name="one_trial_per_detection_and_seq")]

    def __str__(self) -> str:
        return f"{self.detection_id}#{self.seq} {self.step}: {self.passed}"
