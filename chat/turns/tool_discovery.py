"""Finds tools for a conversation by the words of its messages."""

from __future__ import annotations

from collections.abc import Sequence

from channels.db import database_sync_to_async as in_database

from chat.tools import tool_search
from chat.transcript.turns import found_tools
from chat.transcript.turns.begin import ClaimedTurn
from toolsupport.core.tool_index import entry_of
from toolsupport.core.tool_selection import Toolbox
from toolsupport.core.types import ChatMessage, Role, ToolCall, ToolSpec
from toolsupport.services.tool_search import search

LONGEST_QUERY = 500


async def find(claimed: ClaimedTurn, query: str) -> Sequence[ToolSpec]:
    """The tools that fit best, as many as the model can be given; they are offered from now on."""
    specs = found_tools.searchable(claimed.briefing)
    by_name = {spec.name: spec for spec in specs}
    best = await search([entry_of(spec) for spec in specs], query, room(claimed.briefing.toolbox))
    names = [entry.name for entry in best]
    await in_database(found_tools.add)(claimed.store, names)
    return [by_name[name] for name in names]


def something_waits(toolbox: Toolbox) -> bool:
    """Whether there are tools that a search could still find for a model that is given tools at all."""
    return bool(toolbox.format) and any(verdict.rule == "deferred" for verdict in toolbox.verdicts)


def first_call(history: Sequence[ChatMessage], turn: int) -> ToolCall:
    """The search that is made before a model is asked for the first time, by its person's words."""
    words = next((message.content for message in reversed(history) if message.role is Role.USER), "")
    return ToolCall(f"search_{turn}", tool_search.NAME, {"query": words[:LONGEST_QUERY]})


def room(toolbox: Toolbox) -> int:
    """How many tools of servers there is room for beside those that are built in."""
    built_in = sum(verdict.included and verdict.candidate.kind != "mcp" for verdict in toolbox.verdicts)
    rooms = (limit.most - (0 if limit.mcp_only else built_in) for limit in toolbox.limits)
    return max(0, min(rooms, default=found_tools.MOST))
