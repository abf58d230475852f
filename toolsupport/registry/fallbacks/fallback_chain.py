"""Reads which fallback models can be used now, and why others cannot."""

from __future__ import annotations

from collections.abc import Collection

from toolsupport.core.model_fallbacks import FallbackStep
from toolsupport.models import ModelProfile
from toolsupport.registry.exams import exam_gate
from toolsupport.registry.fallbacks import fallback_settings


def of(profile_id: int, tried: Collection[int] = (), down: Collection[int] = ()) -> tuple[FallbackStep, ...]:
    """Return the chain of a model; `tried` are models that failed, `down` the servers that did not answer."""
    profile = ModelProfile.objects.filter(pk=profile_id).first()
    return of_model(profile, tried, down) if profile is not None else ()


def of_model(
    profile: ModelProfile, tried: Collection[int] = (), down: Collection[int] = ()
) -> tuple[FallbackStep, ...]:
    """Do the same for a model that is read already."""
    wanted = fallback_settings.of(profile.options).models
    if not wanted:
        return ()
    strict = fallback_settings.only_validated(profile.options)
    found = ModelProfile.objects.select_related("server").in_bulk(wanted)
    steps = []
    for pk in wanted:
        row = found.get(pk)
        if row is not None:
            why = _why_not(row, {profile.pk, *tried}, down) or exam_gate.why_not(row, strict)
            steps.append(FallbackStep(pk, f"{row.server.name}/{row.name}", row.server_id, why))
    return tuple(steps)


def _why_not(row: ModelProfile, tried: Collection[int], down: Collection[int]) -> str:
    """Return why this model cannot be asked now, as a key of model_fallbacks.SKIPPED."""
    gone = row.gone_since is not None or row.server.removed_at is not None
    reasons = {
        "tried": row.pk in tried,
        "missing": gone or not (row.enabled and row.server.enabled),
        "no_chat": not row.chats,
        "same_server": row.server_id in down,
        "unreachable": row.server.reachable is False,
    }
    return next((code for code, applies in reasons.items() if applies), "")
