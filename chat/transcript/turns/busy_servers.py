"""Reads which model servers are writing an answer now."""

from __future__ import annotations

from chat.models import Turn
from chat.statuses import ACTIVE


def servers() -> frozenset[int]:
    """Return the ids of the servers whose models write an answer now, in any process."""
    running = Turn.objects.filter(status__in=ACTIVE)
    return frozenset(running.values_list("profile__server_id", flat=True))
