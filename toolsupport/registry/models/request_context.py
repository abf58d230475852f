"""Reads all data for one request to a model from the rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import is_
from typing import Any

from toolsupport import providers
from toolsupport.core import format_choice, model_sizes, shell_translation
from toolsupport.core.errors import NotFound
from toolsupport.core.format_choice import FormatPreferences
from toolsupport.core.prompt.context_fitting import ContextWindow
from toolsupport.core.prompt.token_counts import TokenCounts, tools_digest
from toolsupport.core.remote_tools import RemoteTool
from toolsupport.core.team_switches import TeamSwitches
from toolsupport.core.tool_selection import Candidate, Toolbox, ToolPreferences, choose
from toolsupport.core.types import Capabilities, ChatSettings, Endpoint, RequestSpec, ToolFilter, ToolSpec
from toolsupport.models import ModelProfile
from toolsupport.registry.knowledge import (
    effective_values,
    example_calls,
    reasoning_starts,
)
from toolsupport.registry.metrics import (
    prompt_token_counts,
)
from toolsupport.registry.models import (
    profile_cache,
    prompt_origins,
)
from toolsupport.registry.servers import (
    servers,
)
from toolsupport.registry.servers.reachability import WatchedModel
from toolsupport.registry.settings import (
    context_sizes,
    model_settings,
    switches,
    team_settings,
)
from toolsupport.registry.settings.model_settings import ModelOptions

# If calls were found only with thinking on, or only off, turns with tools request that.
THINK = {"on_only": True, "off_only": False}


@dataclass(frozen=True, slots=True)
class RequestContext:
    """A request's spec with its server; the endpoint holds a key and is never stored.

    `build` is the key of the model's build, `counts` its measured token counts, `toolbox` the reason why each tool is
    included or not. `window` is the context of the model. `remotes` are the tools of MCP servers with their levels and
    digests at the time of reading. `lacks_flag`: its server lacked a setting for tools so far. `watch`: the model and
    the server whose status the answer shows. `switches` are those of the team. `has_fallbacks`: another model may
    answer if this one cannot.
    """

    request_spec: RequestSpec
    endpoint: Endpoint
    build: str = ""
    counts: TokenCounts = field(default_factory=TokenCounts)
    toolbox: Toolbox = field(default_factory=lambda: Toolbox((), "", ""))
    window: ContextWindow = field(default_factory=ContextWindow)
    remotes: tuple[RemoteTool, ...] = ()
    lacks_flag: bool = False
    watch: WatchedModel | None = None
    modelfile_prompt: str = ""
    switches: TeamSwitches = field(default_factory=TeamSwitches)
    has_fallbacks: bool = False

    @property
    def usable(self) -> frozenset[str]:
        """The tools that may run, whether or not they are offered to this model."""
        return self.toolbox.usable


@dataclass(frozen=True, slots=True)
class ToolOffer:
    """The tools that might be offered to a model, with all settings of the team in force.

    `ours`: they are the tools of this site and run here, so that one may replace another. `remotes` are the MCP tools
    among the candidates.
    """

    candidates: tuple[Candidate, ...]
    team: Mapping[str, Any]
    ours: bool = False
    remotes: tuple[RemoteTool, ...] = ()


def offer(tools: Sequence[ToolSpec]) -> ToolOffer:
    """Offer these tools of a program: the team's exclusions do not apply, even to tools of the same name."""
    return ToolOffer(tuple(Candidate(spec) for spec in tools), team_settings.everything() | {"left_out": {}})


def request_spec(
    profile_id: int, tools: Sequence[ToolSpec], settings: ChatSettings, session: str = ""
) -> RequestContext:
    """Build the request for this model in this conversation.

    Raises NotFound, ConfigError (the server's key is unreadable).
    """
    profile = profile_cache.profile(profile_id)
    if profile is None:
        raise NotFound("This model does not exist.")
    return for_profile(profile, offer(tools), settings, session)


def for_profile(profile: ModelProfile, offered: ToolOffer, settings: ChatSettings, session: str = "") -> RequestContext:
    """Do the same for a model row that is read already, together with its server."""
    capabilities = effective_values.known(profile, session)
    inputs = (profile, capabilities, offered.ours, offered.candidates, settings, offered.team)
    drafts, most = (_drafts, MOST) if offered.ours else (_drafts_of_programs, MOST_OF_PROGRAMS)
    kept = drafts.get(profile.pk)
    if kept is None or not _same(kept.inputs, inputs):
        kept = _draft(inputs)
        if profile_cache.holds(profile):
            if len(drafts) >= most:
                drafts.clear()
            drafts[profile.pk] = kept
    made, build = kept.request_spec, profile.build.key
    if made.offers_tools and (made.format != "native" or made.fallbacks):
        made = replace(made, examples=example_calls.examples(build, made.tools))
    counts = prompt_token_counts.known(build, kept.tools_digest)
    endpoint = servers.endpoint_of(profile.server, profile)
    return RequestContext(made, endpoint, build, counts, kept.toolbox, kept.window, offered.remotes, *kept.more)


Inputs = tuple[ModelProfile, Capabilities, bool, tuple[Candidate, ...], ChatSettings, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class RequestDraft:
    """The part of a request that follows from its inputs alone, without further rows.

    `more` are the last fields of its RequestContext, from `lacks_flag`.
    """

    inputs: Inputs
    request_spec: RequestSpec
    toolbox: Toolbox
    tools_digest: str
    window: ContextWindow
    more: tuple[bool, WatchedModel, str, TeamSwitches, bool]


# The latest choice for each model, in chats and for programs: choosing tools takes longer than comparing the inputs.
_drafts: dict[int, RequestDraft] = {}
_drafts_of_programs: dict[int, RequestDraft] = {}
MOST, MOST_OF_PROGRAMS = 500, 32  # the tools of programs take up to a megabyte each


def _same(kept: Inputs, inputs: Inputs) -> bool:
    """Return whether the inputs are the same; a model and its values are other objects as soon as they change.

    Tools of programs are the same objects if their text is the same (`gateway.parsed_request`); 1 equals `true` here.
    """
    ours, before, now = inputs[2], kept[3], inputs[3]
    same = ours or (len(before) == len(now) and all(map(is_, (one.spec for one in before), (one.spec for one in now))))
    return same and kept[0] is inputs[0] and kept[1] is inputs[1] and kept[2:] == inputs[2:]


def _draft(inputs: Inputs) -> RequestDraft:
    profile, capabilities, ours, candidates, settings, team = inputs
    kept, window, in_force = model_settings.of(profile), context_sizes.window(profile), switches.of(team)
    toolbox = choose(capabilities, candidates, preferences(profile, settings, team))
    made = RequestSpec(
        model=profile.name,
        capabilities=capabilities,
        tools=toolbox.tools,
        excluded=toolbox.excluded,
        hidden=toolbox.hidden,
        format=toolbox.format,
        format_reason=toolbox.format_reason,
        fallbacks=toolbox.fallbacks,
        if_refused=toolbox.if_refused,
        system=settings.system or prompt_origins.base_prompt(profile, team),
        options=options(replace(kept, num_ctx=window.given), settings, team),
        think=kept.think,
        keep_alive=kept.keep_alive,
        turn_context=kept.turn_context,
        begins_inside=reasoning_starts.known(profile),
        strong_nudge=_needs_a_push(profile) if kept.strong_nudge is None else kept.strong_nudge,
    )
    if ours and in_force.translates and kept.translation is not False:
        made = shell_translation.rerouted(made)
    if made.offers_tools and made.format == "native":
        made = replace(made, stream=capabilities["streaming"].value is not False)
    if made.offers_tools and made.think is None:
        made = replace(made, think=THINK.get(capabilities["tools_thinking"].value))
    made = _able_to_force(made, profile.server.kind, in_force)
    watch = WatchedModel(profile.pk, profile.server_id, profile.server.reachable is True)
    falls_back = bool(profile.options.get("fallback_models"))
    more = (bool(profile.missing_flag), watch, prompt_origins.modelfile_prompt(profile), in_force, falls_back)
    return RequestDraft(inputs, made, toolbox, tools_digest(made), window, more)


def _able_to_force(made: RequestSpec, kind: str, team: TeamSwitches) -> RequestSpec:
    """Note whether the server enforces schemas; some kinds of servers then enforce those of tools as well."""
    if made.capabilities["constrains_patterns"].value is not False:
        made = replace(made, keywords=providers.provider(kind).keywords)
    if not format_choice.may_force(made.capabilities, team):
        return made
    if providers.provider(kind).sets_strict:
        made = replace(made, tools=tuple(replace(tool, strict=True) for tool in made.tools))
    return replace(made, may_force=True)


def preferences(profile: ModelProfile, settings: ChatSettings, team: Mapping[str, Any]) -> ToolPreferences:
    """Return the preferences of the conversation, the model's profile and the team for tools and formats."""
    kept = model_settings.of(profile)
    preferred = (settings.asked_format, settings.format, kept.format, team["primary_format"])
    formats = FormatPreferences(
        preferred=tuple(name for name in preferred if name),
        disabled=frozenset((*kept.disabled_formats, *team["disabled_formats"])),
        switches=switches.of(team),
        asked=settings.asked_format,
    )
    return ToolPreferences(
        tools_on=settings.tools_on,
        team=ToolFilter.read(team["left_out"]),
        chat=settings.left_out,
        formats=formats,
        may_call=kept.tool_choice != "none",
        parameters=profile.parameters or model_sizes.parameters(profile.name, effective_values.family_of(profile)),
        hosted=model_sizes.hosted(profile.name),
    )


def options(kept: ModelOptions, settings: ChatSettings, team: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a request: `num_ctx` in tokens is constant per model, since another value reloads it."""
    degrees = (settings.temperature, kept.temperature, team["temperature"])
    chosen = {
        "num_ctx": kept.num_ctx or None,
        "temperature": next((degree for degree in degrees if degree is not None), None),
        "tool_choice": kept.tool_choice or None,
        "parallel_tool_calls": kept.parallel_tool_calls,
    }
    return {name: value for name, value in chosen.items() if value is not None}


def _needs_a_push(profile: ModelProfile) -> bool:
    """Return whether the tool-use reminder is added: for locally run models, unless their profile disables it."""
    return providers.provider(profile.server.kind).wire == "ollama"
