"""Which entries of the history a person has read."""

from __future__ import annotations

from collections.abc import Collection

from django.db import transaction
from django.db.models import BigIntegerField, Exists, Max, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from toolsupport.models import HistoryEntry, ReadEntry, ReadMark

# Older entries count as read, so that finding an unread one is always quick.
WINDOW = 10_000


def unread_among(person: int, entries: Collection[int]) -> frozenset[int]:
    """Return those of the entries (ids) that this person has not read: one query."""
    return frozenset(_unread(person).filter(pk__in=entries).values_list("pk", flat=True)) if entries else frozenset()


@transaction.atomic
def mark_entry(person: int, entry: int) -> None:
    """Mark one entry as read by this person, with its contents."""
    if not unread_among(person, [entry]):
        return
    ReadEntry.objects.bulk_create([ReadEntry(person_id=person, entry_id=entry)], ignore_conflicts=True)
    if not _unread(person).exists():
        mark_all(person)


@transaction.atomic
def mark_all(person: int) -> None:
    """Mark all entries as read by this person."""
    newest = HistoryEntry.objects.aggregate(newest=Max("pk"))["newest"] or 0
    mark = ReadMark(person_id=person, entry=newest, at=timezone.now())
    ReadMark.objects.bulk_create([mark], update_conflicts=True, unique_fields=["person"], update_fields=["entry", "at"])
    ReadEntry.objects.filter(person_id=person).delete()


def _unread(person: int) -> QuerySet[HistoryEntry]:
    """Claims of servers need not be read, and entries inside another entry are read with it."""
    read_up_to = Coalesce(Subquery(ReadMark.objects.filter(person=person).values("entry")), 0)
    newest = Subquery(HistoryEntry.objects.order_by("-pk").values("pk")[:1], output_field=BigIntegerField())
    opened = ReadEntry.objects.filter(person=person, entry=OuterRef("pk"))
    rows = HistoryEntry.objects.filter(~Exists(opened), pk__gt=read_up_to, lead=None).filter(pk__gt=newest - WINDOW)
    return rows.exclude(source="declared").exclude(actor=person)
