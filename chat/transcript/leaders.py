"""Which process runs what, as the rows say it."""

from __future__ import annotations

from chat.models import Message, Turn


def leader_of(conversation_id: str) -> str:
    """The process that runs the turn of a conversation; "" where none runs."""
    rows = Turn.objects.filter(conversation_id=conversation_id, status="running")
    return rows.values_list("owner", flat=True).first() or ""


def writer_of(message_id: int) -> str:
    """The process that is writing a message at the moment; "" where none is."""
    rows = Message.objects.filter(pk=message_id, finished=False, turn__status="running")
    return rows.values_list("turn__owner", flat=True).first() or ""
