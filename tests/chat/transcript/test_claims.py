"""Compared answers and turns: only the owner of a running row writes it, and an ended one never changes."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from chat.models import ComparedAnswer, Message, Turn
from chat.transcript.turns import comparisons
from chat.transcript.turns.end import request_stop, supersede
from chat.transcript.turns.leases import keep_alive, keep_rest
from chat.transcript.turns.sent_message import SentMessage
from tests.chat.finished_turns import asked
from tests.chat.started_turns import accept, reply_of
from tests.chat.transcript.losses import ANOTHER, ME, interrupted, waits
from tests.factories import ConversationFactory, ModelProfileFactory, ServerFactory
from toolsupport.registry import leases

pytestmark = pytest.mark.django_db
WRITES: dict[str, Callable[[int, str], Any]] = {
    "progress": lambda row, owner: comparisons.progress(row, owner, [{"text": "mine"}]),
    "conclude": lambda row, owner: comparisons.conclude(row, owner, {"replies": [{"text": "mine"}]}),
    "leave": lambda row, owner: comparisons.leave(owner),
}


def compared(person: User) -> Turn:
    """A finished turn that one other model is asked about, too."""
    turn = asked(ConversationFactory(owner=person, profile=ModelProfileFactory()), "Hello?", ())
    comparisons.begin(person, turn.pk, [ModelProfileFactory(server=ServerFactory(kind="vllm")).pk])
    return turn


def row() -> dict[str, Any]:
    return dict(ComparedAnswer.objects.values().latest("id"))


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize(("owner", "status"), [(ANOTHER, "running"), (ME, "cancelled"), (ME, "done")])
def test_a_compared_answer_is_its_owners_while_it_runs(alice: User, write: str, owner: str, status: str) -> None:
    compared(alice)
    claimed = comparisons.claim(owner)
    assert claimed
    ComparedAnswer.objects.filter(pk=claimed.id).update(status=status)
    before = row()
    WRITES[write](claimed.id, ME)
    assert row() == before


def test_two_processes_claim_an_answer_once(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    compared(alice)
    in_future = leases.in_future

    def faster(delta: timedelta) -> Any:
        later = timezone.now() + timedelta(minutes=1)
        if delta == comparisons.LEASE:
            ComparedAnswer.objects.update(status="running", owner=ANOTHER, lease_until=later)
        return in_future(delta)

    monkeypatch.setattr(leases, "in_future", faster)
    assert comparisons.claim(ME) is None and row()["owner"] == ANOTHER


def test_answers_that_ended_are_neither_cancelled_nor_counted(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    turn = compared(alice)
    ComparedAnswer.objects.update(status="done")
    comparisons.cancel(alice, turn.pk)
    assert row()["status"] == "done"
    monkeypatch.setattr(comparisons, "MOST_OPEN", 1)
    compared(alice)


def test_each_turn_shows_its_own_comparison(alice: User) -> None:
    first, second = compared(alice), compared(alice)
    for turn in (first, second):
        assert [one.profile for one in comparisons.shown(alice, turn.pk).answers] == [
            ComparedAnswer.objects.get(comparison=turn.pk).profile_id
        ]


def test_the_rest_of_an_answer_is_kept_behind_an_interruption_alone(alice: User) -> None:
    accepted = accept(alice, str(ConversationFactory(owner=alice).pk), SentMessage("c1", "hello"), ME)
    message = reply_of(accepted).id
    keep_alive(ME, [accepted.turn], [(message, "Once", "Hm")])
    keep_rest(ME, accepted.turn, (message, "Once upon", "Hm"))
    assert Message.objects.get(pk=message).content == "Once"
    interrupted(accepted.turn)
    keep_rest(ME, accepted.turn, (message, "Once upon", "Other thoughts"))
    assert Message.objects.get(pk=message).content == "Once"
    Turn.objects.filter(pk=accepted.turn).update(reason="by_an_admin")
    keep_rest(ME, accepted.turn, (message, "Once upon", "Hm"))
    assert Message.objects.get(pk=message).content == "Once"


def test_a_second_stop_changes_nothing_and_only_a_waiting_turn_is_superseded(alice: User) -> None:
    accepted = accept(alice, str(ConversationFactory(owner=alice).pk), SentMessage("c1", "hello"), ME)
    chat = str(Turn.objects.get(pk=accepted.turn).conversation_id)
    request_stop(alice, chat)
    first = Turn.objects.get(pk=accepted.turn).stop_requested_at
    request_stop(alice, chat)
    turns = Turn.objects.filter(pk=accepted.turn)
    assert turns.get().stop_requested_at == first and first is not None
    assert supersede(turns) == [] and turns.get().status == "running"
    waits(accepted.turn)
    assert [ended.turn for ended in supersede(turns)] == [accepted.turn]
