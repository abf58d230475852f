"""Everything one request to a model needs, from the rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolsupport.core.errors import NotFound
from toolsupport.core.toolbox import Candidate, Wishes, choose
from toolsupport.core.words import Brief, ChatSettings, Endpoint, ToolSpec
from toolsupport.models import ModelProfile
from toolsupport.registry import remembered, servers, standings, system_settings


@dataclass(frozen=True, slots=True)
class Briefing:
    """A brief with the server to put it to; the endpoint holds a key and is never stored."""

    brief: Brief
    endpoint: Endpoint


def brief(profile_id: int, tools: Sequence[ToolSpec], settings: ChatSettings, session: str = "") -> Briefing:
    """What to ask this model in this conversation. Raises NotFound, ConfigError (the server's key cannot be read)."""
    profile = remembered.profile(profile_id)
    if profile is None:
        raise NotFound("There is no such model.")
    return brief_of(profile, tools, settings, session)


def brief_of(profile: ModelProfile, tools: Sequence[ToolSpec], settings: ChatSettings, session: str = "") -> Briefing:
    """The same for a model whose row was read already, together with its server."""
    capabilities = standings.known(profile, session)
    candidates = [Candidate(spec, True) for spec in tools]
    toolbox = choose(capabilities, candidates, Wishes(tools_on=settings.tools_on))
    team = system_settings.everything()
    made = Brief(
        model=profile.name,
        capabilities=capabilities,
        tools=toolbox.tools,
        excluded=toolbox.excluded,
        format=toolbox.format,
        format_reason=toolbox.format_reason,
        system=settings.system or team["base_system_prompt"],
        options=options(profile, settings, team),
        think=profile.options.get("think"),
        keep_alive=str(profile.options.get("keep_alive") or ""),
    )
    return Briefing(made, servers.endpoint_of(profile.server, profile))


def options(profile: ModelProfile, settings: ChatSettings, team: Mapping[str, Any]) -> dict[str, Any]:
    """Sampling options: `num_ctx` in tokens is always the same for a model, since another one loads it anew."""
    chosen: dict[str, Any] = {"num_ctx": num_ctx(profile)}
    wishes = (settings.temperature, profile.options.get("temperature"), team["temperature"])
    temperature = next((wish for wish in wishes if wish is not None), None)
    return chosen if temperature is None else chosen | {"temperature": temperature}


def num_ctx(profile: ModelProfile) -> int:
    """The context we ask for, never more than the model was trained with."""
    return min(profile.default_context, profile.context_length or profile.default_context)
