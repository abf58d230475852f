"""Reads recent changes of models for the pages that show them."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta

from django.db.models import Max, Q
from django.db.models.functions import Now

from toolsupport.models import Detection, Override
from toolsupport.models.detections import OPEN
from toolsupport.registry.testing import detection_reports
from toolsupport.registry.testing.detection_reports import ShownDetection

JUST_NOW = timedelta(seconds=10)


def tests(profiles: Collection[int]) -> list[ShownDetection]:
    """Return the tests of these models that run or ended just now, oldest first."""
    rows = Detection.objects.select_related("profile__server", "actor").filter(profile__in=profiles)
    recent = rows.filter(Q(status__in=OPEN) | Q(finished_at__gte=Now() - JUST_NOW))
    return [detection_reports.of_row(row) for row in recent.order_by("id")]


def last_ended(profile: int) -> ShownDetection | None:
    """Return the newest test of a model that has ended."""
    rows = Detection.objects.select_related("profile__server", "actor").filter(profile=profile)
    row = rows.exclude(status__in=OPEN).order_by("-id").first()
    return detection_reports.of_row(row) if row else None


def decisions(profiles: Collection[int]) -> dict[int, int]:
    """Return the newest decision of people on each model's tools, for everyone: its number, by model id."""
    rows = Override.objects.filter(profile__in=profiles, capability="tools", session="", proposed=False)
    newest = rows.filter(source="user_confirmed").values("profile").annotate(newest=Max("pk"))
    return dict(newest.values_list("profile", "newest"))
