"""Reads the contents of an entry of the history: the findings of a test, or the other changes of one act."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field

from django.db.models import Count, F, Q

from toolsupport.models import HistoryEntry, HistoryFacet

SHOWN = 200


@dataclass(slots=True)
class BundleSummary:
    """The size of one entry's contents.

    `findings` are values that its test has measured. `changes` and `models` count the whole bundle, its first entry
    included; both are 0 for an entry that leads none. `verdicts` are those of the tests of a bundle.
    """

    findings: int = 0
    changes: int = 0
    models: int = 0
    verdicts: Counter[str] = field(default_factory=Counter)


def summaries(entries: Collection[int]) -> dict[int, BundleSummary]:
    """Return the contents of these entries (ids); empty ones are left out. Two queries at most."""
    elsewhere = Count("profile", distinct=True, filter=~Q(profile=F("lead__profile")))
    rows = HistoryEntry.objects.filter(lead__in=entries).order_by()
    found: dict[int, BundleSummary] = defaultdict(BundleSummary)
    groups = rows.values_list("lead", "facet__depth", "verdict").annotate(count=Count("pk"), models=elsewhere)
    for lead, depth, verdict, count, models in groups:
        summary = found[lead]
        if depth == HistoryFacet.FINDING:
            summary.findings += count
        else:
            summary.changes += count
            summary.models = max(summary.models, models)
            summary.verdicts[verdict] += count
    _count_leads(found)
    return dict(found)


def _count_leads(found: dict[int, BundleSummary]) -> None:
    """Add to each bundle its first entry; a bundle of tests has as many models as tests."""
    leads = [lead for lead, summary in found.items() if summary.changes]
    for lead, kind, verdict in HistoryEntry.objects.filter(pk__in=leads).values_list("pk", "kind", "verdict"):
        summary = found[lead]
        summary.changes += 1
        summary.verdicts[verdict] += 1
        summary.models = summary.changes if kind == "detection" else summary.models + 1


def members(entry: int) -> list[int]:
    """The entries (ids) of a bundle, its first one included; at most SHOWN."""
    return [entry, *_inside(entry, HistoryFacet.MEMBER)[: SHOWN - 1]]


def findings(entry: int) -> list[int]:
    """The entries (ids) of the values that a test has measured; at most SHOWN."""
    return _inside(entry, HistoryFacet.FINDING)[:SHOWN]


def _inside(entry: int, depth: int) -> list[int]:
    rows = HistoryEntry.objects.filter(lead_id=entry, facet__depth=depth).order_by("pk")
    return list(rows.values_list("pk", flat=True)[:SHOWN])
