"""Reads the evidence about the tools of models, and their states."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import Count, Max, Q

from toolsupport.core.evidence_state import NO_TEST, EvidenceFacts, EvidenceTest, ModelEvidence, state_of
from toolsupport.core.types import Capabilities
from toolsupport.models import Detection, ModelProfile, Override, Trial
from toolsupport.models.detections import OPEN
from toolsupport.registry.knowledge import effective_values, stale_tests

# (passed, tried) of a test's trials in a text format.
FormatCounts = Mapping[tuple[int, str], tuple[int, int]]


@dataclass(frozen=True, slots=True)
class _Rows:
    """What was read for several models: overrides by their id, tests and progress by model id."""

    winners: Mapping[int, Override]
    newest: Mapping[int, Detection]
    counts: FormatCounts
    open: Mapping[int, Sequence[Mapping[str, Any]]]
    older: Collection[int]


def of_each(profiles: Sequence[ModelProfile], known: Mapping[int, Capabilities]) -> dict[int, ModelEvidence]:
    """Return the state of each model's tools, by model id: five queries for any number of models."""
    if not profiles:
        return {}
    winners = _winners(known.values())
    rows = _Rows(
        winners=winners,
        newest=_newest([row for row in profiles if known[row.pk]["tools"].source != "auto_detected"]),
        counts=_counts(row.detection_id for row in winners.values() if row.capability == "format"),
        open=_open([row.pk for row in profiles]),
        older=stale_tests.kinds(profiles),
    )
    return {row.pk: state_of(_facts(row, known[row.pk], rows)) for row in profiles}


def of_one(profile: ModelProfile, known: Capabilities) -> ModelEvidence:
    """Return the state of a model's tools."""
    return of_each([profile], {profile.pk: known})[profile.pk]


def _facts(profile: ModelProfile, known: Capabilities, rows: _Rows) -> EvidenceFacts:
    tools = rows.winners.get(known["tools"].override or 0)
    text_format = rows.winners.get(known["format"].override or 0)
    family = effective_values.family_of(profile) if known["tools"].source == "profile" else None
    measured = _test(tools.detection) if tools and tools.detection else NO_TEST
    newest = rows.newest.get(profile.pk)
    native = measured if measured.id else _test(newest) if newest else NO_TEST
    text = _test(text_format.detection) if text_format and text_format.detection else NO_TEST
    passed, tried = rows.counts.get((text.id, str(known["format"].value)), (0, 0))
    return EvidenceFacts(
        known=known,
        native=native,
        text=replace(text, passed=passed, tried=tried),
        actor=effective_values.display_name(tools.actor) if tools else "",
        family=family.name if family else "",
        steps=rows.open.get(profile.pk),
        flag=profile.missing_flag,
        older=profile.pk in rows.older,
    )


def _test(row: Detection) -> EvidenceTest:
    detail = row.detail
    return EvidenceTest(
        id=row.pk,
        verdict=row.verdict,
        native=str(detail.get("native") or ""),
        passed=int(detail.get("passed") or 0),
        tried=int(detail.get("tried") or 0),
        flag=str(detail.get("flag") or ""),
        why=str(detail.get("why") or detail.get("reason") or ""),
        at=row.finished_at.isoformat() if row.finished_at else "",
    )


def _winners(known: Iterable[Capabilities]) -> dict[int, Override]:
    """Return the overrides behind the values of native tools and of the text format, with their tests and people."""
    wanted = {one[name].override for one in known for name in ("tools", "format")} - {None}
    if not wanted:
        return {}
    return Override.objects.select_related("detection", "actor").in_bulk(wanted)


def _newest(profiles: Sequence[ModelProfile]) -> dict[int, Detection]:
    """Return the newest finished test of native tools of each model, if it is of its build and was not undone."""
    if not profiles:
        return {}
    over = Detection.objects.filter(profile__in=profiles, kind="tools", status="done")
    kept = over.exclude(pk__in=Override.objects.exclude(withdrawn_by=None).exclude(detection=None).values("detection"))
    last = kept.order_by().values("profile").annotate(last=Max("pk")).values("last")
    builds = {row.pk: row.build.key for row in profiles}
    rows = Detection.objects.filter(pk__in=last)
    return {row.profile_id: row for row in rows if row.build_key == builds[row.profile_id]}


def _counts(tests: Iterable[int | None]) -> FormatCounts:
    wanted = [test for test in tests if test]
    if not wanted:
        return {}
    rows = Trial.objects.filter(detection__in=wanted, step="formats").exclude(passed=None).order_by()
    counted = rows.values_list("detection", "response__subject").annotate(
        passed=Count("pk", filter=Q(passed=True)), tried=Count("pk")
    )
    return {(test, str(subject)): (passed, tried) for test, subject, passed, tried in counted}


def _open(profiles: Sequence[int]) -> dict[int, list[dict[str, Any]]]:
    """Return the steps of the open test of each of these models; none while it waits."""
    rows = Detection.objects.filter(profile__in=profiles, kind="tools", status__in=OPEN).order_by("pk")
    return dict(rows.values_list("profile", "progress"))
