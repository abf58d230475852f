"""Reads recent changes of models for the pages that show them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import timedelta

from django.db.models import Max, Q, QuerySet
from django.db.models.functions import Now

from toolsupport.models import Detection, Override
from toolsupport.models.detections import OPEN
from toolsupport.registry import row_cache
from toolsupport.registry.testing import detection_reports
from toolsupport.registry.testing.detection_reports import ShownDetection

JUST_NOW = timedelta(seconds=10)


def is_quiet() -> bool:
    """Return whether no test runs or ended just now; while that is so and no row changes, nothing is read (SQLite)."""
    return row_cache.read(_is_quiet) or _is_quiet()


def _is_quiet() -> bool:
    return not _recent().exists()


def _recent() -> QuerySet[Detection]:
    return Detection.objects.filter(Q(status__in=OPEN) | Q(finished_at__gte=Now() - JUST_NOW))


def tests(profiles: Collection[int]) -> list[ShownDetection]:
    """Return the tests of these models that run or ended just now, oldest first."""
    recent = _recent().select_related("profile__server", "actor").filter(profile__in=profiles)
    return [detection_reports.of_row(row) for row in recent.order_by("id")]


def last_ended(profiles: Collection[int]) -> dict[int, ShownDetection]:
    """Return the newest test of each model that has ended, by model id."""
    ended = Detection.objects.filter(profile__in=profiles).exclude(status__in=OPEN)
    newest = ended.order_by().values("profile").annotate(newest=Max("pk")).values("newest")
    rows = Detection.objects.select_related("profile__server", "actor").filter(pk__in=newest)
    return {row.profile_id: detection_reports.of_row(row) for row in rows}


def decisions() -> Mapping[int, int]:
    """Return the newest decision of people on each model's tools, for everyone: its number, by model id.

    The same object is returned while no row changes (on SQLite).
    """
    return row_cache.read(_decisions)


def _decisions() -> Mapping[int, int]:
    rows = Override.objects.filter(capability="tools", session="", proposed=False)
    newest = rows.filter(source="user_confirmed").values("profile").annotate(newest=Max("pk"))
    return dict(newest.values_list("profile", "newest"))
