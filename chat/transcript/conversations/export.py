"""Reads a whole conversation for export."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from chat.models import Message, ToolRun
from chat.transcript.conversations.conversations import UNTITLED, Person, own
from chat.transcript.messages import present, raw_exchanges
from chat.transcript.messages.present import branch
from chat.transcript.settings.prompt_context import memory_of
from toolsupport.core.types import Role


@dataclass(frozen=True, slots=True)
class ExportedMessage:
    """One entry; `model` is "server/name" for answers, `images` are paths of files.

    `ended` is how its turn ended, in the turn's last message only.
    """

    id: int
    parent: int | None
    role: str
    created_at: datetime
    text: str
    thinking: str = ""
    model: str = ""
    ended: str = ""
    code: str = ""
    calls: tuple[dict[str, Any], ...] = ()
    images: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ExportedConversation:
    """`messages` are those of all branches, in order; `shown` are the ids of the shown branch.

    `memory` is the text that is sent to the model with every message.
    """

    id: str
    title: str
    model: str
    created_at: datetime
    updated_at: datetime
    settings: dict[str, Any]
    messages: tuple[ExportedMessage, ...]
    shown: tuple[int, ...]
    memory: str = ""
    exchanges: tuple[dict[str, Any], ...] = ()


def export(person: Person, conversation_id: str, thinking: bool = False, raw: bool = False) -> ExportedConversation:
    """Return the complete contents, with `raw` also the stored raw exchanges. Raises NotFound.

    It contains the names of servers, but not their addresses and keys.
    """
    conversation = own(person, conversation_id)
    rows = list(conversation.messages.select_related("turn__profile__server").order_by("id"))
    last = {row.turn_id: row.pk for row in rows if row.role == Role.ASSISTANT}
    runs: dict[int, list[ToolRun]] = defaultdict(list)
    for run in ToolRun.objects.filter(message__conversation=conversation).order_by("id"):
        runs[run.message_id].append(run)
    profile = conversation.profile
    return ExportedConversation(
        id=str(conversation.pk),
        title=conversation.title or UNTITLED,
        model=f"{profile.server.name}/{profile.name}" if profile else "",
        created_at=conversation.created_at,
        updated_at=conversation.updated_at,
        settings={name: conversation.settings[name] for name in SETTINGS if name in conversation.settings},
        messages=tuple(_message(row, runs[row.pk], thinking, last.get(row.turn_id) == row.pk) for row in rows),
        shown=tuple(row.pk for row in branch(rows, conversation.leaf_id)),
        memory=memory_of(conversation.pk),
        exchanges=raw_exchanges.exported(conversation.pk) if raw else (),
    )


# Settings that a person made for the chat; the others are for the server.
SETTINGS = ("system", "temperature", "tools_on", "prompts")


def _message(row: Message, runs: list[ToolRun], thinking: bool, last: bool) -> ExportedMessage:
    turn = row.turn if row.role == Role.ASSISTANT else None
    writer = row.writer if turn else None
    return ExportedMessage(
        id=row.pk,
        parent=row.parent_id,
        role=row.role,
        created_at=row.created_at,
        text=present.text_of(row),
        thinking=row.thinking if thinking else "",
        model=f"{writer.server.name}/{writer.name}" if writer else "",
        ended=turn.status if turn and last else "",
        code=row.code,
        calls=tuple(_call(run, runs) for run in runs if run.program_id is None),
        images=tuple(row.attachments),
    )


def _call(run: ToolRun, beside: list[ToolRun]) -> dict[str, Any]:
    """Return a call; `calls` are those that it made itself, if it is a program."""
    inner = [_call(one, []) for one in beside if one.program_id == run.pk]
    return {
        "id": run.call_id,
        "name": run.name,
        "arguments": run.arguments,
        "status": run.status,
        "format": run.format,
        "started_at": run.started_at.isoformat(),
        "duration_ms": run.duration_ms,
        "result": run.result,
        "error": run.error,
    } | ({"calls": inner} if inner else {})
