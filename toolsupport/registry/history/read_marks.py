"""Which entries of the history a person has read."""

from __future__ import annotations

from collections.abc import Collection

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from toolsupport.models import HistoryEntry, ReadEntry, ReadMark
from toolsupport.registry import raw_sql

MOST_UNREAD = 99
# Rows that are counted: older ones count as read, so that counting is always quick.
WINDOW = 10_000

# Claims of servers need not be read, and entries inside another entry are read with it.
UNREAD = f"""SELECT entry.id FROM toolsupport_historyentry AS entry
WHERE entry.id > (SELECT MAX(floor) FROM (SELECT entry AS floor FROM toolsupport_readmark WHERE person_id = %s
UNION ALL SELECT MAX(id) - {WINDOW} FROM toolsupport_historyentry) AS floors)
AND entry.lead_id IS NULL AND entry.source <> 'declared' AND (entry.actor_id IS NULL OR entry.actor_id <> %s)
AND NOT EXISTS (SELECT 1 FROM toolsupport_readentry AS seen WHERE seen.person_id = %s AND seen.entry_id = entry.id)"""
READ = f"""INSERT INTO toolsupport_readentry (person_id, entry_id, at)
SELECT %s, unread.id, %s FROM ({UNREAD} AND entry.id = %s) AS unread WHERE true ON CONFLICT DO NOTHING"""
FIRST = f"{UNREAD} ORDER BY entry.id LIMIT %s"


def unread(person: int) -> int:
    """How many entries of other people this person has not read, one more than MOST_UNREAD at the most: one query."""
    return len(_first(person, MOST_UNREAD + 1))


def unread_among(person: int, entries: Collection[int]) -> frozenset[int]:
    """Those of the entries (ids) that this person has not read: one query."""
    if not entries:
        return frozenset()
    among = f"{UNREAD} AND entry.id IN ({', '.join(['%s'] * len(entries))})"
    return frozenset(entry for (entry,) in raw_sql.rows(among, person, person, person, *entries))


@transaction.atomic
def mark_entry(person: int, entry: int) -> None:
    """Mark one entry as read by this person, with its contents."""
    if raw_sql.change(READ, person, timezone.now(), person, person, person, entry) and not _first(person, 1):
        mark_all(person)


@transaction.atomic
def mark_all(person: int) -> None:
    """Mark all entries as read by this person."""
    newest = HistoryEntry.objects.aggregate(newest=Max("pk"))["newest"] or 0
    mark = ReadMark(person_id=person, entry=newest, at=timezone.now())
    ReadMark.objects.bulk_create([mark], update_conflicts=True, unique_fields=["person"], update_fields=["entry", "at"])
    ReadEntry.objects.filter(person_id=person).delete()


def _first(person: int, most: int) -> list[int]:
    return [entry for (entry,) in raw_sql.rows(FIRST, person, person, person, most)]
