"""Stores which exam each build of a model must pass, and the builds that a person has exempted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db import transaction

from toolsupport.core.errors import ConfigError, NotFound
from toolsupport.models import ModelProfile
from toolsupport.registry.exams import exam_gate
from toolsupport.registry.exams.exam_gate import REQUIRED, WAIVED
from toolsupport.registry.knowledge import event_log
from toolsupport.registry.knowledge.event_log import HistoryEvent

NO_GATE = "This model is not waiting for an exam."


@dataclass(frozen=True, slots=True)
class GateChange:
    """A person's (an id) change of the required exam of a model, with its reason. `suite` "": none is required."""

    profile: int
    actor: int
    reason: str
    suite: str = ""


@transaction.atomic
def require(change: GateChange) -> None:
    """Require this exam of each build, and queue it for the present one. Raises NotFound, ConfigError."""
    profile = _held(change.profile)
    if change.suite:
        exam_gate.suite_named(change.suite)
    before = str(profile.options.get(REQUIRED) or "")
    if before == change.suite:
        return
    _store(profile, {REQUIRED: change.suite, WAIVED: ""})
    _record(change, REQUIRED, before or None, change.suite or None)
    exam_gate.open_required(profile.server_id)


@transaction.atomic
def waive(change: GateChange) -> None:
    """Exempt the current build from its exam. Raises NotFound, ConfigError."""
    profile = _held(change.profile)
    found = exam_gate.gate(profile)
    if not found.open:
        raise ConfigError(NO_GATE)
    _store(profile, {WAIVED: profile.build.key})
    _record(change, WAIVED, None, f"build {profile.build.key[:12]}, exam {found.suite}")


def _held(profile_id: int) -> ModelProfile:
    rows = ModelProfile.objects.select_for_update(of=("self",)).select_related("server")
    profile = rows.filter(pk=profile_id).first()
    if profile is None:
        raise NotFound("This model does not exist.")
    return profile


def _store(profile: ModelProfile, values: dict[str, str]) -> None:
    options = profile.options | values
    profile.options = {name: value for name, value in options.items() if name not in values or value}
    profile.save(update_fields=["options"])


def _record(change: GateChange, name: str, before: Any, after: Any) -> None:
    event_log.record(
        HistoryEvent(
            "setting", change.profile, name, before, after, "user_confirmed", actor=change.actor, text=change.reason
        )
    )
