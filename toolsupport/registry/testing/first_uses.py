"""Opens the tests that answers to programs wait for, and stores their first finding before they end."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import Min, Q
from django.utils import timezone

from toolsupport.models import Detection, ModelProfile
from toolsupport.models.detections import OPEN
from toolsupport.registry.knowledge import effective_values
from toolsupport.registry.testing import detections
from toolsupport.registry.testing.detections import DetectionRequest

# How long an answer waits for a test, once the model is loaded, and for its turn in the queue.
PATIENCE = timedelta(seconds=10)
LOADING = timedelta(seconds=300)
# A test that decided nothing is not repeated at once for the next request.
PAUSE = timedelta(minutes=10)
# The capabilities of a first finding: the rest of a test adds to them and does not change them. *Streams calls* is
# left out, since later trials may differ.
EARLY = ("tools", "streaming", "tools_thinking")
OPEN_STILL = ("streaming", True)


def open_for(profile_id: int, actor: int) -> int | None:
    """Return the test (id) of this model that a program's answer waits for; None if one has just decided nothing.

    However many programs ask, one test is open. Raises NotFound, ConfigError (no tests here), Busy (too many).
    """
    profile = ModelProfile.objects.select_related("server").get(pk=profile_id)
    ended = Detection.objects.filter(build_key=profile.build.key, kind="tools", finished_at__gte=timezone.now() - PAUSE)
    if ended.exists():
        return None
    opened = detections.open_tests([DetectionRequest(profile_id, "program", actor=actor)], limited=True)[0]
    with transaction.atomic():
        row = Detection.objects.select_for_update().get(pk=opened.id)
        if row.status in OPEN and not row.detail.get("awaited"):
            row.detail = {"awaited": True}
            row.save(update_fields=["detail"])
    return opened.id


def settled(detection: int) -> bool:
    """Return whether an answer has waited for this test long enough: it has a finding, has ended, or takes too long."""
    accepted = Min("trials__created_at", filter=Q(trials__step="accepted"))
    row = Detection.objects.filter(pk=detection).annotate(loaded_at=accepted).first()
    if row is None or row.status not in OPEN or "before" in row.detail:
        return True
    if row.loaded_at is not None:
        return bool(timezone.now() > row.loaded_at + PATIENCE)
    if row.started_at is not None:
        return timezone.now() > row.started_at + LOADING
    return timezone.now() > row.created_at + PATIENCE


@transaction.atomic
def found(detection: int, owner: str, values: Mapping[str, Any], reason: str) -> bool:
    """Store that the model calls tools while the rest of its test continues; False if no answer waits for that.

    Only a yes: a no needs the whole test, with its text formats.
    """
    mine = Detection.objects.select_for_update().filter(pk=detection, owner=owner, status="running")
    row = mine.select_related("profile__server").first()
    if row is None or not row.detail.get("awaited") or "before" in row.detail:
        return False
    if row.profile.build.key != row.build_key:
        return False
    before = effective_values.known(row.profile)["tools"].value
    early = {name: value for name, value in values.items() if name in EARLY and (name, value) != OPEN_STILL}
    detections.measure(row, early, reason)
    mine.update(detail={**row.detail, "before": before})
    return True
