"""Writes the timeline of the history: one line for each event, never changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import Any

from django.utils import timezone

from toolsupport.core.errors import NotFound
from toolsupport.models import Detection, HistoryEntry, HistoryFacet, ModelProfile

KINDS = ("override", "withdrawal", "proposal", "detection", "refusal", "review", "drift", "setting")


@dataclass(slots=True)
class HistoryBundle:
    """The entries of one act on several values or models: the first one written leads, the others stand inside it."""

    lead: int | None = None


@dataclass(frozen=True, slots=True)
class HistoryEvent:
    """A line to write: `before` and `after` are the effective values for everyone, None is unknown.

    Fields that refer to rows hold ids; the `server` is read if it is not given. `finding`: a test has measured this
    value; `lead_findings` puts it inside the entry of that test.
    """

    kind: str
    profile: int
    capability: str = ""
    before: Any = None
    after: Any = None
    source: str = ""
    verdict: str = ""
    actor: int | None = None
    text: str = ""
    evidence: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    override: int | None = None
    detection: int | None = None
    review: int | None = None
    bundle: HistoryBundle | None = None
    finding: bool = False
    server: int | None = None


def record(happening: HistoryEvent) -> int:
    """Write a line and return its id, in the same transaction as the event. Raises NotFound."""
    [row] = _write([happening])
    if happening.bundle is not None:
        happening.bundle.lead = happening.bundle.lead or row
    return row


def record_all(happenings: Sequence[HistoryEvent]) -> list[int]:
    """Write several lines in a few queries; return their ids. The first line leads its bundle. Raises NotFound."""
    if happenings and (bundle := happenings[0].bundle) is not None and bundle.lead is None:
        return [record(happenings[0]), *_write(happenings[1:])]
    return _write(happenings)


def _write(happenings: Sequence[HistoryEvent]) -> list[int]:
    now, facets = timezone.now(), cache(facet)
    unread = {one.profile for one in happenings if one.server is None}
    servers = dict(ModelProfile.objects.filter(pk__in=unread).values_list("pk", "server")) if unread else {}
    rows = [_row(one, one.server or servers.get(one.profile), facets) for one in happenings]
    for row in rows:
        row.at = now
    return [row.pk for row in HistoryEntry.objects.bulk_create(rows, batch_size=200)]


def _row(happening: HistoryEvent, server: int | None, facets: Callable[..., int]) -> HistoryEntry:
    if server is None:
        raise NotFound("This model does not exist.")
    if happening.kind not in KINDS:
        raise ValueError(f"{happening.kind!r} is no kind of happening")
    bundle = happening.bundle or HistoryBundle()
    return HistoryEntry(
        facet_id=facets(happening.kind, happening.source, happening.verdict, _depth(happening, bundle)),
        lead_id=bundle.lead,
        server_id=server,
        profile_id=happening.profile,
        actor_id=happening.actor,
        override_id=happening.override,
        detection_id=happening.detection,
        review_id=happening.review,
        evidence=dict(happening.evidence),
        **{name: getattr(happening, name) for name in _PLAIN},
    )


def lead_findings(detection: int, entry: int) -> None:
    """Put the values that a test has measured inside the entry of that test."""
    findings = HistoryEntry.objects.filter(detection_id=detection, facet__depth=HistoryFacet.FINDING, lead=None)
    findings.update(lead_id=entry)


def bundle_of_tests(bulk: int | None) -> HistoryBundle | None:
    """Return the bundle of the tests that were started together, by the first of them; None for a single test."""
    if bulk is None:
        return None
    # Two of these tests may end at the same moment: one of them leads.
    Detection.objects.select_for_update().get(pk=bulk)
    tests = HistoryEntry.objects.filter(kind="detection", detection__bulk_id=bulk, lead=None)
    return HistoryBundle(tests.order_by("pk").values_list("pk", flat=True).first())


def facet(kind: str, source: str, verdict: str, depth: int = HistoryFacet.TOP) -> int:
    """Return the number of this kind, source, verdict and depth."""
    return HistoryFacet.objects.get_or_create(kind=kind, source=source, verdict=verdict, depth=depth)[0].pk


def _depth(happening: HistoryEvent, bundle: HistoryBundle) -> int:
    if happening.finding:
        return HistoryFacet.FINDING
    return HistoryFacet.TOP if bundle.lead is None else HistoryFacet.MEMBER


_PLAIN = ("kind", "capability", "before", "after", "source", "verdict", "text")
