"""The life of a turn in rows: accepted once, claimed once, ended once, interrupted only by its lease."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from chat.broadcast import fragments
from chat.models import Conversation, Message, Question, ToolRun, Turn
from chat.tools import BUILTINS, policy
from chat.tools.sandbox.self_test_cache import STILL
from chat.transcript.announcements import AskedQuestion, FinishedMessage, StartedCall
from chat.transcript.conversations.conversations import say
from chat.transcript.messages.history import INTERRUPTED, canonical
from chat.transcript.questions import questions
from chat.transcript.turn_store import TurnStore
from chat.transcript.turns import record, resume
from chat.transcript.turns.begin import AcceptedMessage, claim
from chat.transcript.turns.end import TurnOutcome, end, request_stop
from chat.transcript.turns.leases import keep_alive, settle
from chat.transcript.turns.sent_message import SentMessage
from tests.chat.started_turns import accept, numbers, reply_of, things
from tests.factories import ConversationFactory, ModelProfileFactory
from toolsupport.core.errors import Busy, ConfigError, Conflict, Lost, NotFound
from toolsupport.core.types import Role, ToolCall, ToolResult
from toolsupport.registry import raw_sql

pytestmark = pytest.mark.django_db


@pytest.fixture
def conversation(alice: User) -> Conversation:
    return ConversationFactory(owner=alice, title="")


def sent(alice: User, conversation: Conversation, client_id: str = "c1", text: str = "hello") -> AcceptedMessage:
    return accept(alice, str(conversation.pk), SentMessage(client_id, text))


def run_out(turn_id: int) -> None:
    Turn.objects.filter(pk=turn_id).update(lease_until=timezone.now() - timedelta(seconds=1))


def test_accepting_keeps_message_turn_and_number(alice: User, conversation: Conversation) -> None:
    accepted = sent(alice, conversation, text="  Where is\nthe config? ")
    conversation.refresh_from_db()
    assert numbers(accepted) == [conversation.tail] == [1]
    assert conversation.title == "Where is the config?"
    assert conversation.leaf_id == accepted.message.id
    assert Turn.objects.get(pk=accepted.turn).status == "queued"


# C5
def test_the_same_client_id_is_one_turn(alice: User, conversation: Conversation) -> None:
    first, second = sent(alice, conversation), sent(alice, conversation)
    assert (second.turn, second.message.id, second.repeated) == (first.turn, first.message.id, True)
    assert Message.objects.count() == 1


def test_a_foreign_conversation_looks_like_none(bob: User, conversation: Conversation) -> None:
    with pytest.raises(NotFound) as foreign:
        accept(bob, str(conversation.pk), SentMessage("c", "x"))
    with pytest.raises(NotFound) as absent:
        accept(bob, "00000000-0000-0000-0000-000000000000", SentMessage("c", "x"))
    assert str(foreign.value) == str(absent.value)


# C9
def test_one_open_turn_in_a_conversation(alice: User, conversation: Conversation) -> None:
    sent(alice, conversation)
    with pytest.raises(Busy) as caught:
        sent(alice, conversation, "c2")
    assert caught.value.limit == "conversation"
    assert Message.objects.count() == 1


def test_four_open_turns_for_one_person(alice: User) -> None:
    for _ in range(4):
        sent(alice, ConversationFactory(owner=alice))
    with pytest.raises(Busy) as caught:
        sent(alice, ConversationFactory(owner=alice))
    assert caught.value.limit == "person"


def test_what_waits_for_an_answer_does_not_count_as_running(alice: User) -> None:
    for _ in range(6):
        waiting = sent(alice, ConversationFactory(owner=alice))
        Turn.objects.filter(pk=waiting.turn).update(status="waiting")
    assert sent(alice, ConversationFactory(owner=alice)).turn


def test_without_a_model_nothing_is_kept(alice: User) -> None:
    with pytest.raises(ConfigError):
        sent(alice, ConversationFactory(owner=alice, profile=None))
    assert not Message.objects.exists() and not Turn.objects.exists()


def test_a_message_gives_a_conversation_without_a_model_the_first_choice(alice: User) -> None:
    empty, profile = ConversationFactory(owner=alice, profile=None), ModelProfileFactory()
    turn = Turn.objects.get(pk=sent(alice, empty).turn)
    empty.refresh_from_db()
    assert turn.profile_id == empty.profile_id == profile.pk


def test_a_turn_can_begin_in_the_transaction_that_accepts_it(alice: User, conversation: Conversation) -> None:
    accepted = accept(alice, str(conversation.pk), SentMessage("c1", "hello"), "me")
    turn = Turn.objects.get(pk=accepted.turn)
    assert (turn.status, turn.owner) == ("running", "me")
    assert turn.capabilities["tools"]["reason"] and turn.capabilities["tools"]["source"] == "default"
    assert accepted.claimed is not None and [m.content for m in accepted.claimed.history] == ["hello"]
    assert reply_of(accepted).parent == accepted.message.id
    conversation.refresh_from_db()
    assert (conversation.leaf_id, conversation.tail) == (reply_of(accepted).id, numbers(accepted)[-1])


def test_the_last_text_is_written_with_the_end(alice: User, conversation: Conversation) -> None:
    accepted = accept(alice, str(conversation.pk), SentMessage("c1", "hello"), "me")
    html = "<p>whole text</p>\n"
    outcome = TurnOutcome("done", reply=(reply_of(accepted).id, "whole text", "hm", 7), html=html)
    ended = end(TurnStore("me", accepted.turn), outcome)
    assert things(ended.announced, FinishedMessage)[0].message.html == html
    stored = Message.objects.get(pk=reply_of(accepted).id)
    assert (stored.content, stored.thinking, stored.thinking_ms, stored.finished) == ("whole text", "hm", 7, True)


def test_of_two_who_claim_one_gets_it(alice: User, conversation: Conversation) -> None:
    turn_id = sent(alice, conversation).turn
    claimed = claim(turn_id, "me")
    assert claimed is not None
    assert [message.content for message in claimed.history] == ["hello"]
    assert claim(turn_id, "another") is None


def test_only_a_lease_that_ran_out_interrupts(alice: User, conversation: Conversation) -> None:
    turn_id = sent(alice, conversation).turn
    claim(turn_id, "me")
    assert settle() == ([], [])
    run_out(turn_id)
    ended, _ = settle()
    assert [(one.turn, one.reason) for one in ended] == [(turn_id, "interrupted")]
    assert settle() == ([], [])


def test_a_turn_that_died_before_its_first_heartbeat_is_interrupted(alice: User, conversation: Conversation) -> None:
    turn_id = accept(alice, str(conversation.pk), SentMessage("c1", "hello"), owner="dead").turn
    # As SQLite's own clock writes it: with three digits, where Django compares with six.
    raw_sql.change("UPDATE chat_turn SET lease_until = %s WHERE id = %s", "2026-01-01 00:00:00.260", turn_id)
    assert [one.turn for one in settle()[0]] == [turn_id]


def test_a_dead_answer_does_not_block_the_next_message(alice: User, conversation: Conversation) -> None:
    turn_id = sent(alice, conversation).turn
    claim(turn_id, "dead")
    run_out(turn_id)
    assert sent(alice, conversation, "c2").turn != turn_id
    assert Turn.objects.get(pk=turn_id).status == "interrupted"


def test_queued_turns_nobody_claimed_are_offered(alice: User, conversation: Conversation) -> None:
    turn_id = sent(alice, conversation).turn
    Turn.objects.update(created_at=timezone.now() - timedelta(seconds=9))
    assert settle() == ([], [turn_id])


def test_a_turn_that_was_lost_writes_nothing_more(alice: User, conversation: Conversation) -> None:
    turn_id = sent(alice, conversation).turn
    claim(turn_id, "me")
    reply = record.start_reply(TurnStore("me", turn_id)).thing.message
    assert keep_alive("me", [turn_id], [(reply.id, "so far", "hm")]).lost == frozenset()
    run_out(turn_id)
    settle()
    pulse = keep_alive("me", [turn_id], [(reply.id, "more than so far", "")])
    assert pulse.lost == {turn_id}
    assert Message.objects.get(pk=reply.id).content == "so far"
    with pytest.raises(Lost):
        end(TurnStore("me", turn_id), TurnOutcome("done"))


def test_a_stop_is_heard_by_the_owner(alice: User, conversation: Conversation) -> None:
    turn_id = sent(alice, conversation).turn
    claim(turn_id, "me")
    assert request_stop(alice, str(conversation.pk)) == (turn_id, None)
    assert keep_alive("me", [turn_id], []).stop == {turn_id}
    end(TurnStore("me", turn_id), TurnOutcome("stopped", "by_you"))
    assert request_stop(alice, str(conversation.pk)) == (None, None)


def asked_call(number: int, name: str = "read_file") -> record.RequestedCall:
    return record.RequestedCall(ToolCall(f"c{number}", name, {"path": "a"}), "native", "A1")


def test_the_end_closes_what_was_open_and_numbers_it(alice: User, conversation: Conversation) -> None:
    turn_id = sent(alice, conversation).turn
    claimed = claim(turn_id, "me")
    assert claimed is not None
    record.finish_reply(
        TurnStore("me", turn_id), claimed.reply, record.FinishedReply("", "", None, (asked_call(0), asked_call(1)))
    )
    before, started = record.start_call(TurnStore("me", turn_id), "c0")
    ended = end(TurnStore("me", turn_id), TurnOutcome("stopped", "by_you", {"output_tokens": 3}))
    assert [seq for seq, _ in ended.announced] == [
        before + 1,
        before + 2,
    ] and Conversation.objects.get().tail == before + 2
    last = things(ended.announced, FinishedMessage)[-1].message
    assert (last.finished, last.ended, last.ended_detail) == (True, "stopped", "Stopped by you.")
    assert last.calls[0].id == started.call.id
    assert {one.status for one in last.calls} == {"stopped"}


# F7: a kill between a call and its result still gives every call one answer.
def test_the_log_answers_every_call(alice: User, conversation: Conversation) -> None:
    turn_id = sent(alice, conversation).turn
    claimed = claim(turn_id, "me")
    assert claimed is not None
    record.reject_call(
        TurnStore("me", turn_id), claimed.reply, record.CallRejection("c9", "nothing", "No such tool.", "")
    )
    calls = (asked_call(0), asked_call(1, "list_directory"))
    record.finish_reply(TurnStore("me", turn_id), claimed.reply, record.FinishedReply("", "", None, calls))
    first = record.start_call(TurnStore("me", turn_id), "c0").thing.call
    record.finish_call(TurnStore("me", turn_id), int(first.id), policy.CallOutcome("done", ToolResult("contents"), 5))
    say(conversation, "tools_refused", {"model": "m"})
    conversation.refresh_from_db()
    log = canonical(conversation)
    assert [message.role for message in log] == [Role.USER, Role.ASSISTANT, Role.TOOL, Role.TOOL, Role.TOOL]
    assert [message.content for message in log[2:]] == ["No such tool.", "contents", INTERRUPTED]
    assert [call.id for call in log[1].calls] == [message.call_id for message in log[2:]]


def test_an_unreadable_call_is_shown_once(alice: User, conversation: Conversation) -> None:
    """On its card; the model reads its own words as it wrote them."""
    turn_id = sent(alice, conversation).turn
    claimed = claim(turn_id, "me")
    assert claimed is not None
    store, raw = TurnStore("me", turn_id), '<tool_call>{"name": </tool_call>'
    for rejection in (
        record.CallRejection("c1", "", "Cannot be read.", raw, format="hermes"),
        record.CallRejection("c2", "read_file", "No path.", "{}"),
    ):
        record.reject_call(store, claimed.reply, rejection)
    shown = record.finish_reply(
        store, claimed.reply, record.FinishedReply(f"Look at {{}}: {raw}", "", None)
    ).thing.message
    assert "tool_call" not in shown.text + shown.html and "Look at {}" in shown.html
    assert [(call.phrase, call.raw) for call in shown.calls] == [("Unreadable call", raw), ("Did not read", "{}")]
    card = fragments.call(shown.calls[0])
    assert "Original call" in card and "Unreadable call" in card
    conversation.refresh_from_db()
    assert raw in canonical(conversation)[1].content


# T11 C2
def test_a_parked_turn_goes_on_from_rows_alone(alice: User, conversation: Conversation) -> None:
    turn_id = sent(alice, conversation).turn
    claimed = claim(turn_id, "me")
    assert claimed is not None
    calls = (asked_call(0), asked_call(1, "write_file"), asked_call(2))
    record.finish_reply(TurnStore("me", turn_id), claimed.reply, record.FinishedReply("", "", None, calls))
    first = record.start_call(TurnStore("me", turn_id), "c0").thing.call
    record.finish_call(TurnStore("me", turn_id), int(first.id), policy.CallOutcome("done", ToolResult("contents"), 5))
    asking = questions.ApprovalRequest(calls[1].call, "Write?", "+x", grantable=True)
    parked = questions.park(
        TurnStore("me", turn_id), record.run_of(turn_id, "c1"), asking, questions.TurnUsage({"output_tokens": 7})
    )
    [card], [asked] = things(parked, StartedCall), things(parked, AskedQuestion)
    assert card.call.question == asked.question
    assert settle() == ([], []) and claim(turn_id, "another") is None
    closed = questions.answer(alice, Question.objects.get().pk, questions.SubmittedAnswer("once"))
    assert closed.turn == turn_id
    with pytest.raises(Conflict):
        questions.answer(alice, Question.objects.get().pk, questions.SubmittedAnswer("deny"))
    again = claim(turn_id, "another")
    assert again is not None and again.resumed is not None
    resumed = again.resumed
    assert [call.id for call in resumed.pending] == ["c1", "c2"]
    assert resumed.decisions == {"c1": questions.ApprovalDecision(True, level="A1")}
    assert [message.call_id for message in again.history if message.role == Role.TOOL] == ["c0"]
    assert (resumed.rounds, [call.id for call in resumed.done], resumed.usage) == (1, ["c0"], {"output_tokens": 7})


def test_a_turn_waits_for_the_self_test_of_its_tool(
    alice: User, conversation: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a restart of a busy machine: a tool that is not tested yet would count as switched off."""
    turn_id = sent(alice, conversation).turn
    claimed = claim(turn_id, "me")
    assert claimed is not None
    calls = (asked_call(0, "write_file"),)
    record.finish_reply(TurnStore("me", turn_id), claimed.reply, record.FinishedReply("", "", None, calls))
    asking = questions.ApprovalRequest(calls[0].call, "Write?", "", grantable=True)
    questions.park(TurnStore("me", turn_id), record.run_of(turn_id, "c0"), asking, questions.TurnUsage({}))
    questions.answer(alice, Question.objects.get().pk, questions.SubmittedAnswer("once"))
    Turn.objects.update(created_at=timezone.now() - timedelta(seconds=9))
    missing = [STILL]
    tested = replace(BUILTINS["write_file"], needs=lambda: missing[0])
    monkeypatch.setattr(resume, "BUILTINS", {**BUILTINS, "write_file": tested})
    assert claim(turn_id, "another") is None and settle() == ([], [turn_id])
    missing[0] = ""
    again = claim(turn_id, "another")
    assert again is not None and again.resumed is not None and again.resumed.decisions["c0"].allowed


def test_an_approval_is_for_exactly_this_call(alice: User, bob: User, conversation: Conversation) -> None:
    turn_id = sent(alice, conversation).turn
    claimed = claim(turn_id, "me")
    assert claimed is not None
    record.finish_reply(
        TurnStore("me", turn_id), claimed.reply, record.FinishedReply("", "", None, (asked_call(0, "write_file"),))
    )
    asking = questions.ApprovalRequest(asked_call(0, "write_file").call, "Write?", "", grantable=True)
    questions.park(TurnStore("me", turn_id), record.run_of(turn_id, "c0"), asking, questions.TurnUsage({}))
    with pytest.raises(NotFound):
        questions.answer(bob, Question.objects.get().pk, questions.SubmittedAnswer("once"))
    questions.answer(alice, Question.objects.get().pk, questions.SubmittedAnswer("once"))
    ToolRun.objects.update(arguments={"path": "elsewhere"})
    again = claim(turn_id, "me")
    assert again is not None and again.resumed is not None
    assert again.resumed.decisions["c0"].allowed is False


def test_a_question_runs_out(alice: User, conversation: Conversation) -> None:
    turn_id = sent(alice, conversation).turn
    claimed = claim(turn_id, "me")
    assert claimed is not None
    record.finish_reply(
        TurnStore("me", turn_id), claimed.reply, record.FinishedReply("", "", None, (asked_call(0, "write_file"),))
    )
    asking = questions.ApprovalRequest(asked_call(0, "write_file").call, "Write?", "", grantable=True)
    questions.park(TurnStore("me", turn_id), record.run_of(turn_id, "c0"), asking, questions.TurnUsage({}))
    assert questions.expire() == []
    Question.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    with pytest.raises(Conflict, match="expired"):
        questions.answer(alice, Question.objects.get().pk, questions.SubmittedAnswer("once"))
    assert [(one.answer, one.turn) for one in questions.expire()] == [("expired", turn_id)]
    again = claim(turn_id, "me")
    assert again is not None and again.resumed is not None
    assert "in time" in again.resumed.decisions["c0"].why
