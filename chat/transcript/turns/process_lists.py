"""Which process runs what, as the rows say it."""

from __future__ import annotations

from collections.abc import Collection

from django.db.models import Q

from chat.models import OPEN, Conversation, Message, Turn


def leader_of(conversation_id: str) -> str:
    """The process that runs the turn of a conversation; "" where none runs."""
    rows = Turn.objects.filter(conversation_id=conversation_id, status="running")
    return rows.values_list("owner", flat=True).first() or ""


def writer_of(message_id: int) -> str:
    """The process that is writing a message at the moment, or runs a tool for it; "" where none does."""
    grows = Q(finished=False) | Q(tool_runs__status="running")
    rows = Message.objects.filter(grows, pk=message_id, turn__status="running")
    return rows.values_list("turn__owner", flat=True).first() or ""


def standings(conversations: Collection[str]) -> dict[str, tuple[int, int | None]]:
    """How far each conversation is: (the number of its last thing, its open turn or None)."""
    open_turns = Turn.objects.filter(conversation_id__in=conversations, status__in=OPEN)
    turns = dict(open_turns.values_list("conversation_id", "pk"))
    tails = Conversation.objects.filter(pk__in=conversations).values_list("pk", "tail")
    return {str(pk): (tail, turns.get(pk)) for pk, tail in tails}
