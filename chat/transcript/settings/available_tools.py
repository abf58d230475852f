"""What the tools of this site have to offer to a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from chat.mcp import mcp_tools
from chat.tools import BUILTINS, execute_sql, hot_swap, search_schemas, tool_search
from chat.tools.policy import IN_PROGRAMS
from chat.tools.stores import NamedPrompt
from chat.tools.tool import Tool
from chat.transcript.settings import deferred_tools
from toolsupport.core.tool_selection import Candidate, Kind
from toolsupport.registry.models.request_context import ToolOffer
from toolsupport.registry.settings import team_settings, tool_settings

# What is not simply built in.
KINDS: Mapping[str, Kind] = MappingProxyType(
    {tool_search.NAME: "search", search_schemas.NAME: "sql", execute_sql.NAME: "sql"}
)
NO_PROMPTS = "There are no named prompts to choose among."


def offer(
    toolset: Sequence[str] = (),
    prompts: Sequence[NamedPrompt] = (),
    databases: str = "",
    team: Mapping[str, Any] | None = None,
) -> ToolOffer:
    """Every built-in tool, with whether the team has switched it on and whether it works here, then the deferred ones.

    Those of the `toolset` of a conversation were found for it, the most relevant first. `prompts` are the team's that
    can be chosen, `databases` names those that it may read. `team` are all settings in force, where they were read.
    """
    team = team or team_settings.everything()
    built_in = [_built_in(tool, team) for tool in BUILTINS.values()]
    built_in = [_about(candidate, prompts, databases) for candidate in built_in]
    remotes = deferred_tools.tools()
    waiting = (found(mcp_tools.candidate_of(remote), toolset) for remote in remotes)
    return ToolOffer((*built_in, *waiting), team, ours=True, remotes=remotes)


def _built_in(tool: Tool, team: Mapping[str, Any]) -> Candidate:
    name = tool.spec.name
    enabled = tool_settings.enabled(name, tool.level, team)
    kind = KINDS.get(name, "builtin")
    return Candidate(tool.spec, enabled, tool.missing, kind=kind, in_programs=tool.level in IN_PROGRAMS)


def _about(candidate: Candidate, prompts: Sequence[NamedPrompt], databases: str) -> Candidate:
    """A tool for prompts or databases tells which there are; without any it is not offered."""
    spec = candidate.spec
    if spec.name == hot_swap.TOOL.spec.name:
        return replace(candidate, spec=hot_swap.with_prompts(spec, prompts), missing="" if prompts else NO_PROMPTS)
    if candidate.kind != "sql":
        return candidate
    told = f"{spec.description} Databases: {databases}." if databases else spec.description
    return replace(candidate, spec=replace(spec, description=told), connected=bool(databases))


def found(candidate: Candidate, toolset: Sequence[str]) -> Candidate:
    """A deferred tool, offered where it is in the toolset."""
    if candidate.spec.name not in toolset:
        return candidate
    return replace(candidate, materialised=True, relevance=-float(toolset.index(candidate.spec.name)))
