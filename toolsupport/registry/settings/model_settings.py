"""Stores an administrator's request settings for a model, and ignores stored values that are no longer valid."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any

from django.db import transaction

from toolsupport.core import format_choice
from toolsupport.core.errors import NotFound
from toolsupport.core.prompt.turn_context import TURN_CONTEXTS
from toolsupport.models import ModelProfile
from toolsupport.registry.settings import context_sizes

THINK_LEVELS = ("low", "medium", "high", "max")
TOOL_CHOICES = ("auto", "required", "none")
KEEP_ALIVE = r"-?\d+(\.\d+)?(ms|s|m|h)?"
LONGEST_WAIT = 3600.0


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """The settings of a model; None and "" leave a value to the server, the team, or the model's facts.

    `num_ctx` in tokens, `first_token` (loading included) and `between` two tokens in seconds. `format` is the preferred
    call format, `disabled_formats` are never used. `learns` False: its refusals are not learned from. `translation`
    False: no tool replaces another. `grows` False: the context is never raised automatically.
    """

    num_ctx: int
    temperature: float | None = None
    keep_alive: str = ""
    think: bool | str | None = None
    tool_choice: str = ""
    parallel_tool_calls: bool | None = None
    turn_context: str = ""
    strong_nudge: bool | None = None
    first_token: float | None = None
    between: float | None = None
    format: str = ""
    disabled_formats: tuple[str, ...] = ()
    learns: bool | None = None
    translation: bool | None = None
    grows: bool | None = None


def _number(least: float, most: float) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, int | float) and not isinstance(value, bool) and least <= value <= most


def _switch(value: Any) -> bool:
    return isinstance(value, bool)


# Option → the check of its stored value; options of other modules stay untouched.
VALID: Mapping[str, Callable[[Any], bool]] = MappingProxyType(
    {
        "temperature": _number(0, 2),
        "keep_alive": lambda value: isinstance(value, str) and re.fullmatch(KEEP_ALIVE, value, re.ASCII) is not None,
        "think": lambda value: _switch(value) or value in THINK_LEVELS,
        "tool_choice": lambda value: value in TOOL_CHOICES,
        "parallel_tool_calls": _switch,
        "turn_context": lambda value: isinstance(value, str) and value in TURN_CONTEXTS,
        "strong_nudge": _switch,
        "learns": _switch,
        "translation": _switch,
        "grows": _switch,
        "format": lambda value: value in format_choice.names(),
        "disabled_formats": lambda value: isinstance(value, list) and all(isinstance(name, str) for name in value),
    }
)
WAITS = ("first_token", "between")
TIMES = ("connect", *WAITS, "total")


def of(profile: ModelProfile) -> ModelOptions:
    """Return the options of a model; an invalid stored value counts as not set."""
    stored = {name: value for name, value in profile.options.items() if name in VALID and VALID[name](value)}
    stored |= {name: tuple(value) for name, value in stored.items() if name == "disabled_formats"}
    stored |= {name: value for name, value in limits(profile).items() if name in WAITS}
    return ModelOptions(context_sizes.num_ctx(profile), **stored)


def learns(profile_id: int) -> bool:
    """Return whether refusals of this model may lead to a question. Raises NotFound."""
    profile = ModelProfile.objects.filter(pk=profile_id).first()
    if profile is None:
        raise NotFound("This model does not exist.")
    return of(profile).learns is not False


def limits(profile: ModelProfile) -> dict[str, float]:
    """Return the valid times of a model's `timeouts`, in seconds."""
    kept = profile.options.get("timeouts")
    named = kept if isinstance(kept, dict) else {}
    if not named:
        return {}
    fits = _number(0.001, LONGEST_WAIT)
    return {name: float(named[name]) for name in TIMES if fits(named.get(name))}


@transaction.atomic
def save(profile_id: int, chosen: ModelOptions) -> None:
    """Store the options of a model; other stored options stay. Raises NotFound."""
    profile = ModelProfile.objects.select_for_update().filter(pk=profile_id).first()
    if profile is None:
        raise NotFound("This model does not exist.")
    wanted = {name: value for name, value in asdict(chosen).items() if value not in (None, "", ())}
    waits = {name: wanted[name] for name in WAITS if name in wanted}
    others = {name: value for name, value in profile.options.items() if name not in (*VALID, "timeouts")}
    timeouts = {name: value for name, value in profile.options.get("timeouts", {}).items() if name not in WAITS} | waits
    profile.options = others | {name: wanted[name] for name in VALID if name in wanted}
    if timeouts:
        profile.options["timeouts"] = timeouts
    context_sizes.choose(profile, chosen.num_ctx)
    profile.save(update_fields=["options", *context_sizes.FIELDS])
