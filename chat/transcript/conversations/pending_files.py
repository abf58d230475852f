"""Stores which files of a chat wait for a message that was not sent yet."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from chat.models import Conversation
from chat.tools.files.workspace import Workspace
from chat.transcript.conversations.conversations import Person, own
from chat.transcript.settings import turn_settings
from toolsupport.core.errors import NotFound, ToolError

KEPT = timedelta(days=1)
MOST = 50


@dataclass(frozen=True, slots=True)
class PendingFile:
    """A file that was added to the message field at `at`. `changed` is its time of change then, in nanoseconds; 0 for
    one that replaced another file, which stays.
    """

    path: str
    at: str
    changed: int

    @property
    def expired(self) -> bool:
        return datetime.fromisoformat(self.at) < timezone.now() - KEPT


@transaction.atomic
def keep(person: Person, conversation_id: str, paths: Collection[str], replaced: bool = False) -> None:
    """Note files that were just added. Raises NotFound."""
    conversation = own(person, conversation_id, lock=True)
    files, now = turn_settings.workspace(str(conversation.pk)), timezone.now().isoformat()
    added = [PendingFile(path, now, 0 if replaced else _changed(files, path)) for path in paths]
    others = [one for one in _read(conversation.pending) if one.path not in paths]
    _write(conversation, [*others, *added][-MOST:])


@transaction.atomic
def forget(person: Person, conversation_id: str, paths: Collection[str]) -> None:
    """Drop the notes of files that were removed. Raises NotFound."""
    sent(own(person, conversation_id, lock=True), paths)


def sent(conversation: Conversation, paths: Collection[str]) -> None:
    """Drop the notes of files that are now part of a message. The conversation is locked."""
    left = [one for one in _read(conversation.pending) if one.path not in paths]
    if len(left) < len(conversation.pending):
        _write(conversation, left)


def shown(conversation_id: str, pending: Iterable[dict[str, Any]]) -> str:
    """Return those that still exist as JSON for the page: [{path, size}]."""
    files = turn_settings.workspace(conversation_id)
    there = [(one.path, _size(files, one.path)) for one in _read(pending) if not one.expired]
    return json.dumps([{"path": path, "size": size} for path, size in there if size >= 0])


def clear_old() -> None:
    """Delete files that were not sent within a day, unless they have changed since, and their notes."""
    for pk in Conversation.objects.exclude(pending=[]).values_list("pk", flat=True):
        with transaction.atomic():
            conversation = Conversation.objects.select_for_update().filter(pk=pk).first()
            if conversation is not None:
                _clear(conversation)


def _clear(conversation: Conversation) -> None:
    files, all_ = turn_settings.workspace(str(conversation.pk)), list(_read(conversation.pending))
    old = [one for one in all_ if one.expired]
    for one in old:
        if one.changed and one.changed == _changed(files, one.path):
            files.delete(one.path)
    if old:
        _write(conversation, [one for one in all_ if one not in old])


def _read(pending: Iterable[dict[str, Any]]) -> Iterator[PendingFile]:
    return (PendingFile(**one) for one in pending)


def _write(conversation: Conversation, found: Iterable[PendingFile]) -> None:
    conversation.pending = [asdict(one) for one in found]
    Conversation.objects.filter(pk=conversation.pk).update(pending=conversation.pending)


def _changed(files: Workspace, path: str) -> int:
    try:
        return files.changed(path)
    except (NotFound, ToolError):
        return 0


def _size(files: Workspace, path: str) -> int:
    try:
        return files.entry(path).size
    except (NotFound, ToolError):
        return -1
