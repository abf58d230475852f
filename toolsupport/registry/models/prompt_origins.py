"""Where the system prompt and the temperature of a request come from, in words for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolsupport.core.prompt.sampling import TEMPERATURE_WITH_TOOLS
from toolsupport.core.prompt.turn_context import context_of
from toolsupport.core.types import ChatSettings, RequestSpec
from toolsupport.models import ModelProfile
from toolsupport.registry.settings import model_settings, team_settings

CHAT, MODEL, TEAM = "the settings of this chat", "the options of this model", "the team's defaults"
SHIPPED = "what this program comes with"


def of_prompt(brief: RequestSpec, settings: ChatSettings, team: Mapping[str, Any]) -> str:
    """Whose words the system prompt begins with."""
    if context_of(brief) == "minimal_system":
        return "the short prompt for models that lose their way in long conversations"
    if settings.system:
        return CHAT
    # A chat's own prompts and memory follow after an empty line.
    begins = brief.system.partition("\n\n")[0]
    return SHIPPED if begins == team_settings.KNOWN["base_system_prompt"].default else TEAM


def of_temperature(brief: RequestSpec, profile: ModelProfile, settings: ChatSettings, team: Mapping[str, Any]) -> str:
    """Who set the temperature that is sent."""
    said = {CHAT: settings.temperature, MODEL: model_settings.of(profile).temperature, TEAM: team["temperature"]}
    found = next((source for source, degree in said.items() if degree is not None), "")
    if found:
        return found
    return f"{SHIPPED}: {TEMPERATURE_WITH_TOOLS} where tools are offered" if brief.offers_tools else "the model itself"
