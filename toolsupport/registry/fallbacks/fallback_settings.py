"""Stores which models answer in place of a model that fails."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db import transaction

from toolsupport.core import model_fallbacks
from toolsupport.core.errors import ConfigError, NotFound
from toolsupport.models import ModelProfile
from toolsupport.registry.knowledge import event_log
from toolsupport.registry.knowledge.event_log import HistoryBundle, HistoryEvent
from toolsupport.registry.settings import team_settings

MODELS, ONLY_VALIDATED = "fallback_models", "only_validated_fallbacks"
ITSELF = "A model cannot be its own fallback."
TOO_MANY = f"Choose at most {model_fallbacks.MOST} fallback models."
TWICE = "Choose each fallback model once."
UNKNOWN = "A fallback model does not exist, or does not chat."


@dataclass(frozen=True, slots=True)
class FallbackSettings:
    """The fallback models of a model, by id and in order. `only_validated` None: as the team decided."""

    models: tuple[int, ...] = ()
    only_validated: bool | None = None


@dataclass(frozen=True, slots=True)
class FallbackChange:
    """A person's (an id) settings for a model, with the reason."""

    profile: int
    wanted: FallbackSettings
    actor: int
    reason: str = ""


def of(options: Mapping[str, Any]) -> FallbackSettings:
    """Return the stored settings from the options of a model; invalid ones count as not set."""
    listed, only = options.get(MODELS), options.get(ONLY_VALIDATED)
    known = [one for one in listed if type(one) is int] if isinstance(listed, list) else []
    return FallbackSettings(tuple(known[: model_fallbacks.MOST]), only if isinstance(only, bool) else None)


def only_validated(options: Mapping[str, Any]) -> bool:
    """Return whether only models that passed an exam may take over, by the model's setting or the team's."""
    chosen = of(options).only_validated
    return bool(team_settings.get(ONLY_VALIDATED)) if chosen is None else chosen


@transaction.atomic
def save(change: FallbackChange) -> None:
    """Store the settings, with a line of the history for each that changed. Raises NotFound, ConfigError."""
    profile = ModelProfile.objects.select_for_update().filter(pk=change.profile).first()
    if profile is None:
        raise NotFound("This model does not exist.")
    _check(profile.pk, change.wanted.models)
    before, wanted, bundle = of(profile.options), change.wanted, HistoryBundle()
    others = {name: value for name, value in profile.options.items() if name not in (MODELS, ONLY_VALIDATED)}
    chosen: dict[str, Any] = {MODELS: list(wanted.models), ONLY_VALIDATED: wanted.only_validated}
    profile.options = others | {name: value for name, value in chosen.items() if value not in (None, [])}
    profile.save(update_fields=["options"])
    values = {
        MODELS: (names(before.models), names(wanted.models)),
        ONLY_VALIDATED: (before.only_validated, wanted.only_validated),
    }
    line = HistoryEvent(
        "setting", profile.pk, source="user_confirmed", actor=change.actor, text=change.reason, bundle=bundle
    )
    for name, (old, new) in values.items():
        if old != new:
            event_log.record(replace(line, capability=name, before=old, after=new))


def names(models: Sequence[int]) -> list[str] | None:
    """Return the models as `server/name`, in their order; None for none."""
    found = ModelProfile.objects.select_related("server").in_bulk(models)
    return [f"{found[pk].server.name}/{found[pk].name}" for pk in models if pk in found] or None


def _check(profile: int, models: Sequence[int]) -> None:
    if profile in models:
        raise ConfigError(ITSELF)
    if len(models) > model_fallbacks.MOST:
        raise ConfigError(TOO_MANY)
    if len(set(models)) < len(models):
        raise ConfigError(TWICE)
    found = ModelProfile.objects.filter(pk__in=models)
    if sum(row.chats for row in found) < len(models):
        raise ConfigError(UNKNOWN)
