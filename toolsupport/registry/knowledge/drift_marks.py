"""Stores since when a model's tests are of an older build; administrators see it until they are repeated."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from django.db.models import QuerySet
from django.db.models.functions import Now

from toolsupport.models import ModelProfile


def follow(profiles: Sequence[ModelProfile], stale: Collection[int]) -> None:
    """Store or remove the mark of each of these models, of which those in `stale` are to be tested again."""
    marked = {profile.pk for profile in profiles if profile.drifted_since is not None}
    rows = ModelProfile.objects.all()
    if begun := set(stale) - marked:
        rows.filter(pk__in=begun, drifted_since=None).update(drifted_since=Now())
    if ended := marked - set(stale):
        rows.filter(pk__in=ended).update(drifted_since=None)


def open_marks() -> QuerySet[ModelProfile]:
    """Return the marked models in use."""
    there = ModelProfile.objects.filter(enabled=True, gone_since=None, server__enabled=True, server__removed_at=None)
    return there.exclude(drifted_since=None)
