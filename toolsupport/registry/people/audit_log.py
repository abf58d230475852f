"""Audited actions of people, written as a chain: a changed or removed row breaks it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from toolsupport.models import Audit, Setting

# Action → its words after a name.
DEEDS = {
    "read_conversation": "read a chat of another person",
    "check_memory": "marked the memory of a chat as checked",
    "approve_tool": "approved a tool of another program",
    "trust_server": "set whether data sent to another program stays internal",
    "add_server": "added a model server",
    "edit_server": "changed a model server",
    "remove_server": "removed a model server",
    "pull_model": "pulled a model",
    "delete_model": "deleted a model from its server",
    "unload_model": "unloaded a model",
    "make_backup": "made a backup of the site",
    "download_backup": "downloaded a backup of the site",
    "delete_backup": "deleted a backup of the site",
    "prune_rows": "deleted rows that are older than the settings allow",
    "delete_person": "deleted the data of a person",
    "switch_tool": "switched tools on or off that run code or reach outside",
    "add_second_factor": "added a second factor to their account",
    "remove_second_factor": "removed a second factor",
    "renew_recovery_codes": "got new recovery codes for their account",
    "require_second_factor": "changed whose sign-in needs a second factor",
    "use_recovery_code": "used a recovery code in place of the second factor",
}
REASON_LENGTH = 500
SUBJECT_LENGTH = 80
MOST = 50
BATCH = 500  # rows of one query of an export
BEFORE_THE_FIRST = "0" * 64
BEGINS = "audit_begins"  # the setting with the digest of the newest row that was pruned
THE_SITE = "The site"  # the actor of jobs and commands


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """An action as people see it."""

    at: datetime
    actor: str
    reason: str


def write(actor: int | None, deed: str, subject: str, reason: str) -> None:
    """Append an action (a key of DEEDS). Raises KeyError for an unknown one, ValueError without a reason."""
    write_all(actor, deed, [(subject, reason)])


@transaction.atomic
def write_all(actor: int | None, deed: str, about: Sequence[tuple[str, str]]) -> None:
    """Append one action for each (subject, reason), in three queries. Raises as `write` does."""
    assert DEEDS[deed]
    checked = [(subject[:SUBJECT_LENGTH], _checked(reason)) for subject, reason in about]
    last = _locked()
    previous = last.digest if last else BEFORE_THE_FIRST
    rows = []
    for subject, reason in checked:
        row = Audit(at=timezone.now(), actor_id=actor, deed=deed, subject=subject, reason=reason, previous=previous)
        previous = row.digest = digest(row)
        rows.append(row)
    Audit.objects.bulk_create(rows, batch_size=100)


def _locked() -> Audit | None:
    """Lock the first row, which is never changed, so that no two rows follow the same row; return the last one.

    If it was pruned while this waited, the next one is the first. Only an empty log has nothing to lock.
    """
    while True:
        locked = list(Audit.objects.select_for_update().order_by("id")[:1])
        last = Audit.objects.order_by("id").last()
        if locked or last is None:
            return last


def old(before: datetime) -> QuerySet[Audit]:
    """Return the actions before this time; the newest of all is never among them, because the chain continues there."""
    newest_id = Audit.objects.order_by("-id").values_list("pk", flat=True).first() or 0
    young = Audit.objects.filter(at__gte=before).order_by("id").values_list("pk", flat=True).first()
    return Audit.objects.filter(pk__lt=min(newest_id, young or newest_id))


@transaction.atomic
def prune(before: datetime, most: int) -> int:
    """Delete the oldest actions, at most so many; return how many. The chain begins after them from then on."""
    _locked()
    oldest = list(old(before).order_by("id").values_list("pk", "digest")[:most])
    if oldest:
        Setting.objects.update_or_create(key=BEGINS, defaults={"value": oldest[-1][1]})
        Audit.objects.filter(pk__lte=oldest[-1][0]).delete()
    return len(oldest)


def _checked(reason: str) -> str:
    reason = " ".join(reason.split())
    if not 0 < len(reason) <= REASON_LENGTH:
        raise ValueError(f"Give a reason, in up to {REASON_LENGTH} characters.")
    return reason


def digest(row: Audit) -> str:
    """Compute the digest of a row."""
    at = row.at.astimezone(UTC).isoformat()
    fields = [row.previous, at, row.actor_id, row.deed, row.subject, row.reason]
    return hashlib.sha256(json.dumps(fields).encode()).hexdigest()


def broken_at() -> int | None:
    """Return the id of the first row that was changed, or follows a removed one; None if the chain is intact."""
    return _broken(row for batch in _batches(Audit.objects.order_by("id")) for row in batch)


def _broken(rows: Iterable[Audit]) -> int | None:
    pruned = Setting.objects.filter(key=BEGINS).values_list("value", flat=True).first()
    previous = str(pruned or BEFORE_THE_FIRST)
    for row in rows:
        if row.previous != previous or row.digest != digest(row):
            return row.pk
        previous = row.digest
    return None


def lines(after: int = 0) -> Iterator[str]:
    """Yield the actions after this row as JSON lines, the oldest first, with the digests that make up the chain."""
    rows = Audit.objects.filter(pk__gt=after).select_related("actor").order_by("id")
    for batch in _batches(rows):
        yield "".join(f"{json.dumps(_plain(row))}\n" for row in batch)


def _batches(rows: QuerySet[Audit]) -> Iterator[list[Audit]]:
    """Yield rows that are ordered by their id, some at a time."""
    while batch := list(rows[:BATCH]):
        yield batch
        rows = rows.filter(pk__gt=batch[-1].pk)


def _plain(row: Audit) -> dict[str, object]:
    return {
        "id": row.pk,
        "at": row.at.astimezone(UTC).isoformat(),
        "actor": _name(row),
        "actor_id": row.actor_id,
        "deed": row.deed,
        "subject": row.subject,
        "reason": row.reason,
        "previous": row.previous,
        "digest": row.digest,
    }


def _name(row: Audit) -> str:
    return row.actor.get_username() if row.actor else THE_SITE


def of(subject: str) -> tuple[AuditEntry, ...]:
    """Return all actions on that subject, the newest first."""
    rows = Audit.objects.filter(subject=subject).select_related("actor").order_by("-id")[:MOST]
    return tuple(AuditEntry(row.at, _name(row), row.reason) for row in rows)


@dataclass(frozen=True, slots=True)
class AuditedAction:
    """An action in the list of all."""

    id: int
    at: datetime
    sentence: str
    reason: str


def newest(before: int | None = None) -> tuple[AuditedAction, ...]:
    """Return a page of actions, the newest first; `before` is the id of the last one of the page before."""
    rows = Audit.objects.select_related("actor").order_by("-id")
    found = (rows.filter(pk__lt=before) if before else rows)[:MOST]
    return tuple(AuditedAction(row.pk, row.at, f"{_name(row)} {DEEDS[row.deed]}.", row.reason) for row in found)


def about(deed: str, subject: str) -> tuple[AuditEntry, ...]:
    """Return the persons and reasons of this action on that object, newest first."""
    rows = Audit.objects.filter(deed=deed, subject=subject).select_related("actor").order_by("-id")
    return tuple(AuditEntry(row.at, _name(row), row.reason) for row in rows)
