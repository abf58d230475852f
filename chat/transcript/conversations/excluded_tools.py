"""Stores which of the team's tools one conversation excludes."""

from __future__ import annotations

import json
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass

from django.db import transaction

from chat.models import Conversation
from chat.transcript.conversations.conversations import Person, own
from chat.transcript.settings import available_tools, chat_settings
from chat.transcript.settings.team_context import TeamContext
from toolsupport.core.remote_tools import RemoteTool
from toolsupport.core.types import ToolFilter
from toolsupport.registry.mcp import mcp_servers
from toolsupport.registry.settings import team_settings


@dataclass(frozen=True, slots=True)
class SwitchChoice:
    """The state of a form's switches. `shown` are all its names, `kept` those that were on."""

    shown: Collection[str] = ()
    kept: Collection[str] = ()

    def switched(self, seen: frozenset[str]) -> frozenset[str]:
        """Return the names whose switch differs from the state that was shown."""
        out = frozenset(self.shown) - frozenset(self.kept)
        return frozenset(name for name in self.shown if (name in out) != (name in seen))


@dataclass(frozen=True, slots=True)
class ToolFilterChange:
    """The changed switches of a form that was made from `seen` (see `stamp`)."""

    tools: SwitchChoice
    servers: SwitchChoice
    seen: str


@dataclass(frozen=True, slots=True)
class StoredFilter:
    """A conversation with its new filter, and the MCP tools. `others` were switched by another person meanwhile."""

    conversation: Conversation
    remotes: tuple[RemoteTool, ...]
    others: frozenset[str]


def stamp(left_out: ToolFilter) -> str:
    """Return the state that a form was made from, to detect concurrent changes."""
    return json.dumps(left_out.to_json())


@transaction.atomic
def put(person: Person, conversation_id: str, change: ToolFilterChange) -> StoredFilter:
    """Apply the form's changed switches. Unknown names are ignored. Raises NotFound."""
    remotes = mcp_servers.known_tools()
    existing = available_tools.offer((), TeamContext(team_settings.in_force(())), remotes).candidates
    conversation = own(person, conversation_id, lock=True, with_state=True)
    before, seen = ToolFilter.read(conversation.settings.get("left_out")), _read(change.seen)
    tools = change.tools.switched(seen.tools) & {one.spec.name for one in existing}
    servers = change.servers.switched(seen.servers) & {one.server for one in existing}
    after = ToolFilter(
        _merged(before.tools, tools, change.tools.kept),
        _merged(before.servers, servers, change.servers.kept),
    )
    conversation.settings = chat_settings.changed(conversation, left_out=after.to_json())
    others = ((before.tools ^ seen.tools) - tools) | ((before.servers ^ seen.servers) - servers)
    return StoredFilter(conversation, remotes, others)


def _merged(before: frozenset[str], switched: frozenset[str], kept: Collection[str]) -> frozenset[str]:
    return (before | switched) - (switched & frozenset(kept))


def _read(seen: str) -> ToolFilter:
    with suppress(ValueError, RecursionError):
        return ToolFilter.read(json.loads(seen))
    return ToolFilter()
