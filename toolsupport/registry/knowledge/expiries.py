"""Withdraws the overrides whose time is over."""

from __future__ import annotations

from datetime import datetime

from toolsupport.core import capability_reasons
from toolsupport.core.errors import Conflict
from toolsupport.core.sentences import sentence
from toolsupport.models import Override
from toolsupport.registry import write_steps
from toolsupport.registry.knowledge import overrides
from toolsupport.registry.knowledge.overrides import NewOverride


def withdraw_expired(now: datetime) -> int:
    """Withdraw each override that has expired, so that the evidence counts again; return how many there were."""
    rows = Override.objects.filter(expires_at__lte=now, withdraws=None, withdrawn_by=None, proposed=False)
    return sum(write_steps.of_each(list(rows.order_by("pk")), lambda part: sum(map(_withdraw, part))))


def _withdraw(row: Override) -> bool:
    until = capability_reasons.day(row.expires_at.isoformat()) if row.expires_at else ""
    reason = sentence("expired", until=until)
    ended = NewOverride(row.profile_id, row.capability, reason=reason, session=row.session)
    try:
        overrides.withdraw(row.pk, ended)
    except Conflict:
        # A person withdrew it at the same moment.
        return False
    return True
