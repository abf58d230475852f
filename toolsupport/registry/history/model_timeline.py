"""Reads the evidence about one model in the order of time, each line with what it changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils.text import capfirst

from toolsupport.core import history_sentences
from toolsupport.core.history_sentences import EntryFacts
from toolsupport.core.override_ranking import OverrideRow
from toolsupport.models import HistoryEntry
from toolsupport.registry.knowledge import reviews
from toolsupport.registry.knowledge.effective_values import display_name
from toolsupport.registry.models import profiles

SHOWN = 3  # changes of one line that are not folded
MOST = 60  # entries; those of one test are one line
ICONS = {"refusal": "warning", "drift": "swap", "withdrawal": "again", "review": "flag"}


@dataclass(frozen=True, slots=True)
class ValueChange:
    """One value before and after; `before` is "" where a claim changed nothing."""

    title: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class EvidenceLine:
    """A line: `test` is the id of the test with the raw exchange, None without one; `entry` its page in the history."""

    entry: int
    at: datetime
    icon: str
    look: str
    words: str
    text: str
    changes: tuple[ValueChange, ...]
    test: int | None

    @property
    def further(self) -> int:
        """How many changes are folded."""
        return len(self.changes) - SHOWN


@dataclass(frozen=True, slots=True)
class ModelTimeline:
    """The lines, newest first; `more`: there are older ones. `flagged`: an objection has no answer yet."""

    lines: tuple[EvidenceLine, ...]
    more: bool
    flagged: bool


def of_model(profile: int, claims: Sequence[OverrideRow]) -> ModelTimeline:
    """Return the timeline of a model with these claims; one query."""
    rows = HistoryEntry.objects.filter(profile_id=profile).select_related("actor").order_by("-at", "-id")
    entries = list(rows[: MOST + 1])
    withdrawals = {claim.id: claim.withdraws for claim in claims if claim.withdraws}
    restored = {row for row, withdrawn in withdrawals.items() if withdrawn in withdrawals}
    groups: dict[object, list[HistoryEntry]] = {}
    for entry in entries[:MOST]:
        groups.setdefault(_group(entry), []).append(entry)
    lines = tuple(_line(together, restored) for together in groups.values())
    return ModelTimeline(lines, len(entries) > MOST, _flagged(entries))


def _group(entry: HistoryEntry) -> object:
    """Return what makes one line: a test with its findings, its undoing, and what a server claims at one moment."""
    if entry.detection_id and entry.kind in ("detection", "override", "withdrawal"):
        return entry.detection_id, entry.kind == "withdrawal"
    if entry.source == "declared":
        return entry.kind, entry.at.replace(second=0, microsecond=0)
    return entry.pk


def _line(together: Sequence[HistoryEntry], restored: set[int]) -> EvidenceLine:
    # The entry of a test includes its findings.
    lead = next((entry for entry in together if entry.kind == "detection"), together[0])
    facts = EntryFacts(
        kind=lead.kind,
        source=lead.source,
        actor=display_name(lead.actor),
        title=profiles.title(lead.capability) if lead.capability else "",
        value=_words(lead.capability, lead.after),
        verdict=lead.verdict,
        restored=lead.override_id in restored,
        test=lead.detection_id is not None,
    )
    look = history_sentences.evidence(lead.kind, lead.verdict)[0]
    changed = [entry for entry in together if _shown(entry)]
    # The sentence about a person's first value has all of it.
    told = together == [lead] and lead.kind == "override" and lead.actor_id is not None and lead.before is None
    return EvidenceLine(
        entry=lead.pk,
        at=together[0].at,
        icon=_icon(lead, look),
        look=look,
        words=history_sentences.about_entry(facts),
        text=lead.text,
        changes=() if told else tuple(_change(entry) for entry in reversed(changed)),
        test=lead.detection_id,
    )


def _icon(entry: HistoryEntry, look: str) -> str:
    if entry.kind == "detection":
        return f"ev-{look}"
    return ICONS.get(entry.kind, "server" if entry.source == "declared" else "person")


def _shown(entry: HistoryEntry) -> bool:
    """Return whether a line lists the value: each that changed, and each that a server claims."""
    claimed = (entry.kind, entry.source) == ("override", "declared") and entry.after is not None
    return entry.kind != "detection" and (claimed or entry.before != entry.after)


def _change(entry: HistoryEntry) -> ValueChange:
    before, after = (_words(entry.capability, value) for value in (entry.before, entry.after))
    return ValueChange(profiles.title(entry.capability), "" if before == after else before, after)


def _words(capability: str, value: object) -> str:
    return capfirst(profiles.state_and_words(capability, value)[1])


def _flagged(entries: Sequence[HistoryEntry]) -> bool:
    """Return whether the newest objection has no answer: neither a decision of a person nor an agreement."""
    for entry in entries:
        if entry.verdict in reviews.FLAGS:
            return True
        if reviews.decides(entry) or entry.verdict == reviews.AGREES:
            return False
    return False
