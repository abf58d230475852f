"""The list of a person's conversations: paged by key, searched, renamed, put away, deleted with all they hold."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from chat.models import Conversation, Message, ToolRun, Turn
from chat.transcript.conversations import conversations, listing
from chat.transcript.turn_store import TurnStore
from chat.transcript.turns.end import TurnOutcome, end
from chat.transcript.turns.sent_message import SentMessage
from tests.chat.started_turns import accept
from tests.factories import ConversationFactory
from toolsupport.core.errors import Busy, NotFound

pytestmark = pytest.mark.django_db


def titles(page: listing.ConversationPage) -> list[str]:
    return [row.title for row in page.rows]


def say(conversation: Conversation, *said: str, role: str = "user") -> None:
    for text in said:
        Message.objects.create(conversation=conversation, role=role, content=text)


# -- the list --


# C7
def test_pages_follow_each_other_without_gap_or_repetition(alice: User) -> None:
    now = timezone.now()
    for number in range(7):
        # Pairs of the same moment: the key decides.
        made = ConversationFactory(owner=alice, title=str(number))
        Conversation.objects.filter(pk=made.pk).update(updated_at=now - timedelta(minutes=number // 2))
    found, after = [], ""
    while True:
        page = listing.page(alice, after=after, size=3)
        found += titles(page)
        after = page.following
        if not after:
            break
    assert sorted(found) == [str(number) for number in range(7)]
    assert [int(title) // 2 for title in found] == sorted(int(title) // 2 for title in found)


@pytest.mark.parametrize("after", ["x", "2026-01-01_", "2026-01-01T00:00:00_" + "0" * 32, "_", "'; --"])
def test_a_place_that_makes_no_sense_is_the_first_page(alice: User, after: str) -> None:
    ConversationFactory(owner=alice, title="here")
    assert titles(listing.page(alice, after=after)) == ["here"]


def test_the_list_is_ones_own(alice: User, bob: User) -> None:
    say(ConversationFactory(owner=bob, title="kettle"), "kettle")
    assert titles(listing.page(alice)) == titles(listing.search(alice, "kettle")) == []


# -- search --


# C7
def test_titles_and_texts_are_searched(alice: User) -> None:
    said = ConversationFactory(owner=alice, title="Tea")
    say(said, "nothing here", "The new Kettle arrives on Thursday, they say.", "kettle again")
    ConversationFactory(owner=alice, title="A kettle of fish")
    ConversationFactory(owner=alice, title="Other")
    found = {row.title: row.snippet for row in listing.search(alice, "kettle").rows}
    assert found.keys() == {"Tea", "A kettle of fish"}
    assert found["Tea"] == (("The new ", False), ("Kettle", True), (" arrives on Thursday, they say.", False))
    assert found["A kettle of fish"] == ()


def test_all_words_have_to_be_in_one_place(alice: User) -> None:
    say(ConversationFactory(owner=alice, title="both"), "the kettle on Thursday")
    say(ConversationFactory(owner=alice, title="apart"), "the kettle", "on Thursday")
    assert titles(listing.search(alice, "thursday kettle")) == ["both"]


def test_a_snippet_begins_near_what_was_found(alice: User) -> None:
    say(ConversationFactory(owner=alice), "x" * 5000 + " needle " + "y" * 5000)
    [row] = listing.search(alice, "needle").rows
    text = "".join(piece for piece, _ in row.snippet)
    assert "needle" in text and len(text) <= listing.SNIPPET


@pytest.mark.parametrize("text", ["100%", "a_b", "\\", "'", '"; drop', "(", "[a-z]", "*"])
def test_signs_are_looked_for_as_they_are(alice: User, text: str) -> None:
    say(ConversationFactory(owner=alice, title="with"), f"here: {text} there")
    say(ConversationFactory(owner=alice, title="without"), "100 percent, axb")
    assert titles(listing.search(alice, text)) == ["with"]


def test_notices_and_thoughts_are_not_searched(alice: User) -> None:
    conversation = ConversationFactory(owner=alice)
    say(conversation, "kettle", role="notice")
    Message.objects.create(conversation=conversation, role="assistant", thinking="kettle")
    assert titles(listing.search(alice, "kettle")) == []


def test_nothing_to_search_for_is_the_list(alice: User) -> None:
    ConversationFactory(owner=alice, title="here")
    assert titles(listing.search(alice, "  ")) == ["here"]


def test_a_search_is_one_question(alice: User, django_assert_num_queries: Callable[..., Any]) -> None:
    for _ in range(20):
        say(ConversationFactory(owner=alice), "kettle", "kettle")
    with django_assert_num_queries(1):
        assert len(listing.search(alice, "kettle").rows) == 20


@given(st.text(max_size=60), st.lists(st.text(min_size=1, max_size=4).filter(str.strip), min_size=1, max_size=3))
def test_marking_loses_no_text(text: str, words: list[str]) -> None:
    assert "".join(piece for piece, _ in listing.marked(text, words)) == " ".join(text.split())


# -- renamed, put away --


# C10
def test_a_title_that_was_given_is_never_replaced(alice: User) -> None:
    conversation = ConversationFactory(owner=alice, title="")
    listing.rename(alice, str(conversation.pk), "  My\n title ")
    accept(alice, str(conversation.pk), SentMessage("c", "first words"))
    conversation.refresh_from_db()
    assert conversation.title == "My title"


def test_an_empty_title_changes_nothing(alice: User) -> None:
    conversation = ConversationFactory(owner=alice, title="kept")
    assert listing.rename(alice, str(conversation.pk), " ").title == "kept"
    assert len(listing.rename(alice, str(conversation.pk), "x" * 900).title) == 200


def test_what_is_put_away_is_in_the_other_list(alice: User) -> None:
    conversation = ConversationFactory(owner=alice, title="old")
    listing.archive(alice, str(conversation.pk), True)
    assert (titles(listing.page(alice)), titles(listing.page(alice, archived=True))) == ([], ["old"])
    assert titles(listing.search(alice, "old", archived=True)) == ["old"]
    listing.archive(alice, str(conversation.pk), False)
    assert titles(listing.page(alice)) == ["old"]


# -- deleted --


# C7
def test_deleting_takes_rows_and_files_along(alice: User, settings: Any) -> None:
    deleted, other = conversations.create(alice), conversations.create(alice)
    conversation = Conversation.objects.get(pk=deleted)
    conversation.profile = ConversationFactory(owner=alice).profile
    conversation.save()
    accepted = accept(alice, deleted, SentMessage("c", "hello"), "me")
    end(TurnStore("me", accepted.turn), TurnOutcome("done"))
    answer = Message.objects.filter(role="assistant").get()
    ToolRun.objects.create(turn_id=accepted.turn, message=answer, call_id="c", name="read_file")
    assert (Path(settings.WORKSPACES_DIR) / deleted / "README.md").exists()
    listing.delete(alice, deleted)
    assert not Conversation.objects.filter(pk=deleted).exists()
    assert not (Message.objects.exists() or Turn.objects.exists() or ToolRun.objects.exists())
    assert not (Path(settings.WORKSPACES_DIR) / deleted).exists()
    assert (Path(settings.WORKSPACES_DIR) / other / "README.md").exists()


def test_a_long_conversation_can_be_deleted(alice: User) -> None:
    conversation, before = ConversationFactory(owner=alice), None
    for number in range(1200):
        before = Message.objects.create(conversation=conversation, parent=before, role="user", content=str(number))
    Conversation.objects.filter(pk=conversation.pk).update(leaf=before)
    listing.delete(alice, str(conversation.pk))
    assert not Message.objects.exists()


def test_while_an_answer_is_written_nothing_is_deleted(alice: User) -> None:
    conversation = ConversationFactory(owner=alice)
    accept(alice, str(conversation.pk), SentMessage("c", "hello"))
    with pytest.raises(Busy):
        listing.delete(alice, str(conversation.pk))
    assert Message.objects.exists()


@pytest.mark.parametrize(
    "act",
    [
        lambda person, which: listing.one(person, which),
        lambda person, which: listing.rename(person, which, "mine"),
        lambda person, which: listing.archive(person, which, True),
        lambda person, which: listing.delete(person, which),
    ],
    ids=["one", "rename", "archive", "delete"],
)
def test_foreign_conversations_look_absent(alice: User, bob: User, act: Callable[[User, str], Any]) -> None:
    which = conversations.create(alice)
    with pytest.raises(NotFound):
        act(bob, which)
    row = Conversation.objects.get(pk=which)
    assert (row.title, row.archived) == ("", False)


STATES = [("queued", "answering"), ("running", "answering"), ("waiting", "waits for you"), ("done", "")]


# C10: an answer that runs elsewhere is seen in the list.
@pytest.mark.parametrize(("status", "told"), STATES)
def test_the_list_tells_of_answers_that_are_not_over(alice: User, status: str, told: str) -> None:
    conversation: Conversation = ConversationFactory(owner=alice)
    conversation.turns.create(client_id="c", profile_id=conversation.profile_id or 0, status=status)
    assert [row.state for row in listing.page(alice).rows] == [told]
    assert listing.unfinished(alice) == ({str(conversation.pk): told} if told else {})


def test_nobody_is_told_of_answers_of_others(bob: User, alice: User) -> None:
    conversation: Conversation = ConversationFactory(owner=alice)
    conversation.turns.create(client_id="c", profile_id=conversation.profile_id or 0, status="running")
    assert listing.unfinished(bob) == {}
