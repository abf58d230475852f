"""A call that a person lets run once more: a turn of its own, which begins with that call."""

from __future__ import annotations

from dataclasses import dataclass, replace

from django.db import transaction

from chat.mcp import mcp_tools
from chat.models import UNFINISHED, Conversation, Message, ToolRun
from chat.transcript import sql
from chat.transcript.conversations.conversations import Person, own
from chat.transcript.messages import present
from chat.transcript.messages.history import call_of
from chat.transcript.settings import turn_settings
from chat.transcript.turns import lifecycle
from chat.transcript.turns.lifecycle import AcceptedMessage
from chat.transcript.turns.resume import ResumePoint
from toolsupport.core.errors import NotFound
from toolsupport.core.row_ids import row_number
from toolsupport.core.types import Role, ToolCall


@dataclass(frozen=True, slots=True)
class RepeatRequest:
    """Run this call (the number of its row) again."""

    client_id: str
    call: str

    def begin(self, person: Person, conversation_id: str, owner: str) -> AcceptedMessage:
        return accept(person, conversation_id, self, owner)


@transaction.atomic
def accept(person: Person, conversation_id: str, wish: RepeatRequest, owner: str) -> AcceptedMessage:
    """Begin the turn; the message that makes the call stands at the end of the branch that is shown.

    What the policy says about the call, and whether it asks, is as if a model had made it.
    Raises NotFound (no finished call of this conversation), Busy or ConfigError, and then nothing is kept.
    """
    conversation = own(person, conversation_id, lock=True)
    room = lifecycle.room_for(conversation, wish.client_id, owner)
    if room.known is not None:
        return AcceptedMessage(
            room.known, present.message(lifecycle.question_of(room.known)), conversation.tail, repeated=True
        )
    before = _finished(conversation, wish.call)
    briefing = turn_settings.briefing(conversation)
    turn = lifecycle.new_turn(conversation, wish.client_id, owner, briefing)
    row = Message(conversation=conversation, parent_id=conversation.leaf_id, role=Role.ASSISTANT, turn=turn)
    sql.insert_message(row)
    run = _once_more(before, row)
    seq = lifecycle.grown(conversation, row, 2) - 1
    served = {run.call_id: ToolCall(run.call_id, run.name, run.arguments)}
    resumed = ResumePoint(row.pk, (call_of(run),), decisions={}, rounds=0, done=(), usage={}, served=served)
    claimed = replace(lifecycle.claimed(turn, conversation, briefing), resumed=resumed)
    return AcceptedMessage(turn.pk, present.message(row, [run]), seq, claimed=claimed, ended=room.ended)


def _finished(conversation: Conversation, call: str) -> ToolRun:
    """A call that came to an end, and whose tool is still there."""
    runs = ToolRun.objects.filter(message__conversation=conversation)
    run = runs.exclude(status__in=(*UNFINISHED, "rejected")).filter(pk=row_number(call), program=None).first()
    if run is None or mcp_tools.named(run.name) is None:
        raise NotFound("There is no finished call that could run again.")
    return run


def _once_more(before: ToolRun, message: Message) -> ToolRun:
    tool = mcp_tools.named(before.name)
    assert message.turn is not None and tool is not None
    return ToolRun.objects.create(
        turn=message.turn,
        message=message,
        call_id=f"again-{message.pk}",
        name=before.name,
        asked_as=before.asked_as,
        served_by=before.served_by,
        arguments=before.arguments,
        asked_arguments=before.asked_arguments,
        status="pending",
        level=tool.level,
        format=before.format,
        repairs=["run again by a person"],
    )
