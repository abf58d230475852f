"""Runs a program's call in a conversation, in a turn without a model; its result is returned once."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from chat.mcp import mcp_tools
from chat.models import Conversation, Message, ToolRun, Turn
from chat.statuses import OPEN, CallStatus, TurnStatus
from chat.transcript.messages import present
from chat.transcript.settings import turn_settings
from chat.transcript.turns.begin import Draft
from toolsupport.core import call_validation, shell_translation
from toolsupport.core.errors import Busy
from toolsupport.core.events import CallRejected
from toolsupport.core.types import JSON, RequestSpec, Role, ToolCall
from toolsupport.registry.models import picker

# How long the result of a call waits to be fetched by the same request.
FETCHABLE = timedelta(minutes=10)
ASKED, TOLD = "asked", "told"
BY_PROGRAM = "asked for by a program"


class InvalidCall(ValueError):
    """An invalid call; `param` names the wrong field."""

    def __init__(self, message: str, param: str) -> None:
        super().__init__(message)
        self.param = param


@dataclass(frozen=True, slots=True)
class CallRequest:
    """A program's call, treated as if the model (the id of its profile) had made it."""

    profile: int
    name: str
    arguments: JSON

    def client_id_in(self, conversation: Conversation) -> str:
        """Return that of the same request while its result is unfetched; else a new one. Raises Busy."""
        request = json.dumps([self.profile, self.name, self.arguments], sort_keys=True).encode(errors="replace")
        key = f"program-{hashlib.sha256(request).hexdigest()[:40]}-"
        turns = Turn.objects.filter(conversation=conversation)
        before = _not_fetched(turns.filter(program=ASKED, client_id__startswith=key).order_by("-id").first())
        if before is not None:
            return before.client_id
        if turns.filter(status=TurnStatus.WAITING).exists():
            raise Busy("A question is open in this chat. Answer it first.", "conversation")
        return f"{key}{turns.count()}"

    def draft(self, conversation: Conversation) -> Draft:
        """Raises ConfigError, InvalidCall."""
        conversation.profile_id = self.profile
        prepared = turn_settings.prepared(conversation)
        call = _pending(*checked(self, prepared.request_spec))
        message = Message(conversation=conversation, parent_id=conversation.leaf_id, role=Role.ASSISTANT)
        return Draft(prepared, message, call, program=ASKED)


@dataclass(frozen=True, slots=True)
class RequestedCallState:
    """The progress of a call: an open `question`, or the complete `call` with its `result`; else it runs."""

    question: int | None = None
    call: JSON | None = None
    result: str = ""


def checked(wish: CallRequest, request_spec: RequestSpec) -> tuple[ToolCall, ToolCall]:
    """Return the requested call, and the one that runs for it. Raises InvalidCall."""
    left_out = next((one for one in request_spec.excluded if one.tool == wish.name), None)
    call = ToolCall("program", wish.name, wish.arguments)
    found = call_validation.check(call, request_spec.callable)
    if not isinstance(found, CallRejected):
        return found.call, shell_translation.serve(found.call, request_spec).call
    if found.fault == "schema":
        raise InvalidCall(found.reason, "arguments")
    raise InvalidCall(f"This model may not call {wish.name}: {left_out.reason}" if left_out else found.reason, "name")


def _not_fetched(turn: Turn | None) -> Turn | None:
    """Return the turn, while it is open or its result may still be fetched."""
    fresh = turn is not None and (turn.ended_at is None or turn.ended_at > timezone.now() - FETCHABLE)
    return turn if fresh else None


def _pending(asked: ToolCall, served: ToolCall) -> ToolRun:
    tool = mcp_tools.named(served.name)
    return ToolRun(
        call_id="program",
        name=served.name,
        asked_as=asked.name,
        served_by=served.name,
        arguments=served.arguments,
        asked_arguments=asked.arguments if asked != served else None,
        status=CallStatus.PENDING,
        level=tool.level if tool else "",
        repairs=[*asked.repairs, BY_PROGRAM],
    )


@transaction.atomic
def state(turn_id: int) -> RequestedCallState:
    """Return the progress of a turn's call; after its result was fetched, the same request is a new one."""
    turn = Turn.objects.get(pk=turn_id)
    run = turn.tool_runs.order_by("id")[0]
    if turn.status in OPEN:
        question = run.questions.filter(answer="").order_by("id").last() if turn.status == TurnStatus.WAITING else None
        return RequestedCallState(question=question.pk if question else None)
    Turn.objects.filter(pk=turn_id).update(program=TOLD)
    call: dict[str, Any] = present.call(run).to_json() | {"asked_as": run.asked_as}
    return RequestedCallState(call=call, result=run.result or run.error)


def profile(model: str) -> int:
    """Return the model that a program names: `server/name`, a unique name or a number. Raises NotFound."""
    return picker.find(model)
