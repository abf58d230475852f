"""Explains to people where the system prompt and the temperature of a request come from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolsupport.core.prompt.sampling import TEMPERATURE_WITH_TOOLS
from toolsupport.core.prompt.turn_context import context_of
from toolsupport.core.types import ChatSettings, RequestSpec
from toolsupport.models import ModelProfile
from toolsupport.registry.settings import model_settings, team_settings

CHAT, MODEL, TEAM = "the settings of this chat", "the options of this model", "the team's defaults"
SHIPPED, MODELFILE = "the default", "the Modelfile of this model"


def base_prompt(profile: ModelProfile, team: Mapping[str, Any]) -> str:
    """Return the system prompt of a chat without its own: the team's, else the Modelfile's, else the default."""
    prompt = str(team["base_system_prompt"])
    shipped = prompt == team_settings.KNOWN["base_system_prompt"].default
    return modelfile_prompt(profile) or prompt if shipped else prompt


def modelfile_prompt(profile: ModelProfile) -> str:
    """Return the SYSTEM of its Modelfile, "" if there is none: a server drops it if a request has a system message."""
    return str((profile.modelfile or {}).get("system", ""))


def of_prompt(request_spec: RequestSpec, profile: ModelProfile, settings: ChatSettings, team: Mapping[str, Any]) -> str:
    """Return the source of the system prompt's first part."""
    if context_of(request_spec) == "minimal_system":
        return "the short prompt for models that lose their way in long conversations"
    if settings.system:
        return CHAT
    base = base_prompt(profile, team)
    if base == team_settings.KNOWN["base_system_prompt"].default:
        return SHIPPED
    return TEAM if base == team["base_system_prompt"] else MODELFILE


def of_temperature(
    request_spec: RequestSpec, profile: ModelProfile, settings: ChatSettings, team: Mapping[str, Any]
) -> str:
    """Return the source of the temperature."""
    given = {CHAT: settings.temperature, MODEL: model_settings.of(profile).temperature, TEAM: team["temperature"]}
    found = next((source for source, degree in given.items() if degree is not None), "")
    if found:
        return found
    if request_spec.offers_tools:
        return f"{SHIPPED}: {TEMPERATURE_WITH_TOOLS} where tools are offered"
    return MODELFILE if "temperature" in (profile.modelfile or {}) else "the model itself"
