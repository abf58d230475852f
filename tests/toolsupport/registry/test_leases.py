"""The start of the only process of a site frees the work of the one before, which was killed."""

from __future__ import annotations

from typing import Any

import pytest
from channels.db import database_sync_to_async as in_database

from tests.factories import ModelProfileFactory
from tests.tables import every
from toolsupport.models import Detection
from toolsupport.registry import leases
from toolsupport.registry.testing import detections
from toolsupport.registry.testing.detections import DetectionRequest
from toolsupport.services import background_jobs, serve_lock
from toolsupport.services.background_jobs import JobRunner

pytestmark = pytest.mark.django_db(transaction=True)
# The owner of a running test, whether this process alone serves the database, and how the test is then.
OWNERS = [
    ("of a process that was killed", True, "interrupted"),
    ("of a process that was killed", False, "running"),
    (f"{leases.OF_COMMANDS}that runs beside", True, "running"),
    ("", True, "running"),  # its own
]


@pytest.mark.asyncio
@every("owner, alone, status", OWNERS)
async def test_a_start_frees_what_a_killed_process_ran(
    monkeypatch: pytest.MonkeyPatch, owner: str, alone: bool, status: str
) -> None:
    """Otherwise its model waits for a minute until it can be tested again."""

    @in_database
    def run_by(process: str) -> Any:
        made = [detections.open_test(DetectionRequest(ModelProfileFactory().pk, "page")).id for _ in range(2)]
        Detection.objects.filter(pk__in=made).update(
            status="running", owner=process, lease_until=leases.in_future(leases.TEST)
        )
        Detection.objects.filter(pk=made[1]).update(status="done", remaining=True)
        return made

    @in_database
    def states() -> tuple[str, bool]:
        detections.settle()
        row, later = Detection.objects.filter(pk__in=tests).order_by("pk")
        return row.status, later.lease_until is not None

    monkeypatch.setattr(serve_lock, "alone", lambda: alone)
    monkeypatch.setattr(background_jobs, "jobs", tuple)
    made = JobRunner()
    tests = await run_by(owner or made.owner)
    await made._begin()
    assert await states() == (status, status == "running")
    await in_database(Detection.objects.all().delete)()
