"""Reads the settings and the workspace of a chat for its turns."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from django.conf import settings

from chat.models import Conversation
from chat.tools.files import text_decoding
from chat.tools.files.workspace import Workspace
from chat.tools.sandbox import workspace_removal
from chat.tools.sandbox.workspace_removal import DISCARDED
from chat.tools.tool import ToolContext
from chat.transcript.settings import available_tools, prompt_context, team_context
from chat.transcript.settings.prompt_context import PromptContext
from chat.transcript.settings.team_context import TeamContext
from toolsupport.core import outside_content, shell_translation
from toolsupport.core.errors import ConfigError, NotFound, ToolError
from toolsupport.core.prompt.turn_context import context_of
from toolsupport.core.remote_tools import RemoteTool
from toolsupport.core.types import ChatSettings, ToolFilter
from toolsupport.registry.databases import sql_sources
from toolsupport.registry.models import profile_cache, request_context
from toolsupport.registry.models.request_context import RequestContext
from toolsupport.registry.settings import team_settings

DOCUMENTS = ("AGENTS.md", "IDENTITY.md", "SOUL.md")
DOCUMENT_BYTES = 8 * 1024
# The setting with the model that denied access to files in this conversation.
THROUGH_BASH = "through_bash"
# The setting with the outside content that has made a model search tools, by the name of the found tool.
FOUND_BY = "found_by"
# The key of the text format that a person requested for one answer; it is never saved.
ASKED_FORMAT = "asked_format"


def chat_settings(stored: Mapping[str, Any]) -> ChatSettings:
    """Return the conversation's own settings for the registry."""
    return ChatSettings(
        tools_on=stored.get("tools_on"),
        system=stored.get("system") or "",
        temperature=stored.get("temperature"),
        format=stored.get("format") or "",
        left_out=ToolFilter.read(stored.get("left_out")),
        asked_format=stored.get(ASKED_FORMAT) or "",
    )


@dataclass(frozen=True, slots=True)
class ChatRequestContext(RequestContext):
    """A request context for a conversation, with its prompt context, and all settings of the team."""

    prompt_parts: PromptContext = field(default_factory=PromptContext)
    team_settings: Mapping[str, Any] = field(default_factory=dict)


_INHERITED = tuple(each.name for each in fields(RequestContext) if each.name != "request_spec")


def prepared(conversation: Conversation, remotes: tuple[RemoteTool, ...] | None = None) -> ChatRequestContext:
    """Return the request context of a conversation, with every available tool. Raises ConfigError.

    `remotes` are the MCP tools, if they were read.
    """
    if conversation.profile is None:
        raise ConfigError("Choose a model first.")
    wanted = chat_settings(conversation.settings)
    team = team_context.read(conversation.owner_id)
    found = conversation.settings.get("toolset") or ()
    offered = available_tools.of_chat(found, team) if remotes is None else available_tools.offer(found, team, remotes)
    prompt_parts = prompt_context.of(conversation, team.prompts)
    made = request_context.for_profile(conversation.profile, offered, wanted, str(conversation.pk))
    request_spec = made.request_spec
    system, notes = prompt_parts.system(request_spec.system), prompt_parts.notes
    if (system, notes) != (request_spec.system, request_spec.notes):
        request_spec = replace(request_spec, system=system, notes=notes)
    if conversation.settings.get(THROUGH_BASH) == conversation.profile.pk:
        request_spec = shell_translation.after_refusal(request_spec) or request_spec
    if context_of(request_spec) == "minimal_system":
        request_spec = replace(request_spec, documents=documents(workspace(str(conversation.pk))))
    if found_by := conversation.settings.get(FOUND_BY):
        offered_names = {tool.name for tool in request_spec.callable}
        outside = (outside_content.read(rows) for name, rows in found_by.items() if name in offered_names)
        prompt_parts = replace(prompt_parts, outside_tools=outside_content.merged(*outside))
    inherited = {name: getattr(made, name) for name in _INHERITED}
    return ChatRequestContext(request_spec, **inherited, prompt_parts=prompt_parts, team_settings=team.settings)


def prepared_without_chat(profile_id: int, person: int, tool: str) -> RequestContext:
    """Return the request context for one call of this tool outside of chats, with the databases of a person.

    There is no search before the call, so a deferred tool counts as found. Raises NotFound, ConfigError.
    """
    profile = profile_cache.profile(profile_id)
    if profile is None:
        raise NotFound("This model does not exist.")
    team = TeamContext(team_settings.everything(), databases=sql_sources.names(person))
    offered = available_tools.offer((tool,), team)
    return request_context.for_profile(profile, offered, ChatSettings())


def documents(files: Workspace) -> dict[str, str]:
    """Return the texts of a conversation's files for every model: the beginning of each existing one of DOCUMENTS."""
    found: dict[str, str] = {}
    for name in DOCUMENTS:
        with suppress(NotFound, ToolError):
            content = files.read(name, DOCUMENT_BYTES)
            found[name] = text_decoding.read(content.data, content.size) if content.data else ""
    return found


def workspace(conversation: str) -> Workspace:
    """Return the files of a conversation; the caller has checked the permission."""
    return Workspace(_folder(settings.WORKSPACES_DIR) / conversation, quota())


@lru_cache(maxsize=1)
def _folder(name: str) -> Path:
    """Return the folder of all workspaces. Parsing its name takes 2 µs of the 3 that the path of a workspace takes."""
    return Path(name)


def discard_workspace(conversation: str) -> None:
    """Give up the files of a conversation whose rows are deleted next; after an interruption a later run removes them.

    Renaming takes no time, so the transaction that deletes the rows may wait for it.
    """
    workspace_removal.discard(_root(conversation))


def remove_workspace(conversation: str) -> None:
    """Delete the files of a deleted chat for good, also those that a tool of it still writes."""
    workspace_removal.remove(_root(conversation))


def remove_discarded() -> None:
    """Delete the files of conversations whose deletion was interrupted."""
    above = Path(settings.WORKSPACES_DIR)
    for folder in above.glob(f"*{DISCARDED}"):
        workspace_removal.erase(folder)
        with suppress(ValueError):
            name = str(uuid.UUID(folder.name.removesuffix(DISCARDED)))
            if not Conversation.objects.filter(pk=name).exists():
                remove_workspace(name)
    workspace_removal.remove_outdated_locks(above)


def _root(conversation: str) -> Path:
    return Path(settings.WORKSPACES_DIR) / str(uuid.UUID(conversation))


def quota() -> int:
    """Return how many bytes the files of one conversation may have."""
    return int(settings.ENV["TOOLSUPPORT_WORKSPACE_MIB"]) * 1024 * 1024


def tool_context(conversation: str, person: int = 0) -> ToolContext:
    """Return the context of tools in a turn of this conversation; `person` is its owner."""
    return ToolContext(workspace=workspace(conversation), conversation=conversation, person=person)
