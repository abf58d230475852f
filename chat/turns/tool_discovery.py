"""Searches tools for a conversation by the words of its messages."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from channels.db import database_sync_to_async as in_database

from chat.tools import tool_search
from chat.transcript.turns import found_tools
from chat.transcript.turns.begin import ClaimedTurn
from toolsupport.core import sanitize
from toolsupport.core.errors import Lost
from toolsupport.core.outside_content import OutsideSource
from toolsupport.core.tool_index import entry_of
from toolsupport.core.tool_selection import Toolbox
from toolsupport.core.types import ToolCall, ToolResult, ToolSpec
from toolsupport.core.unquoted_text import own_words
from toolsupport.services.tool_search import search

log = logging.getLogger(__name__)

LONGEST_QUERY = 500


@dataclass(frozen=True, slots=True)
class FirstSearch:
    """A search that found tools, as the card of a call."""

    call: ToolCall
    result: ToolResult
    duration_ms: int


async def find(
    claimed: ClaimedTurn, query: str, read: Callable[[], tuple[OutsideSource, ...]] = tuple[OutsideSource, ...]
) -> Sequence[ToolSpec]:
    """Return the best matching tools, as many as the model can get; they are offered from now on.

    `read` returns the outside content in the request of a model that searches.
    """
    specs = found_tools.searchable(claimed.prepared)
    by_name = {spec.name: spec for spec in specs}
    best = await search([entry_of(spec) for spec in specs], query, room(claimed.prepared.toolbox))
    names = [entry.name for entry in best]
    await in_database(found_tools.add)(claimed.store, names, read())
    return [by_name[name] for name in names]


def something_waits(toolbox: Toolbox) -> bool:
    """Return whether a search could still find tools for a model that gets tools at all."""
    return bool(toolbox.format) and any(verdict.rule == "deferred" for verdict in toolbox.verdicts)


async def first_search(claimed: ClaimedTurn) -> FirstSearch | None:
    """Search before the first request, by the person's words; None if nothing was found.

    After a message without words, such as an image alone, the search waits for the next one.
    """
    if claimed.searched or not something_waits(claimed.prepared.toolbox):
        return None
    words = own_words(claimed.asked)[:LONGEST_QUERY]
    if not words:
        return None
    begun = time.monotonic()
    try:
        found = await find(claimed, words)
    except Lost:
        raise
    except Exception:
        # Without it the model can still search on its own.
        log.exception("could not search tools before turn %s", claimed.turn)
        return None
    if not found:
        return None
    call = ToolCall(f"search_{claimed.turn}", tool_search.NAME, {"query": words})
    return FirstSearch(
        call, ToolResult(sanitize.text(tool_search.listed(found))), round((time.monotonic() - begun) * 1000)
    )


def room(toolbox: Toolbox) -> int:
    """Return how many MCP tools have room besides the built-in ones."""
    built_in = sum(verdict.included and verdict.candidate.kind != "mcp" for verdict in toolbox.verdicts)
    rooms = (limit.most - (0 if limit.mcp_only else built_in) for limit in toolbox.limits)
    return max(0, min(rooms, default=found_tools.MOST))
