"""Matches a name in any case, however long the sent text is."""

from __future__ import annotations

from django.db.models import Q

# SQLite refuses to compare with a pattern of more than 50,000 bytes, escapes included; no name has so many.
LONGEST = 1_000


def same(field: str, name: str) -> Q:
    """Return the condition that the field is this name in any case; nothing fits a longer one."""
    return Q(**{f"{field}__iexact": name}) if len(name) <= LONGEST else Q(pk__in=())
