"""Continued answers, regenerated answers, edited messages: branches, and tools that do not run twice."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from chat.models import Conversation, Message, ToolRun, Turn
from chat.tools import policy
from chat.transcript.announcements import FinishedMessage
from chat.transcript.conversations import branches
from chat.transcript.conversations.conversations import say, show
from chat.transcript.turn_store import TurnStore
from chat.transcript.turns import record
from chat.transcript.turns.begin import AcceptedMessage
from chat.transcript.turns.end import TurnOutcome, end
from chat.transcript.turns.regenerate import ContinueRequest, RegenerateRequest
from chat.transcript.turns.sent_message import START, SentMessage
from tests.chat.started_turns import accept, numbers, reply_of, things
from tests.factories import ConversationFactory, ModelProfileFactory, OverrideFactory
from toolsupport.core.errors import Busy, ConfigError, NotFound
from toolsupport.core.prompt import GO_ON
from toolsupport.core.types import Role, ToolCall, ToolResult
from toolsupport.registry.settings import team_settings

pytestmark = pytest.mark.django_db


@pytest.fixture
def conversation(alice: User) -> Conversation:
    return ConversationFactory(owner=alice)


def ask(alice: User, conversation: Conversation, text: str, parent: int | None = None) -> AcceptedMessage:
    return accept(alice, str(conversation.pk), SentMessage(f"ask {text}", text, parent), "me")


def once_more(person: User, conversation: Conversation, wish: ContinueRequest | RegenerateRequest) -> AcceptedMessage:
    return accept(person, str(conversation.pk), wish, "me")


def ended(accepted: AcceptedMessage, text: str, reason: str = "done", detail: str = "") -> int:
    """End the turn with this text; gives the id of its answer."""
    end(TurnStore("me", accepted.turn), TurnOutcome(reason, detail, {}, (reply_of(accepted).id, text, "", None)))
    return reply_of(accepted).id


def texts(alice: User, conversation: Conversation) -> list[str]:
    return [message.text for message in show(alice, str(conversation.pk)).messages]


def told(accepted: AcceptedMessage) -> list[tuple[str, str]]:
    """What the model is told: (role, text)."""
    assert accepted.claimed is not None
    return [(message.role.value, message.content) for message in accepted.claimed.history]


# -- continue --


# C5
@pytest.mark.parametrize(
    ("reason", "detail"), [("stopped", ""), ("interrupted", ""), ("limit", "25 rounds."), ("failed", "Cut.")]
)
def test_an_answer_that_broke_off_goes_on(alice: User, conversation: Conversation, reason: str, detail: str) -> None:
    first = ended(ask(alice, conversation, "tell"), "Once upon", reason, detail)
    last = show(alice, str(conversation.pk)).messages[-1]
    assert (last.ended, last.may_go_on) == (reason, True)
    accepted = once_more(alice, conversation, ContinueRequest("c"))
    assert told(accepted) == [("user", "tell"), ("assistant", "Once upon"), ("user", GO_ON)]
    ended(accepted, "a time.")
    assert texts(alice, conversation) == ["tell", "Once upon", "a time."]
    assert reply_of(accepted).parent == first


@pytest.mark.parametrize("reason", ["stopped", "failed"])
def test_going_on_uses_what_tools_gave_already(alice: User, conversation: Conversation, reason: str) -> None:
    accepted = ask(alice, conversation, "read it")
    asked = record.RequestedCall(ToolCall("c0", "read_file", {"path": "a"}), "native", "A1")
    record.finish_reply(
        TurnStore("me", accepted.turn), reply_of(accepted).id, record.FinishedReply("", "", None, (asked,))
    )
    call = record.start_call(TurnStore("me", accepted.turn), "c0").thing.call
    record.finish_call(
        TurnStore("me", accepted.turn), int(call.id), policy.CallOutcome("done", ToolResult("contents"), 5)
    )
    ended(accepted, "", reason)
    assert show(alice, str(conversation.pk)).messages[-1].may_go_on
    # The result is the last word, so nobody has to ask for more.
    assert told(once_more(alice, conversation, ContinueRequest("c")))[-1] == ("tool", "contents")
    assert ToolRun.objects.count() == 1


@pytest.mark.parametrize(("reason", "text"), [("done", "The end."), ("failed", " ")])
def test_only_what_broke_off_can_be_continued(alice: User, conversation: Conversation, reason: str, text: str) -> None:
    ended(ask(alice, conversation, "tell"), text, reason)
    assert not show(alice, str(conversation.pk)).messages[-1].may_go_on
    with pytest.raises(NotFound):
        once_more(alice, conversation, ContinueRequest("c"))
    assert Turn.objects.count() == 1


def test_an_empty_conversation_has_nothing_to_continue(alice: User, conversation: Conversation) -> None:
    with pytest.raises(NotFound):
        once_more(alice, conversation, ContinueRequest("c"))


def test_a_notice_after_the_answer_does_not_hinder(alice: User, conversation: Conversation) -> None:
    ended(ask(alice, conversation, "tell"), "Once", "stopped")
    say(conversation, "tools_refused", {"model": "m"})
    assert told(once_more(alice, conversation, ContinueRequest("c")))[1:] == [("assistant", "Once"), ("user", GO_ON)]


# -- anew --


# C5
def test_an_answer_made_anew_is_a_branch_beside_it(alice: User, conversation: Conversation) -> None:
    first = ended(ask(alice, conversation, "tell"), "One.")
    accepted = once_more(alice, conversation, RegenerateRequest("c", first))
    assert told(accepted) == [("user", "tell")]
    second = reply_of(accepted)
    assert (second.siblings, second.number, second.previous, second.following) == ((first, second.id), 2, first, None)
    ended(accepted, "Two.")
    assert texts(alice, conversation) == ["tell", "Two."]
    assert Message.objects.filter(role=Role.USER).count() == 1


def test_the_frames_of_a_branch_say_what_a_reload_says(alice: User, conversation: Conversation) -> None:
    accepted = once_more(alice, conversation, RegenerateRequest("c", ended(ask(alice, conversation, "tell"), "One.")))
    outcome = TurnOutcome("done", "", {"output_tokens": 5}, (reply_of(accepted).id, "Two.", "", None))
    over = end(TurnStore("me", accepted.turn), outcome)
    assert things(over.announced, FinishedMessage)[-1].message == show(alice, str(conversation.pk)).messages[-1]


def test_a_round_that_is_whole_keeps_its_branches(alice: User, conversation: Conversation) -> None:
    accepted = once_more(alice, conversation, RegenerateRequest("c", ended(ask(alice, conversation, "tell"), "One.")))
    store, whole = TurnStore("me", accepted.turn), record.FinishedReply("Let me look.", "", None)
    shown = record.finish_reply(store, reply_of(accepted).id, whole).thing.message
    assert shown.siblings == reply_of(accepted).siblings


def test_numbers_of_announcements_follow_each_other(alice: User, conversation: Conversation) -> None:
    first = ended(ask(alice, conversation, "tell"), "One.")
    conversation.refresh_from_db()
    before = conversation.tail
    accepted = once_more(alice, conversation, RegenerateRequest("c", first))
    conversation.refresh_from_db()
    assert numbers(accepted) == [before + 1, before + 2] and conversation.tail == before + 2


def test_without_tools_is_for_this_answer_only(alice: User, conversation: Conversation) -> None:
    assert conversation.profile is not None
    OverrideFactory(profile=conversation.profile)
    accepted = ask(alice, conversation, "look")
    assert accepted.claimed is not None and accepted.claimed.prepared.request_spec.tools
    bare = once_more(alice, conversation, RegenerateRequest("c", ended(accepted, "One."), "without_tools"))
    assert bare.claimed is not None and bare.claimed.prepared.request_spec.tools == ()
    conversation.refresh_from_db()
    assert conversation.settings == {}


def test_another_model_is_for_this_answer_only(alice: User, conversation: Conversation) -> None:
    other = ModelProfileFactory(name="other:1b")
    first = ended(ask(alice, conversation, "tell"), "One.")
    with pytest.raises(NotFound):
        once_more(alice, conversation, RegenerateRequest("d", first, model="none:1b"))
    accepted = once_more(alice, conversation, RegenerateRequest("c", first, model="other:1b"))
    assert accepted.claimed is not None and accepted.claimed.model == "other:1b"
    assert reply_of(accepted).model == "other:1b"
    assert Turn.objects.get(pk=accepted.turn).profile == other
    kept = Conversation.objects.get(pk=conversation.pk)
    assert kept.profile_id == conversation.profile_id


# -- the same rules for both --


@pytest.mark.parametrize(
    "wish", [ContinueRequest("once"), RegenerateRequest("once", 0)], ids=["continue", "regenerate"]
)
def test_the_same_client_id_is_one_turn(
    alice: User, conversation: Conversation, wish: ContinueRequest | RegenerateRequest
) -> None:
    first = ended(ask(alice, conversation, "tell"), "Once", "stopped")
    wish = RegenerateRequest("once", first) if isinstance(wish, RegenerateRequest) else wish
    one, two = (once_more(alice, conversation, wish) for _ in range(2))
    assert (two.turn, two.repeated, two.claimed) == (one.turn, True, None)
    assert one.message == two.message
    assert Turn.objects.count() == 2


@pytest.mark.parametrize("wish", [ContinueRequest("c"), RegenerateRequest("c", 1)], ids=["continue", "regenerate"])
def test_while_an_answer_is_written_it_is_busy(
    alice: User, conversation: Conversation, wish: ContinueRequest | RegenerateRequest
) -> None:
    ask(alice, conversation, "tell")
    with pytest.raises(Busy):
        once_more(alice, conversation, wish)


@pytest.mark.parametrize("wish", [ContinueRequest("c"), RegenerateRequest("c", 1)], ids=["continue", "regenerate"])
def test_foreign_conversations_look_absent(
    alice: User, bob: User, conversation: Conversation, wish: ContinueRequest | RegenerateRequest
) -> None:
    ended(ask(alice, conversation, "tell"), "Once", "stopped")
    with pytest.raises(NotFound, match="This chat does not exist"):
        once_more(bob, conversation, wish)
    with pytest.raises(NotFound, match="This chat does not exist"):
        branches.select(bob, str(conversation.pk), 1)


def test_messages_of_other_conversations_look_absent(alice: User, bob: User, conversation: Conversation) -> None:
    elsewhere = ConversationFactory(owner=bob)
    foreign = ended(ask(bob, elsewhere, "secret"), "Secret.")
    with pytest.raises(NotFound):
        once_more(alice, conversation, RegenerateRequest("c", foreign))
    with pytest.raises(NotFound):
        branches.select(alice, str(conversation.pk), foreign)
    with pytest.raises(NotFound):
        ask(alice, conversation, "after it", parent=foreign)
    assert not Turn.objects.filter(conversation=conversation).exists()


# -- editing, and choosing a branch --


# C5
def test_an_edited_message_is_a_branch(alice: User, conversation: Conversation) -> None:
    first = ended(ask(alice, conversation, "one"), "1")
    ended(ask(alice, conversation, "two"), "2")
    edited = ask(alice, conversation, "three", parent=first)
    assert told(edited) == [("user", "one"), ("assistant", "1"), ("user", "three")]
    assert (edited.message.number, len(edited.message.siblings)) == (2, 2)
    ended(edited, "3")
    assert texts(alice, conversation) == ["one", "1", "three", "3"]


def test_the_very_first_message_can_be_edited(alice: User, conversation: Conversation) -> None:
    ended(ask(alice, conversation, "one"), "1")
    edited = ask(alice, conversation, "other", parent=START)
    assert told(edited) == [("user", "other")]
    assert (edited.message.parent, edited.message.number) == (None, 2)


def test_a_branch_is_shown_down_to_its_newest_end(alice: User, conversation: Conversation) -> None:
    first = ended(ask(alice, conversation, "one"), "1")
    ended(ask(alice, conversation, "two"), "2")
    say(conversation, "tools_refused", {"model": "m"})
    second = ended(once_more(alice, conversation, RegenerateRequest("c", first)), "anew")
    assert texts(alice, conversation) == ["one", "anew"]
    before = Conversation.objects.get(pk=conversation.pk).tail
    branches.select(alice, str(conversation.pk), first)
    shown = show(alice, str(conversation.pk))
    assert [message.text for message in shown.messages[:4]] == ["one", "1", "two", "2"]
    assert shown.messages[-1].role == "notice" and shown.tail == before + 1
    assert (shown.messages[1].siblings, shown.messages[1].following) == ((first, second), second)


def test_no_branch_is_chosen_while_an_answer_is_written(alice: User, conversation: Conversation) -> None:
    first = ended(ask(alice, conversation, "one"), "1")
    once_more(alice, conversation, RegenerateRequest("c", first))
    with pytest.raises(Busy):
        branches.select(alice, str(conversation.pk), first)


# -- calls as text: a person asked for them --


def _knowing(conversation: Conversation, tools: bool | None) -> None:
    assert conversation.profile is not None
    if tools is not None:
        OverrideFactory(profile=conversation.profile, value=tools)


@pytest.mark.parametrize("tools", [True, False, None])
def test_calls_as_text_need_no_measured_format(alice: User, conversation: Conversation, tools: bool | None) -> None:
    _knowing(conversation, tools)
    first = ended(ask(alice, conversation, "look"), "One.")
    accepted = once_more(alice, conversation, RegenerateRequest("c", first, "text"))
    assert accepted.claimed is not None
    request_spec = accepted.claimed.prepared.request_spec
    assert request_spec.format not in ("", "native") and request_spec.tools
    conversation.refresh_from_db()
    assert conversation.settings == {}


@pytest.mark.parametrize("tools", [True, False])
def test_where_text_is_switched_off_it_says_so(alice: User, conversation: Conversation, tools: bool) -> None:
    _knowing(conversation, tools)
    first = ended(ask(alice, conversation, "look"), "One.")
    team_settings.put("text_formats", "off")
    with pytest.raises(ConfigError, match="The team has turned off calls written as text"):
        once_more(alice, conversation, RegenerateRequest("c", first, "text"))
    assert Turn.objects.count() == 1


@pytest.mark.parametrize("goes_on", [True, False])
def test_an_answer_made_again_gives_a_conversation_without_a_model_the_first_choice(
    alice: User, conversation: Conversation, goes_on: bool
) -> None:
    answer = ended(ask(alice, conversation, "tell"), "Once upon", "stopped")
    chosen = conversation.profile_id
    Conversation.objects.update(profile=None)
    accepted = once_more(alice, conversation, ContinueRequest("c") if goes_on else RegenerateRequest("c", answer))
    conversation.refresh_from_db()
    assert Turn.objects.get(pk=accepted.turn).profile_id == conversation.profile_id == chosen
