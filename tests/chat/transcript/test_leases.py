"""Leases of turns: only the owner of a running turn writes and ends it, and only an expired lease interrupts it."""

from __future__ import annotations

import errno
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db.models import Value
from django.utils import timezone

from chat.models import Conversation, Message, ToolRun, Turn
from chat.transcript.turn_store import TurnStore
from chat.transcript.turns import leases as turn_leases
from chat.transcript.turns import record
from chat.transcript.turns.api_tool_call import CallRequest
from chat.transcript.turns.begin import AcceptedMessage, claim
from chat.transcript.turns.end import TurnEnd, TurnOutcome, close, end
from chat.transcript.turns.leases import keep_alive, keep_rest, settle
from chat.transcript.turns.regenerate import RegenerateRequest
from chat.transcript.turns.repeat_call import RepeatRequest
from chat.transcript.turns.sent_message import SentMessage
from tests.chat.started_turns import accept, reply_of
from tests.chat.transcript.losses import (
    ANOTHER,
    ME,
    dump,
    finished,
    interrupted,
    run_out,
    taken,
    waits,
)
from tests.factories import ConversationFactory, ModelProfileFactory
from toolsupport.core.errors import Busy, Lost
from toolsupport.core.types import ToolCall
from toolsupport.models import CallMetric
from toolsupport.registry import leases, storage
from toolsupport.registry.knowledge import overrides
from toolsupport.registry.metrics.call_metrics import CallCount

pytestmark = pytest.mark.django_db
WRITE = ToolCall("c1", "read_file", {"path": "a"})


@pytest.fixture
def conversation(alice: User) -> Conversation:
    profile = ModelProfileFactory()
    overrides.add(overrides.NewOverride(profile.pk, "tools", True))
    made: Conversation = ConversationFactory(owner=alice, profile=profile, title="")
    return made


@pytest.fixture
def begun(alice: User, conversation: Conversation) -> AcceptedMessage:
    """An answer that this process writes, with a call that waits to run."""
    accepted = accept(alice, str(conversation.pk), SentMessage("c1", "hello"), ME)
    asked = record.RequestedCall(WRITE, "native", "A1")
    record.finish_reply(
        TurnStore(ME, accepted.turn), reply_of(accepted).id, record.FinishedReply("So far", "", None, (asked,))
    )
    return accepted


# -- what the process writes for all of its turns: leases, texts, ends --


def text_of(turn: int) -> str:
    return Message.objects.filter(turn=turn, role="assistant").values_list("content", flat=True).get()


@pytest.mark.parametrize("loss", [taken, waits, interrupted, finished], ids=lambda loss: str(loss.__name__))
def test_the_heartbeat_of_a_turn_that_was_lost_changes_nothing(
    alice: User, conversation: Conversation, loss: Callable[[int], None]
) -> None:
    accepted = accept(alice, str(conversation.pk), SentMessage("c1", "hello"), ME)
    loss(accepted.turn)
    # As if another process wrote the message on: a text that is not finished could be written over.
    Message.objects.filter(pk=reply_of(accepted).id).update(finished=False, content="theirs")
    before = dump()
    pulse = keep_alive(ME, [accepted.turn], [(reply_of(accepted).id, "mine", "mine")])
    assert pulse.lost == {accepted.turn} and not pulse.stop
    assert dump() == before


# S6
def test_text_that_could_not_be_written_is_kept_although_the_turn_was_interrupted(
    alice: User, conversation: Conversation
) -> None:
    accepted = accept(alice, str(conversation.pk), SentMessage("c1", "hello"), ME)
    message = reply_of(accepted).id
    keep_alive(ME, [accepted.turn], [(message, "Once upon", "Hm")])
    run_out(accepted.turn)
    [ended] = settle()[0]
    assert ended.turn == accepted.turn
    keep_rest(ANOTHER, accepted.turn, (message, "Once upon a crime", "Hm"))
    assert text_of(accepted.turn) == "Once upon"
    keep_rest(ME, accepted.turn, (message, "Once upon a time", "Hm, yes"))
    assert text_of(accepted.turn) == "Once upon a time"
    Message.objects.filter(pk=message).update(content="Edited.")
    keep_rest(ME, accepted.turn, (message, "Once upon a time there was", "Hm, yes"))
    assert text_of(accepted.turn) == "Edited."


@pytest.mark.parametrize("loss", [taken, waits, interrupted, finished], ids=lambda loss: str(loss.__name__))
def test_the_end_of_a_turn_that_was_lost_changes_nothing(
    alice: User, conversation: Conversation, loss: Callable[[int], None]
) -> None:
    accepted = accept(alice, str(conversation.pk), SentMessage("c1", "hello"), ME)
    loss(accepted.turn)
    Message.objects.filter(pk=reply_of(accepted).id).update(finished=False, content="theirs")
    before = dump()
    outcome = TurnOutcome(
        "done", "", {"x": 1}, (reply_of(accepted).id, "mine", "mine", 1), (CallCount("native", "ready"),)
    )
    with pytest.raises(Lost):
        end(TurnStore(ME, accepted.turn), outcome)
    assert dump() == before


def test_the_end_of_a_turn_stores_the_counts_of_its_calls(begun: AcceptedMessage) -> None:
    end(TurnStore(ME, begun.turn), TurnOutcome("done", calls=(CallCount("native", "ready", calls=2),)))
    assert [*CallMetric.objects.values_list("format", "outcome", "calls")] == [("native", "ready", 2)]


def test_a_heartbeat_renews_the_lease_of_its_own_turns_only(alice: User) -> None:
    own, other = (accept(alice, str(ConversationFactory(owner=alice).pk), SentMessage("c", "x"), ME) for _ in range(2))
    taken(other.turn)
    for turn in (own.turn, other.turn):
        run_out(turn)
    keep_alive(ME, [own.turn, other.turn], [])
    assert [one.turn for one in settle()[0]] == [other.turn]


def test_a_sweep_leaves_what_runs_here_beside_what_ran_elsewhere(alice: User) -> None:
    here, other = (accept(alice, str(ConversationFactory(owner=alice).pk), SentMessage("c", "x"), ME) for _ in range(2))
    for turn in (here.turn, other.turn):
        run_out(turn)
    assert [ended.turn for ended in settle([here.turn])[0]] == [other.turn]
    assert Turn.objects.get(pk=here.turn).status == "running"


@pytest.mark.parametrize("renew", [True, False])
def test_between_heartbeats_texts_are_written_and_stops_are_read_without_a_new_lease(
    begun: AcceptedMessage, renew: bool
) -> None:
    Message.objects.update(finished=False)
    Turn.objects.filter(pk=begun.turn).update(stop_requested_at=timezone.now())
    before = Turn.objects.get(pk=begun.turn).lease_until
    pulse = keep_alive(ME, [begun.turn], [(reply_of(begun).id, "So far, so good", "")], renew)
    assert pulse.stop == {begun.turn} and not pulse.lost
    assert text_of(begun.turn) == "So far, so good"
    assert (Turn.objects.get(pk=begun.turn).lease_until != before) == renew
    assert keep_alive(ANOTHER, [begun.turn], [], renew).lost == {begun.turn}


def test_a_text_is_written_into_messages_of_its_own_turn_only(alice: User) -> None:
    own, other = (accept(alice, str(ConversationFactory(owner=alice).pk), SentMessage("c", "x"), ME) for _ in range(2))
    end(TurnStore(ME, own.turn), TurnOutcome("done", reply=(reply_of(other).id, "wrong", "", None)))
    assert text_of(other.turn) == ""


def test_a_reply_that_is_whole_is_not_written_over(begun: AcceptedMessage) -> None:
    keep_alive(ME, [begun.turn], [(reply_of(begun).id, "more", "")])
    assert text_of(begun.turn) == "So far"
    end(TurnStore(ME, begun.turn), TurnOutcome("done", reply=(reply_of(begun).id, "more", "", None)))
    assert text_of(begun.turn) == "So far"


# -- leases --

MOMENT = timezone.now().replace(microsecond=500_000)


@pytest.mark.parametrize(
    ("until", "gone"),
    [
        (MOMENT - timedelta(milliseconds=1), True),
        (MOMENT, False),
        (MOMENT + timedelta(milliseconds=1), False),
        (None, True),
    ],
)
def test_a_lease_holds_until_its_last_moment(
    begun: AcceptedMessage, monkeypatch: pytest.MonkeyPatch, until: Any, gone: bool
) -> None:
    Turn.objects.filter(pk=begun.turn).update(lease_until=until)
    monkeypatch.setattr(leases, "Now", lambda: Value(MOMENT))
    assert bool(settle()[0]) is gone


@pytest.mark.parametrize("status", ["queued", "waiting", "done", "failed", "stopped", "interrupted"])
def test_only_what_runs_is_interrupted(begun: AcceptedMessage, status: str) -> None:
    run_out(begun.turn)
    Turn.objects.filter(pk=begun.turn).update(status=status)
    assert settle()[0] == [] and Turn.objects.get(pk=begun.turn).status == status


def test_a_lease_that_is_renewed_in_the_last_moment_holds(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other process writes between the look at the expired turns and the change of each."""
    found = [accept(alice, str(ConversationFactory(owner=alice).pk), SentMessage("c", "x"), ME).turn for _ in range(2)]
    for turn in found:
        run_out(turn)
    ordinary = close

    def renewed_before(turn: Turn, reason: str) -> TurnEnd:
        keep_alive(ME, found, [])
        return ordinary(turn, reason)

    monkeypatch.setattr(turn_leases, "close", renewed_before)
    assert len(settle()[0]) == 1
    assert sorted(Turn.objects.filter(pk__in=found).values_list("status", flat=True)) == ["interrupted", "running"]


def test_a_new_lease_is_as_long_as_a_renewed_one(begun: AcceptedMessage) -> None:
    """Three heartbeats of 1.6 s may be missed."""
    first = Turn.objects.get(pk=begun.turn)
    keep_alive(ME, [begun.turn], [])
    renewed = Turn.objects.get(pk=begun.turn)
    for turn in (first, renewed):
        assert turn.lease_until is not None
        left = turn.lease_until - timezone.now()
        assert leases.TURN - timedelta(seconds=2) < left <= leases.TURN + timedelta(milliseconds=50)


def test_the_sweep_spares_what_runs_in_this_process(begun: AcceptedMessage) -> None:
    run_out(begun.turn)
    assert settle([begun.turn])[0] == []
    assert [one.turn for one in settle()[0]] == [begun.turn]


# S6
def test_the_only_process_of_a_database_waits_for_no_lease_of_another(begun: AcceptedMessage) -> None:
    assert settle(only=ME)[0] == [], "its own turn, whose task has not begun yet"
    assert [one.turn for one in settle(only=ANOTHER)[0]] == [begun.turn]
    assert settle(only=ANOTHER)[0] == []


# S6
def test_a_process_that_could_not_write_judges_no_lease(
    begun: AcceptedMessage, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = storage.StorageState()
    monkeypatch.setattr(storage, "state", state)
    run_out(begun.turn)
    state.failed(OSError(errno.ENOSPC, "full"))
    assert settle()[0] == []
    state.succeeded()
    assert settle()[0] == [], "its process needs time to renew it"
    monkeypatch.setattr(storage, "STEADY", 0.0)
    assert [one.turn for one in settle()[0]] == [begun.turn]


# -- room for another turn, in the process that runs one --


def begin(kind: str, person: User, conversation: Conversation, owner: str, reply: int) -> AcceptedMessage:
    here = str(conversation.pk)
    read = CallRequest(conversation.profile_id or 0, "read_file", {"path": "a"})
    ways: dict[str, Callable[[], AcceptedMessage]] = {
        "message": partial(accept, person, here, SentMessage("c2", "more"), owner),
        "again": partial(accept, person, here, RegenerateRequest("c2", reply), owner),
        "repeat": partial(accept, person, here, RepeatRequest("c2", str(ToolRun.objects.get().pk)), owner),
        "program": partial(accept, person, here, read, owner),
    }
    return ways[kind]()


@pytest.mark.parametrize("kind", ["message", "again", "repeat", "program"])
def test_what_runs_in_this_process_is_not_expired_by_the_next_message(
    alice: User, conversation: Conversation, begun: AcceptedMessage, kind: str
) -> None:
    ToolRun.objects.update(status="done")
    run_out(begun.turn)
    with pytest.raises(Busy) as caught:
        begin(kind, alice, conversation, ME, reply_of(begun).id)
    assert caught.value.limit == "conversation"
    assert Turn.objects.get(pk=begun.turn).status == "running"
    accepted = begin(kind, alice, conversation, ANOTHER, reply_of(begun).id)
    assert [one.turn for one in accepted.ended] == [begun.turn]


def test_what_waits_for_a_person_gives_way_in_every_process(
    alice: User, conversation: Conversation, begun: AcceptedMessage
) -> None:
    Turn.objects.filter(pk=begun.turn).update(status="waiting", owner="")
    assert [one.turn for one in begin("message", alice, conversation, ME, 0).ended] == [begun.turn]


def test_a_claimed_turn_carries_its_store(alice: User, conversation: Conversation) -> None:
    queued = accept(alice, str(conversation.pk), SentMessage("c1", "hello"))
    accepted = claim(queued.turn, ANOTHER)
    assert accepted is not None
    assert accepted.store == TurnStore(ANOTHER, queued.turn)
