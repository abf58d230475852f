"""Stores the events of a running turn as they happen, only from the process that owns the turn."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.db import InterfaceError, OperationalError
from django.utils import timezone

from chat.models import AUTOMATIC, Conversation, Message, ResultTable, ToolRun, Turn
from chat.statuses import UNFINISHED, CallStatus
from chat.tools import BUILTINS
from chat.tools.policy import CallOutcome
from chat.transcript.announcements import (
    AddedNotice,
    Announcement,
    FinishedCall,
    FinishedMessage,
    RejectedCall,
    StartedCall,
    StartedMessage,
    announce,
)
from chat.transcript.conversations import branches
from chat.transcript.conversations.conversations import say
from chat.transcript.locks import leaf_of
from chat.transcript.messages import formatted, present, raw_exchanges
from chat.transcript.messages.raw_exchanges import PreparedExchanges
from chat.transcript.settings import chat_settings, turn_settings
from chat.transcript.turn_store import TurnStore, fenced
from toolsupport.core import outside_content
from toolsupport.core.errors import Lost
from toolsupport.core.outside_content import OutsideSource
from toolsupport.core.types import Role, ToolCall, ToolResult
from toolsupport.registry.knowledge import example_calls

log = logging.getLogger(__name__)

NOT_KEPT = ToolResult(
    "The tool ran, but its result could not be stored. The server's log has the reason.", is_error=True
)


@dataclass(frozen=True, slots=True)
class RequestedCall:
    """A requested call; `raw` is the model's original text, `program` the row of the program that made it.

    `served` is the call that runs in its place, if another tool does the same.
    """

    call: ToolCall
    format: str
    level: str
    raw: str = ""
    in_prose: bool = False
    program: int | None = None
    served: ToolCall | None = None


def automatic(call: ToolCall, level: str) -> RequestedCall:
    """Return a call that no model made: people see it, models do not."""
    return RequestedCall(call, AUTOMATIC, level)


@dataclass(frozen=True, slots=True)
class FinishedReply:
    """A complete assistant message with the raw `exchanges` behind it; `html` is None if it was not formatted yet."""

    text: str
    thinking: str
    thinking_ms: int | None
    calls: tuple[RequestedCall, ...] = ()
    exchanges: PreparedExchanges = ()
    html: str | None = None


@dataclass(frozen=True, slots=True)
class CallRejection:
    """A call that will not run, with the reason for the model (or the `program` that made it).

    `suggestion` is the tool that was probably meant. `format` names the text format in which it could not be parsed:
    then `raw` is in the text of the answer, too.
    """

    id: str
    name: str
    reason: str
    raw: str
    program: int | None = None
    format: str = ""
    suggestion: str = ""
    fault: str = ""  # a key of core.events.FAULTS


@fenced
def start_reply(turn: Turn, outside: Iterable[OutsideSource] = ()) -> Announcement[StartedMessage]:
    """Add an empty assistant message at the end of the branch; its text will depend on this outside content."""
    leaf = leaf_of(turn.conversation_id)
    row = Message.objects.create(
        conversation=turn.conversation,
        parent_id=leaf,
        role=Role.ASSISTANT,
        finished=False,
        turn=turn,
        outside=outside_content.stored(outside),
    )
    Conversation.objects.filter(pk=turn.conversation_id).update(leaf=row)
    return announce(turn.conversation_id, StartedMessage(present.message(row)))


@fenced
def finish_reply(turn: Turn, message_id: int, reply: FinishedReply) -> Announcement[FinishedMessage]:
    """Finish the message: its text is final. Its calls are stored, none of them started."""
    mine = branches.with_forks(Message.objects.select_related("conversation", "turn__profile")).filter(turn=turn)
    row = mine.get(pk=message_id)
    row.content, row.thinking, row.thinking_ms = reply.text, reply.thinking, reply.thinking_ms
    row.finished = True
    row.save(update_fields=["content", "thinking", "thinking_ms", "finished"])
    for asked in reply.calls:
        _pending(row, asked)
    raw_exchanges.keep(turn, row.pk, reply.exchanges)
    runs = list(row.tool_runs.order_by("id"))
    formatted.keep(row, present.readable(row.content, present.unreadable_calls(runs)), reply.html)
    shown = present.message(row, runs, siblings=branches.siblings(row))
    return announce(turn.conversation_id, FinishedMessage(shown))


def _pending(message: Message, asked: RequestedCall) -> None:
    served = asked.served or asked.call
    ToolRun.objects.create(
        turn=turn_of(message),
        message=message,
        call_id=asked.call.id,
        name=served.name,
        asked_as=asked.call.name,
        served_by=served.name,
        arguments=served.arguments,
        asked_arguments=asked.call.arguments if asked.call != served else None,
        status=CallStatus.PENDING,
        level=asked.level,
        format=asked.format,
        repairs=list(asked.call.repairs),
        raw=asked.raw,
        in_prose=asked.in_prose,
        program_id=asked.program,
    )


@fenced
def made_inside(turn: Turn, message_id: int, asked: RequestedCall) -> None:
    """Store a call of a program; it is announced as soon as it starts."""
    _pending(Message.objects.select_related("turn").get(pk=message_id, turn=turn), asked)


@fenced
def start_call(turn: Turn, call_id: str) -> Announcement[StartedCall]:
    """Store that a tool starts to run."""
    run = _unfinished(turn.pk, call_id)
    run.status, run.started_at = CallStatus.RUNNING, timezone.now()
    run.save(update_fields=["status", "started_at"])
    return announce(turn.conversation_id, StartedCall(run.message_id, present.card(run)))


def run_of(turn_id: int, call_id: str) -> int:
    """Return the row of an unanswered call."""
    return _unfinished(turn_id, call_id).pk


def _unfinished(turn_id: int, call_id: str) -> ToolRun:
    """Return the newest unfinished call, as some models repeat ids between rounds."""
    runs = ToolRun.objects.select_related("message__conversation").filter(turn_id=turn_id, call_id=call_id)
    found = runs.filter(status__in=UNFINISHED).order_by("id").last()
    assert found is not None
    return found


@fenced
def finish_call(turn: Turn, run_id: int, outcome: CallOutcome) -> Announcement[FinishedCall]:
    """Store the end of a tool."""
    runs = ToolRun.objects.select_related("message__conversation", "turn__profile__server")
    run, result = runs.get(pk=run_id, turn=turn), outcome.result
    run.status, run.duration_ms = outcome.status, outcome.duration_ms
    run.error, run.result = (result.content, "") if result.is_error else ("", result.content)
    run.snapshot = None
    run.save(update_fields=["status", "duration_ms", "error", "result", "snapshot"])
    if result.table:
        ResultTable.objects.create(run=run, csv=result.table)
    by_model = run.format != AUTOMATIC and run.asked_as == run.name and not run.turn.program
    if outcome.status == CallStatus.DONE and not result.is_error and run.name in BUILTINS and by_model:
        example_calls.keep(run.turn.profile.build.key, BUILTINS[run.name].spec, run.arguments)
    return announce(turn.conversation_id, FinishedCall(run.message_id, present.card(run)))


def close_call(store: TurnStore, run_id: int, outcome: CallOutcome) -> Announcement[FinishedCall]:
    """Store any result of a tool: one that cannot be stored fails its call, not the turn.

    Errors of the database itself, and a lost turn, are raised.
    """
    try:
        return finish_call(store, run_id, outcome)
    except (Lost, OperationalError, InterfaceError):
        raise
    except Exception:
        log.exception("could not store the result of call %s", run_id)
        return finish_call(store, run_id, replace(outcome, status=CallStatus.FAILED, result=NOT_KEPT))


@fenced
def reject_call(turn: Turn, message_id: int, rejection: CallRejection) -> Announcement[RejectedCall]:
    """Store a rejected call too, so that the page and the model get the reason."""
    message = Message.objects.select_related("conversation", "turn").get(pk=message_id, turn=turn)
    run = ToolRun.objects.create(
        turn=turn_of(message),
        message=message,
        call_id=rejection.id,
        name=rejection.name,
        status=CallStatus.REJECTED,
        error=rejection.reason,
        raw=rejection.raw,
        format=rejection.format,
        fault=rejection.fault,
        program_id=rejection.program,
    )
    thing = RejectedCall(message.pk, present.call(run), rejection.reason, rejection.suggestion)
    return announce(turn.conversation_id, thing)


def turn_of(message: Message) -> Turn:
    """Return the turn that writes a message; every assistant message has one."""
    assert message.turn is not None
    return message.turn


@fenced
def fall_back(turn: Turn, format_: str, code: str, facts: dict[str, str]) -> Announcement[AddedNotice]:
    """Continue the turn in another format, with a notice in the conversation."""
    Turn.objects.filter(pk=turn.pk).update(format=format_)
    return say(turn.conversation, code, facts)


@fenced
def note(turn: Turn, code: str, facts: dict[str, str]) -> Announcement[AddedNotice]:
    """Add a notice to the conversation."""
    return say(turn.conversation, code, facts)


@fenced
def offer_bash(turn: Turn, facts: dict[str, str]) -> Announcement[AddedNotice]:
    """Offer this model bash in this conversation from now on, with a notice."""
    chat_settings.change(turn.conversation_id, **{turn_settings.THROUGH_BASH: turn.profile_id})
    return say(turn.conversation, "through_bash", facts)


Notice = Announcement[AddedNotice]


@fenced
def notice_once(turn: Turn, code: str, facts: dict[str, str]) -> Notice | None:
    """Add a notice to the transcript, where no model reads it; None if the same one exists already."""
    return None if _stands(turn, code, facts) else say(turn.conversation, code, facts)


@fenced
def notice_of_context(turn: Turn, code: str, facts: dict[str, str], once: bool = False) -> Notice | None:
    """Add a notice of the model's context in a turn, with a link to its setting."""
    return None if once and _stands(turn, code, facts) else say(turn.conversation, code, facts, turn)


def _stands(turn: Turn, code: str, facts: dict[str, str]) -> bool:
    same = Message.objects.filter(conversation=turn.conversation_id, role=Role.NOTICE, code=code)
    return any(_compared(known) == _compared(facts) for known in same.values_list("facts", flat=True))


def _compared(facts: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the facts without a server's message, which may name the time or the number of the request."""
    return {name: value for name, value in (facts or {}).items() if name != "message"}
