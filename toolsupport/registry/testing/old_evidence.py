"""Deletes old requests and replies of tests and exams, except those on which a value in force rests."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from toolsupport.models import ExamRun, ExamTrial, Override, Trial
from toolsupport.models.detections import OPEN


def count(before: datetime) -> int:
    """Return how many requests `prune` would delete."""
    return _trials(before).count() + _exam_trials(before).count()


@transaction.atomic
def prune(before: datetime, most: int) -> int:
    """Delete the oldest ones, at most so many of each; return how many."""
    rows = list(_trials(before).order_by("pk").values_list("pk", flat=True)[:most])
    of_exams = list(_exam_trials(before).order_by("pk").values_list("pk", flat=True)[:most])
    Trial.objects.filter(pk__in=rows).delete()
    ExamTrial.objects.filter(pk__in=of_exams).delete()
    return len(rows) + len(of_exams)


def _trials(before: datetime) -> QuerySet[Trial]:
    """Trials in force prove a measured value that is neither withdrawn nor measured again."""
    again = Override.objects.filter(
        profile=OuterRef("profile"),
        capability=OuterRef("capability"),
        session=OuterRef("session"),
        source=OuterRef("source"),
        build_key=OuterRef("build_key"),
        pk__gt=OuterRef("pk"),
        withdrawn_by=None,
        withdraws=None,
    )
    in_force = Override.objects.filter(detection=OuterRef("detection"), withdrawn_by=None, withdraws=None)
    ended = Trial.objects.filter(created_at__lt=before).exclude(detection__status__in=OPEN)
    return ended.exclude(Exists(in_force.exclude(Exists(again))))


def _exam_trials(before: datetime) -> QuerySet[ExamTrial]:
    """The last run of an exam with a build stays."""
    later = ExamRun.objects.filter(
        build_key=OuterRef("run__build_key"), paper=OuterRef("run__paper"), pk__gt=OuterRef("run__pk"), status="done"
    )
    ended = ExamTrial.objects.filter(created_at__lt=before, run__status__in=("done", "cancelled"))
    return ended.filter(Exists(later))
