"""Which entries of the history a person has read."""

from __future__ import annotations

from collections.abc import Collection

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from toolsupport.models import HistoryEntry, ReadEntry, ReadMark
from toolsupport.registry import raw_sql

# Older entries count as read, so that finding an unread one is always quick.
WINDOW = 10_000

# Claims of servers need not be read, and entries inside another entry are read with it.
UNREAD = f"""SELECT entry.id FROM toolsupport_historyentry AS entry
WHERE entry.id > (SELECT MAX(floor) FROM (SELECT entry AS floor FROM toolsupport_readmark WHERE person_id = %s
UNION ALL SELECT MAX(id) - {WINDOW} FROM toolsupport_historyentry) AS floors)
AND entry.lead_id IS NULL AND entry.source <> 'declared' AND (entry.actor_id IS NULL OR entry.actor_id <> %s)
AND NOT EXISTS (SELECT 1 FROM toolsupport_readentry AS seen WHERE seen.person_id = %s AND seen.entry_id = entry.id)"""


def unread_among(person: int, entries: Collection[int]) -> frozenset[int]:
    """Return those of the entries (ids) that this person has not read: one query."""
    marks = ", ".join(["%s"] * len(entries))
    return _unread(person, f"AND entry.id IN ({marks})", *entries) if entries else frozenset()


@transaction.atomic
def mark_entry(person: int, entry: int) -> None:
    """Mark one entry as read by this person, with its contents."""
    if not unread_among(person, [entry]):
        return
    ReadEntry.objects.bulk_create([ReadEntry(person_id=person, entry_id=entry)], ignore_conflicts=True)
    if not _unread(person, "ORDER BY entry.id LIMIT 1"):
        mark_all(person)


@transaction.atomic
def mark_all(person: int) -> None:
    """Mark all entries as read by this person."""
    newest = HistoryEntry.objects.aggregate(newest=Max("pk"))["newest"] or 0
    mark = ReadMark(person_id=person, entry=newest, at=timezone.now())
    ReadMark.objects.bulk_create([mark], update_conflicts=True, unique_fields=["person"], update_fields=["entry", "at"])
    ReadEntry.objects.filter(person_id=person).delete()


def _unread(person: int, which: str, *values: int) -> frozenset[int]:
    return frozenset(entry for (entry,) in raw_sql.rows(f"{UNREAD} {which}", person, person, person, *values))
