"""Repeats a finished call for a person, in a turn of its own that begins with that call."""

from __future__ import annotations

from dataclasses import dataclass

from chat.mcp import mcp_tools
from chat.models import Conversation, Message, ToolRun
from chat.statuses import UNFINISHED, CallStatus
from chat.transcript.settings import turn_settings
from chat.transcript.turns.begin import Draft
from toolsupport.core.errors import NotFound
from toolsupport.core.row_ids import row_number
from toolsupport.core.types import Role


@dataclass(frozen=True, slots=True)
class RepeatRequest:
    """A request to run this call (the number of its row) again.

    The policy and the approval are the same as if a model had made it now.
    """

    client_id: str
    call: str

    def client_id_in(self, conversation: Conversation) -> str:
        return self.client_id

    def draft(self, conversation: Conversation) -> Draft:
        """Raises NotFound (no finished call of this conversation), ConfigError."""
        call = _once_more(_finished(conversation, self.call))
        message = Message(conversation=conversation, parent_id=conversation.leaf_id, role=Role.ASSISTANT)
        return Draft(turn_settings.prepared(conversation), message, call)


def _finished(conversation: Conversation, call: str) -> ToolRun:
    """Return a finished call whose tool still exists."""
    runs = ToolRun.objects.filter(message__conversation=conversation)
    run = runs.exclude(status__in=(*UNFINISHED, CallStatus.REJECTED)).filter(pk=row_number(call), program=None).first()
    if run is None or mcp_tools.named(run.name) is None:
        raise NotFound("There is no finished call that could run again.")
    return run


def _once_more(before: ToolRun) -> ToolRun:
    tool = mcp_tools.named(before.name)
    assert tool is not None
    return ToolRun(
        call_id="again",
        name=before.name,
        asked_as=before.asked_as,
        served_by=before.served_by,
        arguments=before.arguments,
        asked_arguments=before.asked_arguments,
        status=CallStatus.PENDING,
        level=tool.level,
        format=before.format,
        repairs=["run again by a person"],
    )
