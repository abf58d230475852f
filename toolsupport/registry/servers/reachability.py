"""Stores whether servers answer: by a listing of their models, and at once by the answers in chats."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from toolsupport.core import server_faults
from toolsupport.core.server_faults import UNREACHABLE
from toolsupport.models import ModelProfile, Server
from toolsupport.registry.servers import missing_flags

SHORTEST_PAUSE, LONGEST_PAUSE = 5.0, 300.0  # seconds
MARKED = timedelta(minutes=2)  # for how long a server is down before administrators see a mark: not at a restart
CLAIM = timedelta(seconds=60)  # longer than a listing takes: no other worker queries the server meanwhile
STATUS = ["reachable", "checked_at", "down_since", "last_error", "fault", "failures", "next_check_at"]


@dataclass(frozen=True, slots=True)
class WatchedModel:
    """A model whose answers show whether its server is up; `up`: it was marked reachable when the model was asked."""

    profile: int
    server: int
    up: bool


@transaction.atomic
def record_failure(server_id: int, why: str, fault: str = UNREACHABLE) -> None:
    """Store that the server could not be asked: the time of its first failure is kept, its models stay as they are."""
    server = Server.objects.select_for_update().get(pk=server_id)
    now = timezone.now()
    server.reachable, server.checked_at, server.down_since = False, now, server.down_since or now
    server.last_error, server.fault, server.failures = why, fault, server.failures + 1
    again = server_faults.passes(fault)
    server.next_check_at = now + timedelta(seconds=pause(server.failures, random.uniform(0.8, 1.2))) if again else None
    server.save(update_fields=STATUS)
    ModelProfile.objects.filter(server=server, loaded=True).update(loaded=False)


def failed_in_use(server_id: int, why: str, fault: str) -> None:
    """Store that an answer failed because of its server. Many answers that fail at the same time are one failure."""
    if Server.objects.filter(pk=server_id).exclude(reachable=False).exists():
        record_failure(server_id, why, fault)


def answered_in_use(server_id: int) -> None:
    """Store that a server that was marked down has answered; its models are listed again at once."""
    now = timezone.now()
    Server.objects.filter(pk=server_id).exclude(reachable=True).update(
        reachable=True, last_seen_at=now, down_since=None, last_error="", fault="", failures=0, next_check_at=now
    )


def check_soon(server_id: int) -> None:
    """List the models of a server with an unexpected answer soon."""
    Server.objects.filter(pk=server_id, enabled=True).update(next_check_at=timezone.now())


def model_missing(profile_id: int) -> None:
    """Store that the server reported that it does not have this model; a later listing may bring it back.

    A model that a person defined may be served without being listed, but not after such a report.
    """
    rows = ModelProfile.objects.filter(pk=profile_id, gone_since=None)
    rows.update(gone_since=timezone.now(), loaded=False)


def pause(failures: int, stretch: float) -> float:
    """Return the seconds until a server is asked again after so many failures; `stretch` spreads requests."""
    doubled = SHORTEST_PAUSE * float(2 ** min(max(failures, 1) - 1, 16))
    return min(doubled, LONGEST_PAUSE) * stretch


def with_problems() -> QuerySet[Server]:
    """Return the servers in use that lack a setting for tools or have not answered for some time."""
    down = Q(reachable=False, down_since__lte=Now() - MARKED)
    lacking = Q(pk__in=missing_flags.open_marks().values("server"))
    return Server.objects.filter(down | lacking, enabled=True, removed_at=None)


def claim_due() -> tuple[int, ...]:
    """Return the servers to ask again now; each is given to one process only."""
    now = timezone.now()
    due = Server.objects.filter(enabled=True, next_check_at__lte=now)
    claimed = []
    for server_id in due.values_list("pk", flat=True):
        if due.filter(pk=server_id).update(next_check_at=now + CLAIM):
            claimed.append(server_id)
    return tuple(claimed)
