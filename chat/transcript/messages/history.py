"""Builds the canonical log from rows: a history for any model."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from uuid import UUID

from chat.models import AUTOMATIC, Conversation, ToolRun
from chat.statuses import CallStatus
from chat.tools import outside_content_sources
from chat.transcript import sql
from chat.transcript.messages import attachments
from chat.transcript.messages.present import branch
from chat.transcript.sql import MessageRow
from toolsupport import signature_memory
from toolsupport.core import outside_content, types
from toolsupport.core.outside_content import OutsideSource
from toolsupport.core.types import Role, ToolCall

INTERRUPTED = "This call was not finished: it was interrupted before it gave a result."


WAITS = (CallStatus.PENDING, CallStatus.WAITING)
EDITED = "edited by a person"
RAN = (CallStatus.DONE, CallStatus.FAILED, CallStatus.TIMEOUT)
# States of calls with a text, whole or partial, that the model reads.
RECEIVED = (*RAN, CallStatus.STOPPED)


@dataclass(frozen=True, slots=True)
class ModelHistory:
    """The history of a branch; `received` is the outside content in it, also where only answers depend on it."""

    messages: tuple[types.ChatMessage, ...]
    received: tuple[OutsideSource, ...]
    asked: str = ""


@dataclass(frozen=True, slots=True)
class StoredMessages:
    """All messages of a conversation, of all branches, and the calls of each."""

    rows: Sequence[MessageRow]
    runs: Mapping[int, list[ToolRun]]


def stored(conversation: UUID) -> StoredMessages:
    """Read them."""
    rows = sql.messages_in(conversation)
    runs: dict[int, list[ToolRun]] = defaultdict(list)
    if any(row.has_calls for row in rows):
        for run in sql.runs_of_conversation(conversation):
            runs[run.message_id].append(run)
    return StoredMessages(rows, runs)


def canonical(
    conversation: Conversation, turn_id: int | None = None, sees: bool = False
) -> tuple[types.ChatMessage, ...]:
    """Return the messages of the log."""
    return log_of(conversation, turn_id, sees).messages


def log_of(conversation: Conversation, turn_id: int | None = None, sees: bool = False) -> ModelHistory:
    """Return the branch that ends at `conversation.leaf`, without notices; each call has exactly one result.

    In a resumed turn waiting calls have no result yet. Images go to a model that `sees`.
    """
    return log_to(conversation.leaf_id, stored(conversation.pk), turn_id, sees)


def log_to(leaf: int | None, messages: StoredMessages, turn_id: int | None = None, sees: bool = False) -> ModelHistory:
    """Return the same for messages that are read already."""
    rows, runs = messages.rows, messages.runs
    log: list[types.ChatMessage] = []
    path = [row for row in branch(rows, leaf) if row.role != Role.NOTICE]
    shown = attachments.user_messages([row for row in path if row.attachments], sees)
    for row in path:
        log.extend([shown[row.pk]] if row.pk in shown else _entries(row, runs.get(row.pk, []), turn_id))
    received = outside_content.merged(*(_received(row, runs.get(row.pk, [])) for row in path))
    asked = next((row.content for row in reversed(path) if row.role == Role.USER), "")
    return ModelHistory(tuple(log), received, asked)


def _received(row: MessageRow, runs: list[ToolRun]) -> Iterator[OutsideSource]:
    """Yield the outside content of a message: attachments, results of its calls, and what its text depends on.

    The model reads the name of a file with the message, before it reads the file; others may have chosen it.
    """
    yield from outside_content.read(row.outside)
    for path in attachments.images(row.attachments):
        yield outside_content.named("the image", path)
    for path in attachments.files(row.attachments):
        yield outside_content.named("the name of the file", path)
    for run in runs:
        if run.status in RECEIVED and run.format != AUTOMATIC:
            at = run.started_at.isoformat()
            failed = run.status == CallStatus.FAILED
            found = outside_content_sources.of_failed_memory(run.name, at) if failed else None
            found = found or outside_content_sources.of_call(run.name, run.arguments, at)
            yield from [found] if found else []


def _entries(row: MessageRow, runs: list[ToolRun], turn_id: int | None) -> list[types.ChatMessage]:
    if row.role == Role.USER:
        return [types.ChatMessage(Role.USER, row.content)]
    # Calls of a program are left out: the model gets only the program's result.
    runs = [run for run in runs if run.program_id is None and run.format != AUTOMATIC and _counts(run, turn_id)]
    calls = tuple(call_of(run) for run in runs)
    if turn_id is not None and runs and runs[0].turn_id == turn_id:
        calls = signature_memory.signed(calls, partial(place_of, turn_id))
    content = _without_calls(row.content, runs)
    if not (content or calls):
        return []
    results = [_result(run) for run in runs if not _waits(run, turn_id)]
    return [types.ChatMessage(Role.ASSISTANT, content, row.thinking, calls), *results]


def place_of(turn_id: int, call: ToolCall) -> str:
    """Return under which key the signature of a call is remembered while its turn lasts."""
    return f"turn {turn_id} {call.id}"


def _counts(run: ToolRun, turn_id: int | None) -> bool:
    return not run.in_prose or run.status in RAN or _waits(run, turn_id)


def _waits(run: ToolRun, turn_id: int | None) -> bool:
    return run.turn_id == turn_id and run.status in WAITS


def _without_calls(content: str, runs: list[ToolRun]) -> str:
    """Show a call that was found in prose and ran as a call, not twice; one that did not run stays prose."""
    for run in runs:
        if run.in_prose and run.raw:
            content = content.replace(run.raw, "", 1).strip()
    return content


def call_of(run: ToolRun) -> ToolCall:
    """Return the call as the model made it; after a person's edit, the call that ran.

    A model that reads its own command again would assume that it was executed.
    """
    if run.asked_arguments is None or EDITED in run.repairs:
        return ToolCall(run.call_id, run.name, run.arguments)
    return ToolCall(run.call_id, run.asked_as, run.asked_arguments)


def _result(run: ToolRun) -> types.ChatMessage:
    content = run.result or run.error or INTERRUPTED
    return types.ChatMessage(Role.TOOL, content, call_id=run.call_id, name=call_of(run).name)
