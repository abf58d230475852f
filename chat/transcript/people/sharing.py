"""Stores which conversations their owners share with others."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from chat.models import Conversation, Share
from chat.transcript.conversations.conversations import UNTITLED, Person, own, say
from chat.transcript.messages import present
from chat.transcript.messages.view_models import SharedConversation
from toolsupport.core.errors import NotFound
from toolsupport.registry.people import audit_log
from toolsupport.registry.people.permissions import Action, may

LISTED = 200
DEED = "read_conversation"


@dataclass(frozen=True, slots=True)
class ShownShare:
    """One valid share, with the name of the other person."""

    conversation: str
    title: str
    person: str
    since: datetime


@transaction.atomic
def share(person: Person, conversation_id: str, name: str) -> None:
    """Share the person's own conversation. Raises NotFound; ValueError with a message for an invalid reader."""
    conversation = own(person, conversation_id)
    reader = User.objects.filter(username=name.strip(), is_active=True).first()
    if reader is None or not may(reader, Action.CHAT):
        raise ValueError("No person of this name can read chats.")
    if reader.pk == person.pk:
        raise ValueError("You already own this chat.")
    Share.objects.get_or_create(conversation=conversation, reader=reader, withdrawn_at=None)


@transaction.atomic
def withdraw(person: Person, conversation_id: str, name: str) -> None:
    """Withdraw a share; the row stays as a record. Raises NotFound."""
    rows = Share.objects.filter(conversation=own(person, conversation_id), reader__username=name, withdrawn_at=None)
    rows.update(withdrawn_at=timezone.now())


def readers(person: Person, conversation_id: str) -> tuple[tuple[ShownShare, ...], tuple[audit_log.AuditEntry, ...]]:
    """Return who may read the person's own conversation, and administrators' reads with reasons. Raises NotFound."""
    conversation = own(person, conversation_id)
    rows = Share.objects.filter(conversation=conversation, withdrawn_at=None).select_related("conversation", "reader")
    return tuple(_shared(row, row.reader) for row in rows), audit_log.about(DEED, str(conversation.pk))


def with_me(person: Person) -> tuple[ShownShare, ...]:
    """Return the conversations shared with a person, newest first."""
    rows = Share.objects.filter(reader_id=person.pk, withdrawn_at=None, conversation__owner__is_active=True)
    rows = rows.select_related("conversation__owner").order_by("-id")
    return tuple(_shared(row, row.conversation.owner) for row in rows)


def read(person: Person, conversation_id: uuid.UUID) -> SharedConversation:
    """Return a conversation that is shared with the person. Raises NotFound, also for one that is not shared."""
    rows = Conversation.objects.filter(shares__reader_id=person.pk, shares__withdrawn_at=None, owner__is_active=True)
    row = rows.select_related("owner").filter(pk=conversation_id).first()
    if row is None:
        raise NotFound("This chat does not exist.")
    return _readable(row)


@dataclass(frozen=True, slots=True)
class ForeignConversation:
    """A conversation of another person, without its contents."""

    id: str
    owner: str
    updated_at: datetime


def of_others(person: Person) -> tuple[ForeignConversation, ...]:
    """Return the newest conversations of all others: owner and date, without the title."""
    rows = Conversation.objects.exclude(owner_id=person.pk).select_related("owner")[:LISTED]
    return tuple(_foreign(row) for row in rows)


def foreign(person: Person, conversation_id: uuid.UUID) -> ForeignConversation:
    """Return one of those. Raises NotFound."""
    return _foreign(_of_somebody_else(person, conversation_id))


@transaction.atomic
def look_into(person: Person, conversation_id: uuid.UUID, reason: str) -> SharedConversation:
    """Return the contents of another person's conversation; the owner is notified with the reason.

    Raises NotFound; ValueError with a message without a reason: then nothing is read.
    """
    row = _of_somebody_else(person, conversation_id)
    audit_log.write(person.pk or 0, DEED, str(row.pk), reason)
    found = _readable(row)
    say(row, "read_by_admin", {"person": person.get_username(), "reason": " ".join(reason.split())})
    return found


def _of_somebody_else(person: Person, conversation_id: uuid.UUID) -> Conversation:
    rows = Conversation.objects.exclude(owner_id=person.pk).select_related("owner")
    row = rows.filter(pk=conversation_id).first()
    if row is None:
        raise NotFound("This chat does not exist.")
    return row


def _foreign(row: Conversation) -> ForeignConversation:
    return ForeignConversation(str(row.pk), row.owner.get_username(), row.updated_at)


def _readable(row: Conversation) -> SharedConversation:
    return SharedConversation(str(row.pk), row.title or UNTITLED, row.owner.get_username(), present.messages(row))


def _shared(row: Share, person: User) -> ShownShare:
    title = row.conversation.title or UNTITLED
    return ShownShare(str(row.conversation_id), title, person.get_username(), row.shared_at)
