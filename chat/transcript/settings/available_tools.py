"""Lists the tools of this site for a model."""

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
from chat.transcript.settings.team_context import TeamContext
from toolsupport.core.remote_tools import RemoteTool
from toolsupport.core.tool_selection import Candidate, Kind
from toolsupport.registry import row_cache
from toolsupport.registry.mcp import mcp_servers
from toolsupport.registry.models.request_context import ToolOffer
from toolsupport.registry.settings import team_settings, tool_settings

# Built-in tools with conditions of their own.
KINDS: Mapping[str, Kind] = MappingProxyType(
    {tool_search.NAME: "search", search_schemas.NAME: "sql", execute_sql.NAME: "sql"}
)
_NEED_SOMETHING = tuple(tool for tool in BUILTINS.values() if tool.needs)
NO_PROMPTS = "There are no prompts to choose from."


def of_chat(toolset: Sequence[str], team: TeamContext) -> ToolOffer:
    """Return the tools in a conversation with this toolset; the same object as long as nothing changes.

    `team` is as `team_context.read` returns it: its databases are all that differs between people. What a tool needs
    may be installed or fail while no row changes, so it is looked at each time.
    """
    missing = tuple(tool.missing for tool in _NEED_SOMETHING)
    return row_cache.read_by(lambda: offer(toolset, team), offer, team.databases, tuple(toolset), missing)


def offer(
    toolset: Sequence[str] = (), team: TeamContext | None = None, remotes: tuple[RemoteTool, ...] | None = None
) -> ToolOffer:
    """Return every built-in tool with its state, then the deferred ones.

    State: whether the team enabled it, and it works here. Tools in the conversation's `toolset` were found for it, most
    relevant first. `team` is what the team offers and `remotes` are the MCP tools, if they were read.
    """
    team = team or TeamContext(team_settings.everything())
    built_in = [_built_in(tool, team.settings) for tool in BUILTINS.values()]
    built_in = [_about(candidate, team.prompts, team.databases) for candidate in built_in]
    remotes = mcp_servers.known_tools() if remotes is None else remotes
    waiting = (found(mcp_tools.candidate_of(remote), toolset) for remote in remotes)
    return ToolOffer((*built_in, *waiting), team.settings, ours=True, remotes=remotes)


def _built_in(tool: Tool, team: Mapping[str, Any]) -> Candidate:
    name = tool.spec.name
    enabled = tool_settings.enabled(name, tool.level, team)
    kind = KINDS.get(name, "builtin")
    return Candidate(tool.spec, enabled, tool.missing, kind=kind, in_programs=tool.level in IN_PROGRAMS)


def _about(candidate: Candidate, prompts: Sequence[NamedPrompt], databases: str) -> Candidate:
    """Return a prompt or database tool with the available names; without any it is not offered."""
    spec = candidate.spec
    if spec.name == hot_swap.TOOL.spec.name:
        return replace(candidate, spec=hot_swap.with_prompts(spec, prompts), missing="" if prompts else NO_PROMPTS)
    if candidate.kind != "sql":
        return candidate
    text = f"{spec.description} Databases: {databases}." if databases else spec.description
    return replace(candidate, spec=replace(spec, description=text), connected=bool(databases))


def found(candidate: Candidate, toolset: Sequence[str]) -> Candidate:
    """Return a deferred tool, offered if it is in the toolset."""
    if candidate.spec.name not in toolset:
        return candidate
    return replace(candidate, materialised=True, relevance=-float(toolset.index(candidate.spec.name)))
