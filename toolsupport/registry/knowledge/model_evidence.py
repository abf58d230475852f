"""Reads the evidence about the tools of models, and their states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Max, Q

from toolsupport.core.evidence_state import NO_TEST, EvidenceFacts, EvidenceTest, ModelEvidence, state_of
from toolsupport.core.types import Capabilities
from toolsupport.models import Detection, ModelProfile, Override
from toolsupport.models.detections import OPEN
from toolsupport.registry.knowledge import effective_values


@dataclass(frozen=True, slots=True)
class EvidenceTests:
    """The tests that decide the states of some models: by id, the newest finished one by model, and the open ones."""

    by_id: Mapping[int, Detection]
    newest: Mapping[int, Detection]
    open: Sequence[Detection]

    @property
    def last(self) -> Detection | None:
        """Return the newest of them."""
        return max(self.by_id.values(), key=lambda row: row.pk, default=None)

    def running(self, profile: int) -> Detection | None:
        """Return the open test of a model's native tools."""
        return next((row for row in self.open if (row.profile_id, row.kind) == (profile, "tools")), None)


def of_each(profiles: Sequence[ModelProfile], known: Mapping[int, Capabilities]) -> dict[int, ModelEvidence]:
    """Return the state of each model's tools, by model id: one query for any number of models."""
    if not profiles:
        return {}
    rows = tests_of(profiles, known)
    return {row.pk: of_tests(row, known[row.pk], rows) for row in profiles}


def of_one(profile: ModelProfile, known: Capabilities) -> ModelEvidence:
    """Return the state of a model's tools."""
    return of_each([profile], {profile.pk: known})[profile.pk]


def of_tests(profile: ModelProfile, known: Capabilities, rows: EvidenceTests) -> ModelEvidence:
    """Return the state of a model's tools from tests that were read for several."""
    return state_of(_facts(profile, known, rows))


def _facts(profile: ModelProfile, known: Capabilities, rows: EvidenceTests) -> EvidenceFacts:
    tools, text_format = (rows.by_id.get(known[name].test or 0) for name in ("tools", "format"))
    family = effective_values.family_of(profile) if known["tools"].source == "profile" else None
    newest, running = rows.newest.get(profile.pk), rows.running(profile.pk)
    current = newest if newest and newest.build_key == profile.build.key else None
    decisive = tools or current
    return EvidenceFacts(
        known=known,
        native=_test(decisive) if decisive else NO_TEST,
        text=_test(text_format) if text_format else NO_TEST,
        actor=known["tools"].actor,
        family=family.name if family else "",
        steps=running.progress if running else None,
        flag=profile.missing_flag,
        older=bool(known.older),
        chats=profile.chats,
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


def tests_of(
    profiles: Sequence[ModelProfile], known: Mapping[int, Capabilities], last: int | None = None
) -> EvidenceTests:
    """Return the tests behind native tools and text formats, the open ones, and the newest that was not undone.

    The `last` test of that model (id) is among them whatever its end.
    """
    mine = Detection.objects.filter(profile__in=profiles, kind="tools")
    undone = Override.objects.exclude(withdrawn_by=None).exclude(detection=None).values("detection")
    over = mine.filter(status="done").exclude(pk__in=undone).order_by()
    proved = over.values("profile").annotate(last=Max("pk")).values("last")
    wanted = {one[name].test for one in known.values() for name in ("tools", "format")} - {None}
    there = Q(profile__in=profiles, status__in=OPEN)
    asked = Detection.objects.filter(there | Q(pk__in=proved) | Q(pk__in=wanted) | _last(last))
    rows = list(asked.select_related("actor").order_by("pk"))
    done = [row for row in rows if row.kind == "tools" and row.status == "done"]
    return EvidenceTests(
        {row.pk: row for row in rows},
        {row.profile_id: row for row in done},
        [row for row in rows if row.status in OPEN],
    )


def _last(profile: int | None) -> Q:
    rows = Detection.objects.filter(profile=profile).order_by().values("profile")
    return Q(pk__in=rows.annotate(last=Max("pk")).values("last")) if profile else Q()
