"""Locks conversations, so that they have one writer at a time."""

from __future__ import annotations

import uuid

from chat.models import Conversation


def hold(*conversations: uuid.UUID) -> None:
    """Lock these conversations (ids) against other writers until the transaction ends.

    Every change of a turn, a question or the end of a branch begins with this, so that no deadlock occurs. Rows that
    only refer to a conversation may still be written. On SQLite a transaction is exclusive anyway.
    """
    rows = Conversation.objects.filter(pk__in=conversations).order_by("pk")
    list(rows.select_for_update(no_key=True).values_list("pk", flat=True))


def leaf_of(conversation: uuid.UUID) -> int | None:
    """Return the last message of the shown branch, before another one is added after it."""
    hold(conversation)
    return Conversation.objects.values_list("leaf_id", flat=True).get(pk=conversation)
