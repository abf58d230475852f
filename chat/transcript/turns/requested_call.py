"""A call that a program makes in a conversation: a turn of its own, which asks no model and is told of once."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from chat.mcp import mcp_tools
from chat.models import OPEN, Conversation, Message, ToolRun, Turn
from chat.transcript import sql
from chat.transcript.conversations.conversations import Person, own
from chat.transcript.messages import present
from chat.transcript.messages.history import call_of
from chat.transcript.settings import turn_settings
from chat.transcript.turns import lifecycle
from chat.transcript.turns.lifecycle import AcceptedMessage
from chat.transcript.turns.resume import ResumePoint
from toolsupport.core import calls, tool_translation
from toolsupport.core.errors import Busy
from toolsupport.core.events import CallRejected
from toolsupport.core.types import JSON, RequestSpec, Role, ToolCall
from toolsupport.registry.models import picker

# How long the result of a call that nobody fetched waits for the same request.
FETCHABLE = timedelta(minutes=10)
ASKED, TOLD = "asked", "told"
BY_PROGRAM = "asked for by a program"


class InvalidCall(ValueError):
    """A call that cannot be made; `param` names the field that is wrong."""

    def __init__(self, message: str, param: str) -> None:
        super().__init__(message)
        self.param = param


@dataclass(frozen=True, slots=True)
class CallRequest:
    """What a program wants to be run, as if the model (the id of its profile) had asked for it."""

    profile: int
    name: str
    arguments: JSON

    @property
    def client_id(self) -> str:
        """The same for the same request, so that a repeated one finds what became of it."""
        said = json.dumps([self.profile, self.name, self.arguments], sort_keys=True).encode(errors="replace")
        return f"program-{hashlib.sha256(said).hexdigest()[:40]}"

    def begin(self, person: Person, conversation_id: str, owner: str) -> AcceptedMessage:
        return accept(person, conversation_id, self, owner)


@dataclass(frozen=True, slots=True)
class RequestedCallState:
    """What became of a call: the open `question` it waits for, or the whole `call` with the `result`; else it runs."""

    question: int | None = None
    call: JSON | None = None
    result: str = ""


def checked(wish: CallRequest, brief: RequestSpec) -> tuple[ToolCall, ToolCall]:
    """The call as it was asked for, and the one that runs for it. Raises InvalidCall."""
    left_out = next((one for one in brief.excluded if one.tool == wish.name), None)
    call = ToolCall("program", wish.name, wish.arguments)
    found = calls.check(call, brief.callable)
    if not isinstance(found, CallRejected):
        return found.call, tool_translation.serve(found.call, brief).call
    if found.fault == "schema":
        raise InvalidCall(found.reason, "arguments")
    raise InvalidCall(f"This model may not call {wish.name}: {left_out.reason}" if left_out else found.reason, "name")


@transaction.atomic
def accept(person: Person, conversation_id: str, wish: CallRequest, owner: str) -> AcceptedMessage:
    """Begin the turn that runs the call; where the same request was made before, and not told, its turn is meant.

    Raises NotFound, Busy, ConfigError or InvalidCall, and then nothing is kept.
    """
    conversation = own(person, conversation_id, lock=True)
    before = _untold(conversation, wish)
    if before is not None:
        row = before.messages.order_by("id")[0]
        return AcceptedMessage(before.pk, present.message(row), conversation.tail, repeated=True)
    if Turn.objects.filter(conversation=conversation, status="waiting").exists():
        raise Busy("A question is open in this conversation. It has to be answered first.", "conversation")
    client_id = f"{wish.client_id}-{Turn.objects.filter(conversation=conversation).count()}"
    room = lifecycle.room_for(conversation, client_id, owner)
    conversation.profile_id = wish.profile
    briefing = turn_settings.briefing(conversation)
    asked, served = checked(wish, briefing.brief)
    turn = lifecycle.new_turn(conversation, client_id, owner, briefing)
    Turn.objects.filter(pk=turn.pk).update(program=ASKED)
    row = Message(conversation=conversation, parent_id=conversation.leaf_id, role=Role.ASSISTANT, turn=turn)
    sql.insert_message(row)
    run = _pending(row, asked, served)
    seq = lifecycle.grown(conversation, row, 2) - 1
    calls_served = {run.call_id: replace(served, id=run.call_id)}
    resumed = ResumePoint(row.pk, (call_of(run),), {}, 0, (), {}, served=calls_served, calls_only=True)
    claimed = replace(lifecycle.claimed(turn, conversation, briefing), resumed=resumed)
    return AcceptedMessage(turn.pk, present.message(row, [run]), seq, claimed=claimed, ended=room.ended)


def _untold(conversation: Conversation, wish: CallRequest) -> Turn | None:
    """The turn of the same request, open or over a short while ago, whose result nobody was told."""
    same = Turn.objects.filter(conversation=conversation, program=ASKED, client_id__startswith=f"{wish.client_id}-")
    turn = same.order_by("-id").first()
    fresh = turn is not None and (turn.ended_at is None or turn.ended_at > timezone.now() - FETCHABLE)
    return turn if fresh else None


def _pending(message: Message, asked: ToolCall, served: ToolCall) -> ToolRun:
    assert message.turn is not None
    tool = mcp_tools.named(served.name)
    return ToolRun.objects.create(
        turn=message.turn,
        message=message,
        call_id=f"program-{message.pk}",
        name=served.name,
        asked_as=asked.name,
        served_by=served.name,
        arguments=served.arguments,
        asked_arguments=asked.arguments if asked != served else None,
        status="pending",
        level=tool.level if tool else "",
        repairs=[*asked.repairs, BY_PROGRAM],
    )


@transaction.atomic
def state(turn_id: int) -> RequestedCallState:
    """What became of the call of a turn; once it is over, and was told, the same request is a new one."""
    turn = Turn.objects.get(pk=turn_id)
    run = turn.tool_runs.order_by("id")[0]
    if turn.status in OPEN:
        question = run.questions.filter(answer="").order_by("id").last() if turn.status == "waiting" else None
        return RequestedCallState(question=question.pk if question else None)
    Turn.objects.filter(pk=turn_id).update(program=TOLD)
    call: dict[str, Any] = present.call(run).to_json() | {"asked_as": run.asked_as}
    return RequestedCallState(call=call, result=run.result or run.error)


def profile(model: str) -> int:
    """The model a program names: `server/name`, a unique name or a number. Raises NotFound."""
    return picker.find(model)
