"""Deletes old conversations and old raw exchanges, except those that are pinned."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from chat.models import Conversation, RawExchange, Turn
from chat.statuses import OPEN
from chat.transcript.settings import turn_settings


def old_chats(before: datetime) -> QuerySet[Conversation]:
    """Return the conversations that nothing has changed since; one with an open answer is not old."""
    answering = Turn.objects.filter(conversation=OuterRef("pk"), status__in=OPEN)
    recent = Turn.objects.filter(conversation=OuterRef("pk"), created_at__gte=before)
    rows = Conversation.objects.filter(updated_at__lt=before, pinned=False)
    return rows.exclude(Exists(answering)).exclude(Exists(recent))


def prune_chats(before: datetime, most: int) -> int:
    """Delete one conversation with its files, as its owner would; return how many, 0 without an old one."""
    for pk in old_chats(before).order_by("updated_at").values_list("pk", flat=True)[:1]:
        with transaction.atomic():
            held = Conversation.objects.select_for_update().filter(pk=pk).first()
            if held is None or not old_chats(before).filter(pk=pk).exists():
                return 0  # it was deleted or changed just now; the next run continues
            turn_settings.discard_workspace(str(pk))
            held.delete()
        turn_settings.remove_workspace(str(pk))
        return 1
    return 0


def old_exchanges(before: datetime) -> QuerySet[RawExchange]:
    """Return the raw exchanges from before that time."""
    return RawExchange.objects.filter(started_at__lt=before, conversation__pinned=False)


@transaction.atomic
def prune_exchanges(before: datetime, most: int) -> int:
    """Delete the oldest raw exchanges, at most so many; return how many."""
    oldest = list(old_exchanges(before).order_by("pk").values_list("pk", flat=True)[:most])
    RawExchange.objects.filter(pk__in=oldest).delete()
    return len(oldest)
