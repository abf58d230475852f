"""All requests enter a turn the same way: known once, refused alike, written at once or not at all, numbered."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path

import pytest
from django.contrib.auth.models import User

import chat
from chat.models import Conversation, Message, ToolRun, Turn
from chat.transcript.announcements import StartedMessage, StartedTurn
from chat.transcript.turns import begin as begins
from chat.transcript.turns.api_tool_call import CallRequest
from chat.transcript.turns.begin import TurnBuilder
from chat.transcript.turns.regenerate import ContinueRequest, RegenerateRequest
from chat.transcript.turns.repeat_call import RepeatRequest
from chat.transcript.turns.sent_message import SentMessage
from tests.chat.started_turns import accept, numbers
from tests.chat.transcript.losses import dump
from tests.factories import ConversationFactory, ModelProfileFactory
from toolsupport.core.errors import Busy, NotFound
from toolsupport.registry.knowledge import overrides

pytestmark = pytest.mark.django_db
READ = {"path": "a.md"}

# Each kind of request, with the kinds of the things that it announces, in their order.
KINDS: dict[str, tuple[Callable[[Message], TurnBuilder], list[type]]] = {
    "message": (lambda answer: SentMessage("new", "more"), [StartedMessage, StartedTurn, StartedMessage]),
    "message elsewhere": (lambda answer: SentMessage("new", "more", 0), [StartedMessage, StartedTurn, StartedMessage]),
    "continue": (lambda answer: ContinueRequest("new"), [StartedTurn, StartedMessage]),
    "again": (lambda answer: RegenerateRequest("new", answer.pk), [StartedTurn, StartedMessage]),
    "repeat": (lambda answer: RepeatRequest("new", str(answer.tool_runs.get().pk)), [StartedMessage, StartedTurn]),
    "program": (lambda answer: CallRequest(profile_of(answer), "read_file", READ), [StartedMessage, StartedTurn]),
}
every_kind = pytest.mark.parametrize("kind", KINDS)


def profile_of(answer: Message) -> int:
    return answer.conversation.profile_id or 0


@pytest.fixture
def answer(alice: User) -> Message:
    """An answer that was stopped after one call."""
    profile = ModelProfileFactory()
    overrides.add(overrides.NewOverride(profile.pk, "tools", True))
    here = ConversationFactory(owner=alice, profile=profile)
    asked = Message.objects.create(conversation=here, role="user", content="read it")
    turn = Turn.objects.create(conversation=here, client_id="old", profile=profile, status="stopped")
    row = Message.objects.create(conversation=here, role="assistant", content="So", parent=asked, turn=turn)
    ToolRun.objects.create(turn=turn, message=row, call_id="c", name="read_file", arguments=READ, status="done")
    Conversation.objects.filter(pk=here.pk).update(leaf=row)
    return row


def ask(person: User, answer: Message, kind: str, owner: str = "me") -> begins.AcceptedMessage:
    return accept(person, str(answer.conversation_id), KINDS[kind][0](answer), owner)


@every_kind
def test_what_begins_is_numbered_without_a_gap(alice: User, answer: Message, kind: str) -> None:
    begun = ask(alice, answer, kind)
    assert begun.claimed is not None
    told = [*begun.announced, *begun.claimed.opening]
    assert [type(each.thing) for each in told] == KINDS[kind][1]
    tail = Conversation.objects.get().tail
    assert numbers(begun) == list(range(1, tail + 1)) and tail == len(told)
    assert [each.thing.turn for each in told if isinstance(each.thing, StartedTurn)] == [begun.turn]


@every_kind
def test_the_newest_message_of_the_turn_ends_the_branch(alice: User, answer: Message, kind: str) -> None:
    begun = ask(alice, answer, kind)
    turn = Turn.objects.get(pk=begun.turn)
    newest = turn.messages.order_by("id").last()
    assert newest is not None and newest.role == "assistant"
    assert Conversation.objects.get().leaf_id == newest.pk
    assert (turn.status, turn.owner, turn.program) == ("running", "me", "asked" if kind == "program" else "")


@every_kind
def test_the_same_request_is_one_turn(alice: User, answer: Message, kind: str) -> None:
    first = ask(alice, answer, kind)
    before = dump()
    second = ask(alice, answer, kind)
    assert (second.turn, second.repeated, second.claimed, numbers(second)) == (first.turn, True, None, [])
    assert dump() == before


@every_kind
def test_only_its_owner_begins_a_turn_in_a_conversation(bob: User, charlie: User, answer: Message, kind: str) -> None:
    before = dump()
    for other in (bob, charlie):
        with pytest.raises(NotFound):
            ask(other, answer, kind)
    assert dump() == before


@every_kind
def test_not_while_another_answer_is_written(alice: User, answer: Message, kind: str) -> None:
    accept(alice, str(answer.conversation_id), SentMessage("c", "other"), "me")
    before = dump()
    with pytest.raises(Busy):
        ask(alice, answer, kind)
    assert dump() == before


@every_kind
def test_a_beginning_that_fails_leaves_nothing(
    alice: User, answer: Message, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(begins, "announce_messages", fail)
    before = dump()
    with pytest.raises(RuntimeError):
        ask(alice, answer, kind)
    assert dump() == before


@every_kind
def test_a_queued_request_is_claimed_with_the_same_announcements(alice: User, answer: Message, kind: str) -> None:
    queued = ask(alice, answer, kind, owner="")
    assert queued.claimed is None
    claimed = begins.claim(queued.turn, "me")
    assert claimed is not None
    told = [*queued.announced, *claimed.opening]
    assert [type(each.thing) for each in told] == KINDS[kind][1]
    assert [each.seq for each in told] == list(range(1, Conversation.objects.get().tail + 1))


def test_rows_of_turns_are_made_in_one_place() -> None:
    places = set()
    for path in Path(chat.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node).startswith(MAKERS):
                places.add(path.name)
    assert places == {"begin.py"}


MAKERS = ("Turn(", "Turn.objects.create(", "Turn.objects.get_or_create(", "row_objects.new(Turn,")
