"""Reads the timeline of the history, one page at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db.models import Max

from toolsupport.core.errors import NotFound
from toolsupport.core.override_sources import SOURCES
from toolsupport.models import HistoryEntry, Override
from toolsupport.registry.history import timeline_query
from toolsupport.registry.history.timeline_query import TimelineCursor, TimelineFilter
from toolsupport.registry.knowledge import stale_tests
from toolsupport.registry.knowledge.effective_values import display_name
from toolsupport.registry.models import profiles

PAGE = 30
BATCH = 1000

WORDS = {
    "override": "Override",
    "withdrawal": "Removed",
    "proposal": "Proposal",
    "detection": "Test",
    "refusal": "Refusal",
    "review": "Review",
    "drift": "New build",
    "setting": "Setting",
}
# Claims of programs are not decisions of a person.
WORDS_OF_SOURCE = {"declared": "Server claim", "auto_detected": "Measured"}
# A source that has no rank outside one conversation has no word in the table of sources.
OTHER_SOURCES = {"runtime_error": "refused in a chat"}
SOURCE_WORDS = {name: source.word for name, source in SOURCES.items()} | OTHER_SOURCES


@dataclass(frozen=True, slots=True)
class TimelineEntry:
    """One line. `state` is open, accepted or rejected for a proposal, withdrawn or "" for a claim.

    `may_revert` and `may_review` describe the possible actions, not who may do them. `older`: the line reports a
    changed model whose new build is not tested yet. `lead` is the entry that contains this one, None on its own.
    """

    id: int
    at: datetime
    kind: str
    words: str
    profile: int
    model: str
    server: str
    capability: str
    title: str
    before: str
    after: str
    source: str
    verdict: str
    actor: str
    text: str
    state: str
    may_revert: bool
    may_review: bool
    detection: int | None
    evidence: dict[str, Any]
    lead: int | None = None
    older: bool = False
    claimed_by: str = ""  # the source by its name, where `source` is its word


@dataclass(frozen=True, slots=True)
class TimelinePage:
    """Entries, newest first; `following` is where the next page begins, None at the end."""

    entries: tuple[TimelineEntry, ...]
    following: TimelineCursor | None


def page(wanted: TimelineFilter, after: TimelineCursor | None = None, most: int = PAGE) -> TimelinePage:
    """Return the newest entries, or those after a place. Two queries: the ids, then the rows."""
    ids = timeline_query.newest(wanted, after, most + 1)
    entries = entries_of(ids[:most])
    more = len(ids) > most
    return TimelinePage(entries, TimelineCursor(entries[-1].at, entries[-1].id) if more and entries else None)


def entry(entry_id: int) -> TimelineEntry:
    """Return one line. Raises NotFound."""
    found = entries_of([entry_id])
    if not found:
        raise NotFound("This entry does not exist.")
    return found[0]


def newest_entry() -> int:
    """Return the id of the newest entry, 0 without any."""
    return HistoryEntry.objects.aggregate(newest=Max("pk"))["newest"] or 0


def newer_than(entry: int, most: int = 100) -> int:
    """Count the entries after this one (id), at most `most`; entries inside others do not count."""
    return HistoryEntry.objects.filter(pk__gt=entry, lead=None).order_by("pk")[:most].count()


def batches(wanted: TimelineFilter) -> Iterator[tuple[TimelineEntry, ...]]:
    """Yield all matching entries, newest first, in batches of limited size.

    Entries inside other entries are included: a file has a row for each value.
    """
    wanted = replace(wanted, every=True)
    place: TimelineCursor | None = None
    while True:
        found = page(wanted, place, BATCH)
        if found.entries:
            yield found.entries
        if found.following is None:
            return
        place = found.following


def entries_of(ids: list[int]) -> tuple[TimelineEntry, ...]:
    """Return these lines (ids), newest first."""
    related = ("profile__server", "server", "actor", "override__withdrawn_by", "override__accepted_by")
    rows = HistoryEntry.objects.filter(pk__in=ids).select_related(*related).order_by("-at", "-id")
    stale = stale_tests.kinds([row.profile for row in rows if row.kind == "drift"])
    return tuple(_entry(row, row.profile_id in stale) for row in rows)


def _entry(row: HistoryEntry, stale: bool) -> TimelineEntry:
    state = _state(row.override, row.kind)
    return TimelineEntry(
        id=row.pk,
        at=row.at,
        kind=row.kind,
        words=WORDS_OF_SOURCE.get(row.source, WORDS[row.kind]) if row.kind == "override" else WORDS[row.kind],
        profile=row.profile_id,
        model=row.profile.name,
        server=row.server.name,
        capability=row.capability,
        title=profiles.title(row.capability) if row.capability else "",
        before=profiles.state_and_words(row.capability, row.before)[1],
        after=profiles.state_and_words(row.capability, row.after)[1],
        source=SOURCE_WORDS.get(row.source, row.source),
        verdict=row.verdict,
        actor=display_name(row.actor),
        text=row.text,
        state=state,
        may_revert=row.kind == "override" and row.override is not None and not state,
        may_review=row.kind in ("override", "detection") and bool(row.override_id or row.detection_id),
        detection=row.detection_id,
        evidence=row.evidence,
        lead=row.lead_id,
        older=stale and row.kind == "drift",
        claimed_by=row.source,
    )


def _state(claim: Override | None, kind: str) -> str:
    if claim is None or kind not in ("override", "proposal"):
        return ""
    withdrawn = hasattr(claim, "withdrawn_by")
    if kind == "override":
        return "withdrawn" if withdrawn else ""
    return "accepted" if hasattr(claim, "accepted_by") else "rejected" if withdrawn else "open"
