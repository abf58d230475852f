"""Deletes rows that are older than the settings allow, a few at a time, and writes the counts into the audit."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from channels.db import database_sync_to_async as in_database
from django.conf import settings
from django.utils import timezone

from chat.transcript.conversations import old_chats
from chat.transcript.settings import turn_settings
from toolsupport.registry import storage
from toolsupport.registry.people import audit_log
from toolsupport.registry.testing import old_evidence
from toolsupport.services.background_jobs import BackgroundJob

BATCH = 200  # rows of one transaction
PAUSE = 0.05  # seconds between two transactions, in which others can write
SECONDS = 45.0  # seconds of one run of the job, which ends before its lease; the next run continues
MINUTES = 30


@dataclass(frozen=True, slots=True)
class PrunedKind:
    """A kind of rows: the word for them, how many are older than a time, and the deletion of some of these."""

    words: str
    count: Callable[[datetime], int]
    prune: Callable[[datetime, int], int]


# By the name in the setting TOOLSUPPORT_KEEP_…_DAYS.
KINDS: Mapping[str, PrunedKind] = {
    "CHATS": PrunedKind("chats", lambda before: old_chats.old_chats(before).count(), old_chats.prune_chats),
    "EXCHANGES": PrunedKind(
        "raw exchanges", lambda before: old_chats.old_exchanges(before).count(), old_chats.prune_exchanges
    ),
    "EVIDENCE": PrunedKind("requests of tests", old_evidence.count, old_evidence.prune),
    "AUDIT": PrunedKind("audited actions", lambda before: audit_log.old(before).count(), audit_log.prune),
}


def counts() -> dict[str, int]:
    """Return how many rows of each kind with a setting `prune` would delete."""
    return {KINDS[name].words: KINDS[name].count(before) for name, before in _limits().items()}


def overdue() -> dict[str, int]:
    """Return how many rows of each kind are a day overdue: the job does not run, or is too slow."""
    found = {KINDS[name].words: KINDS[name].count(before - timedelta(days=1)) for name, before in _limits().items()}
    return {words: count for words, count in found.items() if count}


async def prune(seconds: float = SECONDS) -> dict[str, int]:
    """Delete what is too old, within this time; return the counts, which the audit lists if they are not all 0."""
    ends, found = time.monotonic() + seconds, {}
    await in_database(turn_settings.remove_discarded)()
    for name, before in _limits().items():
        kind = KINDS[name]
        found[kind.words] = await _prune(kind, before, ends)
    if any(found.values()):
        await in_database(audit_log.write)(None, "prune_rows", "retention", in_words(found))
    return found


def in_words(found: Mapping[str, int]) -> str:
    """Return the counts as one line."""
    return ", ".join(f"{number} {words}" for words, number in found.items())


async def _prune(kind: PrunedKind, before: datetime, ends: float) -> int:
    count = 0
    while time.monotonic() < ends:
        deleted = await in_database(_batch)(kind, before)
        if not deleted:
            break
        count += deleted
        await asyncio.sleep(PAUSE)
    return count


def _batch(kind: PrunedKind, before: datetime) -> int:
    storage.overwrite_deleted()
    return kind.prune(before, BATCH)


def _limits() -> dict[str, datetime]:
    """Return the time before which rows of each kind with a setting are deleted."""
    days = {name: settings.ENV[f"TOOLSUPPORT_KEEP_{name}_DAYS"] for name in KINDS}
    return {name: timezone.now() - timedelta(days=kept) for name, kept in days.items() if kept}


JOB = BackgroundJob("retention", prune, at_start=True, minutes=MINUTES)
