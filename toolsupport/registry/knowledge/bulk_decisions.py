"""Decides one capability of many models at once, as one bundle of the history."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Max

from toolsupport.core.errors import ConfigError
from toolsupport.models import ModelProfile, Override
from toolsupport.registry.knowledge import effective_values, overrides
from toolsupport.registry.knowledge.event_log import HistoryBundle
from toolsupport.registry.knowledge.overrides import NewOverride

MOST = 500  # models in one act: each takes several queries in one transaction


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
class BulkResult:
    """The entry of the history that leads the bundle, and how many models were decided and left out."""

    entry: int
    decided: int
    left_out: int


def newest() -> int:
    """Return the id of the newest override of all models, 0 without any."""
    return Override.objects.aggregate(newest=Max("pk"))["newest"] or 0


def preview(decision: BulkDecision) -> tuple[BulkChange, ...]:
    """Return the models that get a row: all but those a person has decided the same way for the present build."""
    rows = list(ModelProfile.objects.select_related("server").filter(pk__in=decision.profiles).order_by("name", "pk"))
    known = effective_values.known_of_each(rows)
    changes: list[BulkChange] = []
    for row in rows:
        held = known[row.pk][decision.capability]
        # True == 1 in Python.
        same = (type(held.value), held.value) == (type(decision.value), decision.value)
        if not same or held.source != "user_confirmed" or held.stale:
            changes.append(BulkChange(row.pk, row.name, row.server.name, held.value, same))
    return tuple(changes)


@transaction.atomic
def apply(decision: BulkDecision) -> BulkResult:
    """Decide for each model of the preview, except those with a newer row. Raises ConfigError if none is left."""
    if len(decision.profiles) > MOST:
        raise ConfigError(f"Choose a filter with {MOST} models or fewer.")
    newer = Override.objects.filter(profile__in=decision.profiles, capability=decision.capability, session="")
    late = set(newer.filter(pk__gt=decision.seen).values_list("profile", flat=True))
    wanted = preview(decision)
    bundle, chosen = HistoryBundle(), [change.profile for change in wanted if change.profile not in late]
    for profile in chosen:
        made = NewOverride(profile, decision.capability, decision.value, actor=decision.actor, reason=decision.reason)
        overrides.add_to(bundle, made)
    if bundle.lead is None:
        raise ConfigError("Nothing changes: these models already have this value.")
    return BulkResult(bundle.lead, len(chosen), len(wanted) - len(chosen))
