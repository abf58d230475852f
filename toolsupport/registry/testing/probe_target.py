"""Reads the data for testing a model: its endpoint, options and formats."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from toolsupport.core import format_choice, server_flags
from toolsupport.core.formats import code_mode
from toolsupport.core.types import Endpoint, RequestSpec, ToolFilter
from toolsupport.models import Detection, ModelProfile
from toolsupport.registry.knowledge import (
    effective_values,
    reasoning_starts,
)
from toolsupport.registry.servers import (
    servers,
)
from toolsupport.registry.settings import (
    model_settings,
    switches,
    team_settings,
    tool_settings,
)


def flag_for(profile: int, words: str, rule: str = "") -> str:
    """Return the setting that a model's server needs for tools, from its error message."""
    row = ModelProfile.objects.select_related("server").filter(pk=profile).first()
    return server_flags.needed(words, rule, row.server.kind, _parsers(row)) if row else words


def _parsers(profile: ModelProfile) -> Mapping[str, str]:
    family = effective_values.family_of(profile)
    return family.parsers if family else {}


@dataclass(frozen=True, slots=True)
class DetectionTarget:
    """The subject of a test; the endpoint holds a key and is never stored."""

    profile: int
    build: str
    kind: str
    endpoint: Endpoint
    request_spec: RequestSpec
    family_formats: tuple[str, ...]
    thinks: bool | None
    parsers: Mapping[str, str]
    runs_code: bool
    may_force: bool
    later: bool


def tested(detection: int) -> DetectionTarget:
    """Return the target. Raises Detection.DoesNotExist, ConfigError (the server's key is unreadable)."""
    row = Detection.objects.select_related("profile__server").get(pk=detection)
    profile = row.profile
    capabilities = effective_values.known(profile)
    asked = model_settings.of(profile)
    family = effective_values.family_of(profile)
    thinking = capabilities["thinking"].value
    made = RequestSpec(
        model=profile.name,
        capabilities=capabilities,
        # The context is that of ordinary turns: another one would reload the model.
        options={"num_ctx": asked.num_ctx},
        keep_alive=asked.keep_alive,
        think=asked.think,
        begins_inside=reasoning_starts.known(profile),
    )
    return DetectionTarget(
        profile=profile.pk,
        build=row.build_key,
        kind=row.kind,
        endpoint=servers.endpoint_of(profile.server, profile),
        request_spec=made,
        family_formats=(family.call_format, *family.alternatives) if family and family.call_format else (),
        thinks=thinking if isinstance(thinking, bool) else None,
        parsers=family.parsers if family else {},
        runs_code=_runs_code(asked.disabled_formats),
        may_force=_may_force(asked.disabled_formats),
        later=row.trigger == "bulk",
    )


def _runs_code(disabled: tuple[str, ...]) -> bool:
    """Return whether calls written as code may run: the team allows them, and the tool that runs them is enabled."""
    team = team_settings.everything()
    off = {*disabled, *team["disabled_formats"], *ToolFilter.read(team["left_out"]).tools}
    on = tool_settings.enabled(code_mode.TOOL, "A3", team)
    return on and switches.of(team).allows_code_mode and not off & {format_choice.CODE, code_mode.TOOL}


def _may_force(disabled: tuple[str, ...]) -> bool:
    """Return whether replies may be constrained here."""
    team = team_settings.everything()
    return switches.of(team).forces and format_choice.FORCED not in (*disabled, *team["disabled_formats"])
