"""Deletes the conversations of a person, with their files, and the prompts that this person wrote."""

from __future__ import annotations

import uuid

from django.db import transaction
from django.db.models import Max, Q
from django.db.models.functions import Now

from chat.models import Conversation, Message, Prompt, Turn
from chat.statuses import OPEN, TurnStatus
from chat.transcript.settings import turn_settings
from toolsupport.core.types import Role
from toolsupport.registry import leases

# The notice in a conversation of another person that names an administrator who read it.
NAMING = "read_by_admin"


@transaction.atomic
def request_stops(person_id: int) -> None:
    """Ask every process to stop the answers of this person."""
    running = Turn.objects.filter(conversation__owner_id=person_id, status__in=OPEN, stop_requested_at=None)
    running.update(stop_requested_at=Now())


def delete_next(person_id: int) -> bool | None:
    """Delete one conversation with its files: True if one was deleted, False while all have running answers, None
    without any. An answer whose process is gone does not delay it: its lease has expired.
    """
    waiting = False
    for pk in Conversation.objects.filter(owner_id=person_id).order_by("pk").values_list("pk", flat=True):
        if _delete(pk):
            turn_settings.remove_workspace(str(pk))
            return True
        waiting = True
    return False if waiting else None


def _delete(pk: uuid.UUID) -> bool:
    with transaction.atomic():
        conversation = Conversation.objects.select_for_update().filter(pk=pk).first()
        running = Turn.objects.filter(conversation_id=pk, status=TurnStatus.RUNNING)
        if running.exclude(leases.ran_out()).exists():
            running.filter(stop_requested_at=None).update(stop_requested_at=Now())
            return False
        if conversation is not None:
            turn_settings.discard_workspace(str(pk))
            conversation.delete()
    return True


@transaction.atomic
def delete_prompts(person_id: int) -> int:
    """Delete the versions of prompts that this person wrote; return how many.

    A withdrawal by this person stays in force without its text, so that no older version is offered again.
    """
    newest = Prompt.objects.values("name").annotate(last=Max("pk")).values("last")
    mine = Prompt.objects.filter(written_by_id=person_id)
    others = Prompt.objects.exclude(written_by_id=person_id).values("name")
    kept = mine.filter(pk__in=newest, withdrawn=True, name__in=others)
    kept_ids = list(kept.values_list("pk", flat=True))
    Prompt.objects.filter(pk__in=kept_ids).update(text="", description="")
    return mine.exclude(Q(pk__in=kept_ids)).delete()[0]


@transaction.atomic
def forget_name(name: str, replacement: str) -> None:
    """Replace the name of an administrator in the notices of conversations that this person read."""
    for row in Message.objects.filter(role=Role.NOTICE, code=NAMING).only("pk", "facts").iterator():
        if row.facts and row.facts.get("person") == name:
            Message.objects.filter(pk=row.pk).update(facts=row.facts | {"person": replacement})
