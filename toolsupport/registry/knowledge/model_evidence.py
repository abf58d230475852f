"""Reads the evidence about the tools of models, and their states."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Max, Q

from toolsupport.core.evidence_state import NO_TEST, EvidenceFacts, EvidenceTest, ModelEvidence, state_of
from toolsupport.core.types import Capabilities
from toolsupport.models import Detection, ModelProfile, Override
from toolsupport.models.detections import OPEN
from toolsupport.registry.knowledge import effective_values


@dataclass(frozen=True, slots=True)
class _Rows:
    """What was read for several models: overrides by their id, tests by model id and whether open."""

    winners: Mapping[int, Override]
    tests: Mapping[tuple[int, bool], Detection]


def of_each(profiles: Sequence[ModelProfile], known: Mapping[int, Capabilities]) -> dict[int, ModelEvidence]:
    """Return the state of each model's tools, by model id: two queries for any number of models."""
    if not profiles:
        return {}
    rows = _Rows(_winners(known.values()), _tests(profiles))
    return {row.pk: state_of(_facts(row, known[row.pk], rows)) for row in profiles}


def of_one(profile: ModelProfile, known: Capabilities) -> ModelEvidence:
    """Return the state of a model's tools."""
    return of_each([profile], {profile.pk: known})[profile.pk]


def _facts(profile: ModelProfile, known: Capabilities, rows: _Rows) -> EvidenceFacts:
    tools = rows.winners.get(known["tools"].override or 0)
    text_format = rows.winners.get(known["format"].override or 0)
    family = effective_values.family_of(profile) if known["tools"].source == "profile" else None
    measured = _test(tools.detection) if tools and tools.detection else NO_TEST
    newest, running = rows.tests.get((profile.pk, False)), rows.tests.get((profile.pk, True))
    current = newest if newest and newest.build_key == profile.build.key else None
    native = measured if measured.id else _test(current) if current else NO_TEST
    return EvidenceFacts(
        known=known,
        native=native,
        text=_test(text_format.detection) if text_format and text_format.detection else NO_TEST,
        actor=effective_values.display_name(tools.actor) if tools else "",
        family=family.name if family else "",
        steps=running.progress if running else None,
        flag=profile.missing_flag,
        older=bool(known.older),
    )


def _test(row: Detection) -> EvidenceTest:
    detail = row.detail
    # Tests of earlier versions counted the trials of native calls here.
    counted = row.verdict != "text" or row.kind == "formats" or "native" in detail
    return EvidenceTest(
        id=row.pk,
        verdict=row.verdict,
        native=str(detail.get("native") or ""),
        passed=int(detail.get("passed") or 0) if counted else 0,
        tried=int(detail.get("tried") or 0) if counted else 0,
        flag=str(detail.get("flag") or ""),
        why=str(detail.get("why") or detail.get("reason") or ""),
        at=row.finished_at.isoformat() if row.finished_at else "",
        took_ms=row.run_ms or 0,
        cut=list(detail.get("codes") or ()).count("connection_cut"),
        made=len(detail.get("codes") or ()),
    )


def _winners(known: Iterable[Capabilities]) -> dict[int, Override]:
    """Return the overrides behind the values of native tools and of the text format, with their tests and people."""
    wanted = {one[name].override for one in known for name in ("tools", "format")} - {None}
    if not wanted:
        return {}
    return Override.objects.select_related("detection", "actor").in_bulk(wanted)


def _tests(profiles: Sequence[ModelProfile]) -> dict[tuple[int, bool], Detection]:
    """Return the open test of native tools of each model, and the newest finished one that was not undone."""
    mine = Detection.objects.filter(profile__in=profiles, kind="tools")
    undone = Override.objects.exclude(withdrawn_by=None).exclude(detection=None).values("detection")
    over = mine.filter(status="done").exclude(pk__in=undone).order_by()
    last = over.values("profile").annotate(last=Max("pk")).values("last")
    rows = mine.filter(Q(status__in=OPEN) | Q(pk__in=last)).order_by("pk")
    return {(row.profile_id, row.status in OPEN): row for row in rows}
