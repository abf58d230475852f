"""Runs a call outside any conversation, in a temporary workspace."""

from __future__ import annotations

import logging
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from channels.db import database_sync_to_async as in_database

from chat.tools import policy
from chat.tools.files.example_workspace import fill
from chat.tools.files.workspace import Workspace
from chat.tools.policy import CallOutcome
from chat.tools.tool import Tool, ToolContext
from chat.transcript.messages.view_models import ShownCall
from chat.transcript.settings import turn_settings
from chat.transcript.turns.api_tool_call import CallRequest, InvalidCall, checked
from chat.turns.databases import PersonDatabases
from chat.turns.tool_executor import tools_of
from toolsupport import cancellable_threads
from toolsupport.core.errors import NotAllowed
from toolsupport.core.types import ToolCall
from toolsupport.registry.models.request_context import RequestContext

log = logging.getLogger(__name__)
NEEDS_A_CONVERSATION = "{} changes something or runs code, so it needs a chat, in which a person can allow it."


async def run(wish: CallRequest, person: int) -> dict[str, Any]:
    """Return the call with its result. Raises InvalidCall, NotAllowed or ConfigError."""
    prepared: RequestContext = await in_database(turn_settings.prepared_without_chat)(wish.profile, person, wish.name)
    asked, served = checked(wish, prepared.request_spec)
    tools = tools_of(prepared)
    tool = tools.get(served.name)
    if tool is None:
        raise InvalidCall(f"There is no tool {served.name} here.", "name")
    if tool.level not in policy.RUNS:
        raise NotAllowed(NEEDS_A_CONVERSATION.format(served.name))
    with TemporaryDirectory(prefix="toolsupport-scratch-") as directory:
        workspace = Workspace(Path(directory) / "files")
        await cancellable_threads.run_to_end(fill, workspace)
        context = ToolContext(workspace, person=person, databases=PersonDatabases(person))
        outcome = await policy.run(served, context, tools)
    log.info("tool %s ran for a program of person %s: %s", served.name, person, outcome.status)
    return {"call": _shown(asked, served, outcome, tool), "result": outcome.result.content}


def _shown(asked: ToolCall, served: ToolCall, outcome: CallOutcome, tool: Tool) -> dict[str, Any]:
    text, failed = outcome.result.content, outcome.result.is_error
    card = ShownCall(
        id="",
        name=served.name,
        phrase="",
        target="",
        arguments=served.arguments,
        status=outcome.status,
        format="",
        served_by=served.name,
        duration_ms=outcome.duration_ms,
        result="" if failed else text,
        error=text if failed else "",
        repairs=asked.repairs,
    )
    return card.to_json() | {"asked_as": asked.name}
