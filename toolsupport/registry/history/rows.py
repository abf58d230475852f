"""Makes the rows of the history's page: one for each event, and one for entries that belong together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from django.utils.text import capfirst

from toolsupport.core import history_sentences
from toolsupport.core.history_sentences import BundleFacts, EventKey
from toolsupport.registry.history import entry_bundles
from toolsupport.registry.history.entry_bundles import BundleSummary
from toolsupport.registry.history.inbox import WaitingEntry
from toolsupport.registry.history.timeline import TimelineEntry
from toolsupport.registry.knowledge.reviews import AGREES, CONTRADICTED, DISAGREES

OPINIONS = {AGREES: "agrees", DISAGREES: "disagrees", CONTRADICTED: "refused although confirmed"}


@dataclass(frozen=True, slots=True)
class HistoryRow:
    """A row of the page. `waiting`: it waits for a reviewer, perhaps with an objection.

    `words` is the sentence of a bundle, "" for one entry; its entries are `rows`, or are fetched when it is opened if
    there are none. `size` counts them, `verdicts` are those of its tests.
    """

    entry: TimelineEntry
    waiting: WaitingEntry | None = None
    words: str = ""
    size: int = 0
    rows: tuple[HistoryRow, ...] = field(default=())
    findings: int = 0
    unread: bool = False
    verdicts: frozenset[str] = frozenset()

    @property
    def who(self) -> str:
        """Who caused it, in words."""
        return history_sentences.who(self.entry.kind, self.entry.claimed_by, self.entry.actor)

    @property
    def evidence(self) -> str:
        """The state of evidence that a test proved, "off" for anything else; "" for tests with different results."""
        return history_sentences.common_evidence(self.entry.kind, self.verdicts or {self.entry.verdict})

    @property
    def title(self) -> str:
        """The capability; a test is about tools, native or as text."""
        return "Tools" if self.entry.kind == "detection" else self.entry.title

    @property
    def before(self) -> str:
        """The value before, with a capital."""
        return capfirst(self.entry.before)

    @property
    def after(self) -> str:
        """The value since, or the evidence that a test proved."""
        return history_sentences.evidence(self.entry.kind, self.entry.verdict)[1] or capfirst(self.entry.after)

    @property
    def opinion(self) -> str:
        """Words for whether a review agrees with an entry, or a refusal contradicts it."""
        return OPINIONS.get(self.entry.verdict, "") if self.entry.kind in ("review", "refusal") else ""

    @property
    def label(self) -> str:
        """The row in one sentence, for readers."""
        change = f"{self.before} to {self.after}" if self.before != self.after else self.after
        return self.words or f"{self.entry.model}, {self.title}: {change}. {self.who}"


def review_rows(entries: Sequence[TimelineEntry], waiting: Mapping[int, WaitingEntry]) -> list[HistoryRow]:
    """The rows of what waits for a reviewer, in the order of the entries."""
    leads = {entry.lead for entry in entries}
    made = [HistoryRow(entry, waiting.get(entry.id)) for entry in entries]
    return [_joined(group) for group in history_sentences.bundled(made, lambda row: _key(row.entry, leads))]


def timeline_rows(entries: Sequence[TimelineEntry], unread: Collection[int], joined: bool) -> list[HistoryRow]:
    """The rows of a page of the timeline; `joined`: entries that belong together are one row."""
    inside = entry_bundles.summaries([entry.id for entry in entries])
    made = [_row(entry, inside.get(entry.id, BundleSummary()), entry.id in unread, joined) for entry in entries]
    if not joined:
        return made
    leads = {entry.id for entry in entries if inside.get(entry.id, BundleSummary()).changes}
    return [_joined(group) for group in history_sentences.bundled(made, lambda row: _key(row.entry, leads))]


def one_row(entry: TimelineEntry, waiting: WaitingEntry | None = None, alone: bool = False) -> HistoryRow:
    """The row of one entry; `alone`: as itself, although it leads a bundle."""
    inside = entry_bundles.summaries([entry.id]).get(entry.id, BundleSummary())
    row = _row(entry, inside, unread=False, joined=not alone)
    return replace(row, waiting=waiting)


def _row(entry: TimelineEntry, inside: BundleSummary, unread: bool, joined: bool) -> HistoryRow:
    if not inside.changes or not joined:
        return HistoryRow(entry, findings=inside.findings, unread=unread)
    facts = _facts(entry, inside.changes, inside.models, inside.verdicts)
    words, verdicts = history_sentences.about_bundle(facts), frozenset(inside.verdicts)
    return HistoryRow(
        entry, words=words, size=inside.changes, findings=inside.findings, unread=unread, verdicts=verdicts
    )


def _key(entry: TimelineEntry, leads: Collection[int | None]) -> EventKey:
    act = entry.lead or (entry.id if entry.id in leads else 0)
    return EventKey(entry.kind, entry.source, entry.actor, entry.at, act)


def _joined(group: list[HistoryRow]) -> HistoryRow:
    """One row for these; a row that is a bundle on its own stays."""
    first = group[0]
    if len(group) == 1:
        return first
    models, verdicts = {row.entry.profile for row in group}, Counter(row.entry.verdict for row in group)
    facts = _facts(first.entry, len(group), len(models), verdicts)
    unread = any(row.unread for row in group)
    words = history_sentences.about_bundle(facts)
    return HistoryRow(
        first.entry, first.waiting, words, len(group), tuple(group), unread=unread, verdicts=frozenset(verdicts)
    )


def _facts(first: TimelineEntry, changes: int, models: int, verdicts: Mapping[str, int]) -> BundleFacts:
    return BundleFacts(
        first.kind, first.claimed_by, first.actor, first.server, first.model, changes, models, verdicts=verdicts
    )
