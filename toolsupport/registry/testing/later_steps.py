"""Stores the steps of tests that follow their verdicts, when no other test of the server waits or runs."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction
from django.db.models import QuerySet

from toolsupport.core.detection_step_results import LATER
from toolsupport.core.types import JSON
from toolsupport.models import Detection, HistoryEntry, Server, Trial
from toolsupport.models.detections import OPEN
from toolsupport.registry import leases, row_cache
from toolsupport.registry.knowledge import event_log
from toolsupport.registry.servers import server_slots
from toolsupport.registry.testing import detections
from toolsupport.registry.testing.detections import DetectionResult, DetectionSignals, TrialRecord


def claim(owner: str) -> int | None:
    """Claim the oldest test with remaining steps whose server has nothing else to test; return its id, or None.

    Trials of an attempt that did not end are dropped.
    """
    return _claim(owner) if row_cache.read(_any_remain) else None


def _any_remain() -> bool:
    return Detection.objects.filter(remaining=True).exists()


@transaction.atomic
def _claim(owner: str) -> int | None:
    free = Detection.objects.filter(leases.ran_out(), remaining=True)
    for row in free.select_related("profile__server").order_by("pk"):
        taken = {"owner": owner, "lease_until": leases.in_future(leases.TEST)}
        if _has_room(row.profile.server) and free.filter(pk=row.pk).update(**taken):
            Trial.objects.filter(detection=row, step__in=LATER).delete()
            return row.pk
    return None


def _has_room(server: Server) -> bool:
    Server.objects.select_for_update().get(pk=server.pk)
    mine = Detection.objects.filter(profile__server=server)
    # A test after a change of its model waits for an idle server, and so for this one.
    if mine.filter(status__in=OPEN).exclude(status="queued", trigger="drift").exists():
        return False
    taken = len(server_slots.held(server.pk)) + server_slots.later_steps(server.pk)
    return taken < server_slots.limit(server.kind)


@transaction.atomic
def renew(detection: int, owner: str, progress: Sequence[JSON]) -> DetectionSignals:
    """Renew the lease and store the progress of these steps among that of the others."""
    row = _mine(detection, owner).first()
    if row is None:
        return DetectionSignals(mine=False)
    now = {one["step"]: one for one in progress}
    row.progress = [now.get(one["step"], one) for one in row.progress]
    row.lease_until = leases.in_future(leases.TEST)
    row.save(update_fields=["progress", "lease_until"])
    return DetectionSignals(mine=True)


@transaction.atomic
def add_trial(detection: int, owner: str, trial: TrialRecord) -> bool:
    """Store the evidence of one trial; return False if another worker has these steps."""
    row = _mine(detection, owner).first()
    if row is not None:
        detections.append_trial(row, trial)
    return row is not None


@transaction.atomic
def conclude(detection: int, owner: str, concluded: DetectionResult) -> bool:
    """Store what the remaining steps have measured as claims of this test; the verdict stays."""
    row = _mine(detection, owner).select_related("profile__server").first()
    if row is None:
        return False
    if row.profile.build.key == row.build_key:
        detections.measure(row, concluded.values, concluded.reason)
        entry = HistoryEntry.objects.filter(detection=row, kind="detection").order_by("pk").first()
        if entry is not None:
            event_log.lead_findings(row.pk, entry.lead_id or entry.pk)
    Detection.objects.filter(pk=detection).update(remaining=False, lease_until=None)
    return True


def leave(owner: str) -> None:
    """Release the steps of a worker that stops: another one repeats them."""
    Detection.objects.filter(owner=owner, remaining=True).update(lease_until=None)


def _mine(detection: int, owner: str) -> QuerySet[Detection]:
    return Detection.objects.select_for_update(of=("self",)).filter(pk=detection, owner=owner, remaining=True)
