"""Ways to lose a turn, as other processes bring them about, and what the rows hold afterwards."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.core import serializers
from django.db.models import Model
from django.utils import timezone

from chat.models import Conversation, Grant, Memory, Message, Question, ResultTable, ToolRun, Turn
from chat.transcript.turn_store import TurnStore
from chat.transcript.turns.end import TurnOutcome, end
from chat.transcript.turns.leases import settle
from toolsupport.models import CallMetric, HistoryEntry, ModelProfile, PromptCount, ProvenCall

ME, ANOTHER = "me", "another"
ROWS: tuple[type[Model], ...] = (
    *(Conversation, Turn, Message, ToolRun, ResultTable, Question, Grant, Memory),
    *(ProvenCall, PromptCount, CallMetric, ModelProfile, HistoryEntry),
)


def run_out(turn_id: int) -> None:
    Turn.objects.filter(pk=turn_id).update(lease_until=timezone.now() - timedelta(seconds=1))


def interrupted(turn: int) -> None:
    """Another process saw that the lease had run out."""
    run_out(turn)
    assert [one.turn for one in settle()[0]] == [turn]


def taken(turn: int) -> None:
    """Another process runs it: it waited for a person meanwhile, say."""
    Turn.objects.filter(pk=turn).update(owner=ANOTHER)


def finished(turn: int) -> None:
    end(TurnStore(ME, turn), TurnOutcome("done"))


def finished_elsewhere(turn: int) -> None:
    """Another process took it and came to the end of it."""
    taken(turn)
    end(TurnStore(ANOTHER, turn), TurnOutcome("done"))


def waits(turn: int) -> None:
    """It waits for a person, though its row still names the process."""
    Turn.objects.filter(pk=turn).update(status="waiting")


def removed(turn: int) -> None:
    Conversation.objects.filter(turns=turn).update(leaf=None)
    Turn.objects.filter(pk=turn).delete()


LOSSES = (interrupted, taken, finished, waits, removed)


# What a reply shows of its model is true whoever owns the turn.
LEARNED = {"begins_inside", "begins_inside_build"}


def dump() -> list[str]:
    return [_rows(model) for model in ROWS]


def _rows(model: Any) -> str:
    fields = [field.name for field in model._meta.get_fields() if field.concrete and field.name not in LEARNED]
    return serializers.serialize("json", model._default_manager.order_by("pk"), fields=fields)
