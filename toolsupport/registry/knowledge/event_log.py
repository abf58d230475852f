"""Writes the timeline of the history: one line for each event, never changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from django.utils import timezone

from toolsupport.core.errors import NotFound
from toolsupport.models import HistoryEntry, HistoryFacet, ModelProfile

KINDS = ("override", "withdrawal", "proposal", "detection", "refusal", "review", "drift")


@dataclass(frozen=True, slots=True)
class HistoryEvent:
    """A line to write: `before` and `after` are the effective values for everyone, None is unknown.

    Fields that refer to rows hold ids.
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


def record(happening: HistoryEvent) -> int:
    """Write a line and return its id, in the same transaction as the event. Raises NotFound."""
    server = ModelProfile.objects.filter(pk=happening.profile).values_list("server_id", flat=True).first()
    if server is None:
        raise NotFound("There is no such model.")
    if happening.kind not in KINDS:
        raise ValueError(f"{happening.kind!r} is no kind of happening")
    row = HistoryEntry.objects.create(
        at=timezone.now(),
        facet_id=facet(happening.kind, happening.source, happening.verdict),
        server_id=server,
        profile_id=happening.profile,
        actor_id=happening.actor,
        override_id=happening.override,
        detection_id=happening.detection,
        review_id=happening.review,
        evidence=dict(happening.evidence),
        **{name: getattr(happening, name) for name in _PLAIN},
    )
    return row.pk


def facet(kind: str, source: str, verdict: str) -> int:
    """Return the number of this kind, source and verdict."""
    return HistoryFacet.objects.get_or_create(kind=kind, source=source, verdict=verdict)[0].pk


_PLAIN = ("kind", "capability", "before", "after", "source", "verdict", "text")
