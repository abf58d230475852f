"""Rows of exams: the team's cases, the cases as they were at the start of a run, the run, and each graded trial."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from toolsupport.models.servers import ModelProfile
from toolsupport.sentence_columns import SentenceJSONField


class TeamExam(models.Model):
    """An exam of the team: a name for cases that people added."""

    name = models.CharField(max_length=120)
    folded = models.CharField(max_length=240, unique=True, help_text="The name without regard to case.")
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["folded"]

    def __str__(self) -> str:
        return self.name


class TeamCase(models.Model):
    """A case of an exam of the team, redacted. A run keeps the cases as they were (ExamPaper)."""

    exam = models.ForeignKey(TeamExam, on_delete=models.CASCADE, related_name="cases")
    name = models.CharField(max_length=120, help_text="The id of the case in its exam.")
    body = models.JSONField(help_text="The case as JSON.")
    version = models.PositiveIntegerField(default=1)
    changed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["exam", "name"], name="one_team_case_per_name")]

    def __str__(self) -> str:
        return f"{self.exam_id}: {self.name} (version {self.version})"


class ExamPaper(models.Model):
    """The cases of a suite at one time. Runs of equal cases share it, so that they can be compared."""

    digest = models.CharField(max_length=64, unique=True, help_text="SHA-256 of the suite as JSON.")
    suite = models.CharField(max_length=120)
    body = models.JSONField(help_text="The suite: {name, cases}.")
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"{self.suite} {self.digest[:8]}"


class ExamRun(models.Model):
    """One run of an exam with one build of a model. One process at a time runs it; another one can go on."""

    profile = models.ForeignKey(ModelProfile, on_delete=models.PROTECT, related_name="exam_runs")
    build_key = models.CharField(max_length=32)
    paper = models.ForeignKey(ExamPaper, on_delete=models.PROTECT, related_name="runs")
    formats = models.JSONField(default=list, help_text="Call formats; an empty one is the format in force.")
    swap_from = models.ForeignKey(
        ModelProfile,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
        help_text="The model that makes the first calls, before the change to this one; empty without a change.",
    )
    trigger = models.CharField(max_length=20, help_text="What started it: page or command.")
    status = models.CharField(max_length=12, default="queued", help_text="queued, running, done or cancelled.")
    owner = models.CharField(max_length=64, blank=True, default="", help_text="The process that runs it.")
    lease_until = models.DateTimeField(null=True, blank=True)
    planned = models.PositiveIntegerField(default=0, help_text="Cases times formats.")
    graded = models.PositiveIntegerField(default=0, help_text="How many of them are decided.")
    verdict = models.CharField(max_length=12, blank=True, default="", help_text="passed, failed or inconclusive.")
    detail = SentenceJSONField(default=dict, blank=True, help_text="Shares by format and group; why it ended.")
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["build_key", "paper"],
                condition=Q(status__in=["queued", "running"]),
                name="one_open_exam_per_build_and_paper",
            )
        ]
        indexes = [models.Index(fields=["status", "lease_until"], name="exam_run_by_status")]

    def __str__(self) -> str:
        return f"{self.paper_id} with {self.profile_id}: {self.verdict or self.status}"


class ExamTrial(models.Model):
    """One graded trial of a case, redacted. No tool was executed for it."""

    run = models.ForeignKey(ExamRun, on_delete=models.CASCADE, related_name="trials")
    format = models.CharField(max_length=40, help_text="The call format that was used.")
    asked_format = models.CharField(max_length=40, blank=True, default="", help_text="One of the run's formats.")
    case = models.CharField(max_length=120)
    group = models.CharField(max_length=20)
    n = models.PositiveIntegerField(default=1, help_text="1, 2, 3 … of this case and format.")
    right = models.BooleanField(null=True, help_text="Unknown where the trial shows nothing about the model.")
    code = models.CharField(max_length=30, help_text="A key of grading.CODES.")
    facts = models.JSONField(default=dict, blank=True)
    replies = models.JSONField(default=list, help_text="What the model wrote and called, round by round.")
    duration_ms = models.PositiveIntegerField(default=0)
    prompt_tokens = models.PositiveIntegerField(default=0)
    output_tokens = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["run", "asked_format", "case", "n"], name="one_trial_per_case_and_format")
        ]

    def __str__(self) -> str:
        return f"{self.run_id}: {self.case}#{self.n} {self.code}"
