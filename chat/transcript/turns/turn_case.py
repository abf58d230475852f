"""Makes a case of an exam out of a turn: its request, the tools, the results that its calls got, and the calls."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import OuterRef, Subquery, TextField, Value
from django.db.models.functions import Coalesce
from django.utils.text import slugify

from chat.models import AUTOMATIC, Memory, Message, ToolRun, Turn
from chat.statuses import OPEN, CallStatus
from chat.transcript.conversations.conversations import Person
from chat.transcript.messages import history
from chat.transcript.messages.history import RAN, call_of
from chat.transcript.settings import turn_settings
from chat.transcript.settings.turn_settings import ChatRequestContext
from chat.transcript.sql import MessageRow
from toolsupport.core.errors import NotFound
from toolsupport.core.exams.cases import (
    LONGEST_TEXT,
    MOST_CALLS,
    MOST_MESSAGES,
    MOST_RECORDED,
    ExamCase,
    ExpectedCall,
    RecordedResult,
)
from toolsupport.core.prompt.turn_context import with_notes
from toolsupport.core.types import JSON, ChatMessage, Role, ToolCall, ToolSpec

MOST_BYTES = 1_000_000  # bytes of the messages; a form of this site accepts twice as much
CUT = "\n… (cut: the text is too long for a case)"
NAME_WORDS = 6


@dataclass(frozen=True, slots=True)
class TurnCase:
    """A turn as a case. `cut` is how many of its first messages were left out."""

    case: ExamCase
    cut: int = 0


@dataclass(frozen=True, slots=True)
class OwnTurn:
    """A turn of the person who asks, with its conversation, model and comparison.

    `first` is its first message, `last_text` the last text of its answer.
    """

    row: Turn
    first: int
    last_text: str


def own_turn(person: Person, turn_id: int) -> OwnTurn:
    """Return a finished turn of the person's own conversations. Raises NotFound."""
    rows = Turn.objects.select_related("conversation", "profile__server", "comparison").exclude(status__in=OPEN)
    messages = Message.objects.filter(turn=OuterRef("pk"))
    last = messages.filter(role=Role.ASSISTANT).order_by("-id").values("content")[:1]
    memory = Memory.objects.filter(conversation=OuterRef("conversation")).order_by("-id")
    rows = rows.annotate(
        last_text=Coalesce(Subquery(last), Value(""), output_field=TextField()),
        first=Subquery(messages.order_by("id").values("pk")[:1]),
        memory_text=Subquery(memory.values("text")[:1]),
        memory_outside=Subquery(memory.values("outside")[:1]),
    )
    turn = rows.filter(first__isnull=False, pk=turn_id, conversation__owner_id=person.pk).first()
    if turn is None:
        raise NotFound("This answer does not exist.")
    conversation: Any = turn.conversation
    # The attribute in which `prompt_context` looks for the memory of a chat.
    conversation.memory_text, conversation.memory_outside = turn.memory_text, turn.memory_outside
    return OwnTurn(turn, turn.first, turn.last_text)


def of_turn(person: Person, turn_id: int) -> TurnCase:
    """Return a turn as a case. Raises NotFound, ConfigError."""
    return of_own(own_turn(person, turn_id))


def of_own(own: OwnTurn) -> TurnCase:
    """Return a turn of `own_turn` as a case. Raises NotFound, ConfigError."""
    turn, stored = own.row, history.stored(own.row.conversation_id)
    conversation, asked = turn.conversation, _question(own.first, stored.rows)
    if turn.program or asked is None:
        raise NotFound("This answer has no request of a person.")
    conversation.profile, conversation.leaf_id = turn.profile, asked.pk
    prepared = turn_settings.prepared(conversation)
    said = history.log_to(asked.pk, stored).messages
    system = ChatMessage(Role.SYSTEM, prepared.request_spec.system)
    log = [*([system] if system.content else ()), *with_notes(prepared.request_spec, said)]
    messages = fitting([replace(one, content=_short(one.content)) for one in log])
    runs = [run for each in stored.runs.values() for run in each if run.turn_id == turn.pk]
    case = _case(asked.content, messages, sorted(runs, key=lambda run: run.pk), prepared)
    return TurnCase(case, len(log) - len(messages))


def _question(first: int, rows: Sequence[MessageRow]) -> MessageRow | None:
    """Return the person's message that a turn answers; a regenerated answer has that of the turn before."""
    by_id, at = {row.pk: row for row in rows}, first
    while (found := by_id.get(at)) is not None and found.role != Role.USER:
        at = found.parent_id or 0
    return found


def fitting(log: Sequence[ChatMessage]) -> tuple[ChatMessage, ...]:
    """Return the end of a conversation that fits into a case, with its system message; it begins with a person's."""
    system = [message for message in log[:1] if message.role is Role.SYSTEM]
    rest = list(log[len(system) :])
    sizes = [_size(message) for message in rest]
    room, kept = MOST_BYTES - sum(map(_size, system)), 0
    while kept < min(len(rest), MOST_MESSAGES - len(system)) and sizes[-kept - 1] <= room:
        room -= sizes[-kept - 1]
        kept += 1
    chosen = rest[len(rest) - max(1, kept) :]
    while len(chosen) > 1 and chosen[0].role is not Role.USER:
        chosen = chosen[1:]
    return (*system, *chosen)


def _size(message: ChatMessage) -> int:
    calls = [call.arguments for call in message.calls]
    return len(message.content.encode(errors="replace")) + len(json.dumps(calls))


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - len(CUT)] + CUT


def _case(
    asked: str, messages: tuple[ChatMessage, ...], runs: Sequence[ToolRun], prepared: ChatRequestContext
) -> ExamCase:
    made = [run for run in runs if _counts(run)]
    recorded = [_recorded(call_of(run), run) for run in made]
    expected = [ExpectedCall(call.name, call.arguments) for call in map(call_of, made_well(made))]
    once = [call for place, call in enumerate(expected) if call not in expected[:place]]
    return ExamCase(
        id=slugify(" ".join(asked.split()[:NAME_WORDS]), allow_unicode=True)[:80] or "case",
        messages=messages,
        tools=_tools(prepared, [call_of(run) for run in made]),
        expected=tuple(once[:MOST_CALLS]),
        recorded=tuple(recorded[:MOST_RECORDED]),
    )


def _counts(run: ToolRun) -> bool:
    """Return whether a model made the call itself, and it ran."""
    return run.program_id is None and run.format != AUTOMATIC and run.status in RAN and bool(call_of(run).name)


def _recorded(call: ToolCall, run: ToolRun) -> RecordedResult:
    return RecordedResult(call.name, _short(run.result or run.error), call.arguments)


def made_well(runs: Sequence[ToolRun]) -> list[ToolRun]:
    """Return the calls that gave a result."""
    return [run for run in runs if run.status == CallStatus.DONE]


def _tools(prepared: ChatRequestContext, made: Sequence[ToolCall]) -> tuple[ToolSpec, ...]:
    """Return the tools of the chat, and those that were called and are not offered any more."""
    spec = prepared.request_spec
    every = [one.candidate.spec for one in prepared.toolbox.verdicts]
    found = {tool.name: tool for tool in spec.tools or every if tool.name in prepared.usable}
    known = {tool.name: tool for tool in (*spec.hidden, *every)}
    for call in made:
        found.setdefault(call.name, known.get(call.name) or _as_called(call))
    return tuple(found.values())


def _as_called(call: ToolCall) -> ToolSpec:
    properties: JSON = {name: {} for name in call.arguments}
    return ToolSpec(call.name, "", {"type": "object", "properties": properties, "required": []})
