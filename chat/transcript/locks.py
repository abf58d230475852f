"""One writer at a time in a conversation, where the database would let in several."""

from __future__ import annotations

import uuid

from chat.models import Conversation


def hold(*conversations: uuid.UUID) -> None:
    """Keep other writers out of these conversations (ids) until the transaction ends.

    Every change of a turn, a question or the end of a branch begins with this, so that no two wait for each other.
    Rows that merely refer to a conversation may still be written. On SQLite a transaction is alone anyway.
    """
    rows = Conversation.objects.filter(pk__in=conversations).order_by("pk")
    list(rows.select_for_update(no_key=True).values_list("pk", flat=True))


def leaf_of(conversation: uuid.UUID) -> int | None:
    """The last message of the branch that is shown, before another one is put after it."""
    hold(conversation)
    return Conversation.objects.values_list("leaf_id", flat=True).get(pk=conversation)
