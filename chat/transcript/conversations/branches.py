"""Handles the branches of a conversation: alternatives to a message, and which of them is shown."""

from __future__ import annotations

from collections.abc import Mapping

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from chat.models import Conversation, Message, Turn
from chat.statuses import OPEN
from chat.transcript.announcements import SelectedBranch, announce
from chat.transcript.conversations.conversations import Person, own
from toolsupport.core.errors import Busy, NotFound
from toolsupport.core.types import Role


def with_forks(rows: QuerySet[Message]) -> QuerySet[Message]:
    """Set `forked` to True on replies with an alternative; needs no further query."""
    others = Message.objects.filter(parent_id=OuterRef("parent_id")).exclude(pk=OuterRef("pk"))
    return rows.annotate(forked=Exists(others.exclude(role=Role.NOTICE)))


def siblings(row: Message) -> tuple[int, ...]:
    """Return the ids of all alternatives to this message, including itself, oldest first."""
    if not getattr(row, "forked", True):
        return (row.pk,)
    here = Message.objects.filter(conversation_id=row.conversation_id, parent_id=row.parent_id)
    return tuple(here.exclude(role=Role.NOTICE).order_by("id").values_list("pk", flat=True))


def cut(conversation: Conversation, parent: int) -> None:
    """Let the next message follow `parent` (0: at the beginning). Raises NotFound. Nothing is stored."""
    if parent and not conversation.messages.filter(pk=parent, finished=True).exists():
        raise NotFound("This message does not exist.")
    conversation.leaf_id = parent or None


@transaction.atomic
def select(person: Person, conversation_id: str, message_id: int) -> None:
    """Show the branch of a message, down to its newest end. Raises NotFound, Busy while an answer is written."""
    conversation = own(person, conversation_id, lock=True)
    parents = dict(conversation.messages.order_by("id").values_list("pk", "parent_id"))
    if message_id not in parents:
        raise NotFound("This message does not exist.")
    if Turn.objects.filter(conversation=conversation, status__in=OPEN).exists():
        raise Busy("An answer is still running here. Stop it or wait for its end.", "conversation")
    Conversation.objects.filter(pk=conversation.pk).update(leaf=tip(parents, message_id))
    announce(conversation.pk, SelectedBranch(message_id))


def tip(parents: Mapping[int, int | None], message_id: int) -> int:
    """Return the end of the path of newest children from here; `parents` is ordered by id."""
    newest = {parent: child for child, parent in parents.items() if parent is not None}
    while message_id in newest:
        message_id = newest[message_id]
    return message_id
