"""Which model servers are answering at this moment."""

from __future__ import annotations

from chat.models import Turn


def servers() -> frozenset[int]:
    """The ids of the servers whose models write an answer now, in whichever process."""
    running = Turn.objects.filter(status__in=("queued", "running"))
    return frozenset(running.values_list("profile__server_id", flat=True))
