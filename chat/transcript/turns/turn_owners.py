"""Reads which process runs what."""

from __future__ import annotations

from collections.abc import Collection

from django.db.models import Q

from chat.models import Conversation, Message, Turn
from chat.statuses import OPEN, CallStatus, TurnStatus


def leader_of(conversation_id: str) -> str:
    """Return the process that runs the turn of a conversation; "" if none runs."""
    rows = Turn.objects.filter(conversation_id=conversation_id, status=TurnStatus.RUNNING)
    return rows.values_list("owner", flat=True).first() or ""


def writer_of(message_id: int) -> str:
    """Return the process that writes a message now, or runs a tool for it; "" if none does."""
    grows = Q(finished=False) | Q(tool_runs__status=CallStatus.RUNNING)
    rows = Message.objects.filter(grows, pk=message_id, turn__status=TurnStatus.RUNNING)
    return rows.values_list("turn__owner", flat=True).first() or ""


def standings(conversations: Collection[str]) -> dict[str, tuple[int, int | None]]:
    """Return how far each conversation is: (its newest announcement's number, its open turn or None)."""
    open_turns = Turn.objects.filter(conversation_id__in=conversations, status__in=OPEN)
    turns = dict(open_turns.values_list("conversation_id", "pk"))
    tails = Conversation.objects.filter(pk__in=conversations).values_list("pk", "tail")
    return {str(pk): (tail, turns.get(pk)) for pk, tail in tails}
