"""Decides one capability of many models in steps, as one bundle of the history."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db import transaction
from django.db.models import Max

from toolsupport.core.errors import ConfigError
from toolsupport.core.name_order import by_name
from toolsupport.models import HistoryEntry, ModelProfile, Override
from toolsupport.registry.knowledge import effective_values, overrides
from toolsupport.registry.knowledge.event_log import HistoryBundle
from toolsupport.registry.knowledge.overrides import NewOverride
from toolsupport.registry.write_steps import STEP


@dataclass(frozen=True, slots=True)
class BulkDecision:
    """A value for one capability of these models (ids). `seen` is the newest override (id) at the preview."""

    profiles: Sequence[int]
    capability: str
    value: Any
    seen: int = 0
    actor: int | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class BulkChange:
    """One model that a bulk decision changes. `same`: the value stays, and a person's decision now backs it."""

    profile: int
    model: str
    server: str
    before: Any
    same: bool


@dataclass(frozen=True, slots=True)
class BulkStep:
    """The entry of the history that leads the bundle, and the models (ids) that are not decided yet."""

    entry: int | None
    rest: Sequence[int]


def newest() -> int:
    """Return the id of the newest override of all models, 0 without any."""
    return Override.objects.aggregate(newest=Max("pk"))["newest"] or 0


def preview(decision: BulkDecision) -> tuple[BulkChange, ...]:
    """Return the models that get a row: all except those a person has decided the same way for the current build."""
    there = ModelProfile.objects.select_related("server").filter(server__removed_at=None, pk__in=decision.profiles)
    rows = sorted(there, key=lambda row: (by_name(row.name, row.server.name), row.pk))
    known = effective_values.known_of_each(rows)
    changes: list[BulkChange] = []
    for row in rows:
        held = known[row.pk][decision.capability]
        # True == 1 in Python.
        same = (type(held.value), held.value) == (type(decision.value), decision.value)
        if not same or held.source != "user_confirmed" or held.stale:
            changes.append(BulkChange(row.pk, row.name, row.server.name, held.value, same))
    return tuple(changes)


def step(decision: BulkDecision, lead: int | None = None) -> BulkStep:
    """Decide for the first models of a preview, except those with a newer row; `lead` is the entry of the step before.

    A step that is repeated, because its result was lost, changes nothing. Raises ConfigError if none was decided.
    """
    rest = decision.profiles[STEP:]
    made = _write(replace(decision, profiles=decision.profiles[:STEP]), HistoryBundle(_own(decision, lead)))
    if made.lead is None and not rest:
        raise ConfigError("Nothing changes: these models already have this value.")
    return BulkStep(made.lead, rest)


def _own(decision: BulkDecision, lead: int | None) -> int | None:
    """Return the entry if this person's decision about this capability made it."""
    mine = HistoryEntry.objects.filter(kind="override", actor=decision.actor, capability=decision.capability)
    return lead if lead and mine.filter(pk=lead, lead=None, override__gt=decision.seen).exists() else None


@transaction.atomic
def _write(decision: BulkDecision, bundle: HistoryBundle) -> HistoryBundle:
    overrides.lock(decision.profiles)
    newer = Override.objects.filter(profile__in=decision.profiles, capability=decision.capability, session="")
    late = set(newer.filter(pk__gt=decision.seen).values_list("profile", flat=True))
    made = NewOverride(0, decision.capability, decision.value, actor=decision.actor, reason=decision.reason)
    chosen = [change.profile for change in preview(decision) if change.profile not in late]
    overrides.add_all([replace(made, profile=profile, bundle=bundle) for profile in chosen])
    return bundle
