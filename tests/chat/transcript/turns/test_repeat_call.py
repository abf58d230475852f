"""A finished call is run again in a turn of its own: the same call, as if a model had made it now."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from chat.models import Conversation, Message, ToolRun
from chat.transcript.conversations.conversations import show
from chat.transcript.messages import history
from chat.transcript.turns.begin import AcceptedMessage
from chat.transcript.turns.repeat_call import RepeatRequest
from tests.chat.started_turns import accept, numbers
from tests.factories import ConversationFactory
from toolsupport.core.errors import Busy, NotFound
from toolsupport.core.types import Role, ToolCall

pytestmark = pytest.mark.django_db
CALL = {"call_id": "c0", "name": "read_file", "arguments": {"path": "a.md"}}


@pytest.fixture
def run(alice: User) -> ToolRun:
    conversation: Conversation = ConversationFactory(owner=alice)
    asked = Message.objects.create(conversation=conversation, role="user", content="read it")
    turn = conversation.turns.create(client_id="c", profile_id=conversation.profile_id or 0, status="done")
    answer = Message.objects.create(conversation=conversation, role="assistant", parent=asked, turn=turn)
    Conversation.objects.filter(pk=conversation.pk).update(leaf=answer)
    return ToolRun.objects.create(turn=turn, message=answer, status="done", result="old", **CALL)


def repeat(person: User, run: ToolRun, call: str = "", client_id: str = "again") -> AcceptedMessage:
    wish = RepeatRequest(client_id, call or str(run.pk))
    return accept(person, str(run.message.conversation_id), wish, "me")


# DESIGN 6
def test_the_same_call_waits_in_a_turn_of_its_own(alice: User, run: ToolRun) -> None:
    accepted = repeat(alice, run)
    assert accepted.claimed is not None and accepted.claimed.resumed is not None
    [pending] = accepted.claimed.resumed.pending
    assert (pending.name, pending.arguments) == ("read_file", {"path": "a.md"}) and pending.id != "c0"
    fresh = ToolRun.objects.exclude(pk=run.pk).get()
    assert (fresh.status, fresh.level, fresh.result, fresh.turn_id) == ("pending", "A1", "", accepted.turn)
    run.refresh_from_db()
    assert (run.status, run.result) == ("done", "old")
    *before, last = accepted.claimed.history
    assert [message.role for message in before] == [Role.USER, Role.ASSISTANT, Role.TOOL]
    assert last.calls == (ToolCall(pending.id, "read_file", {"path": "a.md"}),)


def test_it_stands_at_the_end_of_the_branch(alice: User, run: ToolRun) -> None:
    accepted = repeat(alice, run)
    messages = show(alice, str(run.message.conversation_id)).messages
    assert [message.id for message in messages][-2:] == [run.message_id, accepted.message.id]
    conversation = Conversation.objects.get()
    assert numbers(accepted) == [conversation.tail - 1, conversation.tail]
    assert history.canonical(conversation)[-1].content == history.INTERRUPTED


def test_twice_the_same_wish_is_one_act(alice: User, run: ToolRun) -> None:
    first, second = repeat(alice, run), repeat(alice, run)
    assert second.repeated and second.turn == first.turn and ToolRun.objects.count() == 2


def test_not_while_an_answer_is_written(alice: User, run: ToolRun) -> None:
    repeat(alice, run)
    with pytest.raises(Busy):
        repeat(alice, run, client_id="other")


@pytest.mark.parametrize("status", ["pending", "waiting", "running", "rejected"])
def test_only_what_came_to_an_end(alice: User, run: ToolRun, status: str) -> None:
    ToolRun.objects.filter(pk=run.pk).update(status=status)
    with pytest.raises(NotFound):
        repeat(alice, run)


@pytest.mark.parametrize("call", ["0", "-1", "x", "²", "9" * 18, "9" * 5000, "987654321"])
def test_calls_that_are_none(alice: User, run: ToolRun, call: str) -> None:
    with pytest.raises(NotFound):
        repeat(alice, run, call)


def test_a_tool_that_is_gone(alice: User, run: ToolRun) -> None:
    ToolRun.objects.filter(pk=run.pk).update(name="time_machine")
    with pytest.raises(NotFound):
        repeat(alice, run)


def test_bob_repeats_nothing_of_alice(alice: User, bob: User, run: ToolRun) -> None:
    with pytest.raises(NotFound):
        repeat(bob, run)
    theirs: Conversation = ConversationFactory(owner=bob)
    with pytest.raises(NotFound):
        accept(bob, str(theirs.pk), RepeatRequest("c", str(run.pk)), "me")
    assert ToolRun.objects.count() == 1
