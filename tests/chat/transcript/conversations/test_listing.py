"""The list of a person's conversations: paged by key, searched, renamed, put away, deleted with all they hold."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from chat.models import Conversation, Message, ToolRun, Turn
from chat.transcript.conversations import conversations, day_groups, listing
from chat.transcript.turn_store import TurnStore
from chat.transcript.turns.end import TurnOutcome, end
from chat.transcript.turns.sent_message import SentMessage
from tests.chat.started_turns import accept
from tests.factories import ConversationFactory
from tests.processor_time import must_cost_at_most
from toolsupport.core.errors import Busy, NotFound

pytestmark = pytest.mark.django_db
NOW = timezone.now()


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


@pytest.mark.parametrize(
    "after",
    [
        *("x", "2026-01-01_", "2026-01-01T00:00:00_" + "0" * 32, "_", "'; --"),
        *("0001-01-01T00:00:00+23:59_" + "0" * 32, "9999-12-31T23:59:59-23:59_" + "0" * 32, "9" * 5000 + "_x"),
    ],
)
def test_a_place_that_makes_no_sense_is_the_first_page(alice: User, after: str) -> None:
    ConversationFactory(owner=alice, title="here")
    assert titles(listing.page(alice, after=after)) == ["here"]


def test_the_list_is_ones_own(alice: User, bob: User) -> None:
    say(ConversationFactory(owner=bob, title="kettle"), "kettle")
    assert titles(listing.page(alice)) == titles(listing.search(alice, "kettle")) == []


# -- search --


# S2
def test_texts_of_repeated_letters_are_searched_in_time(alice: User) -> None:
    say(ConversationFactory(owner=alice, title="one"), *["a" * 256 * 1024] * 16)
    with must_cost_at_most(0.2):
        assert titles(listing.search(alice, " ".join(["a" * 80] * 7 + ["a" * 79 + "b"]))) == []


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


# (text, what is looked for, what is marked); e with an accent is one character, or two.
@pytest.mark.parametrize(
    ("text", "wanted", "marked"),
    [
        ("Über alles", "über", "Über"),
        ("überall", "ÜBER", "über"),
        ("ПРИВЕТ, мир", "привет", "ПРИВЕТ"),
        ("Ο ΣΊΣΥΦΟΣ", "σίσυφ", "ΣΊΣΥΦ"),
        ("ΟΔΟΣΗΜΑΝΣΗ", "ΟΔΟΣ", "ΟΔΟΣ"),
        ("İstanbul", "istanbul", "İstanbul"),
        ("İ" * 99 + " needle", "NEEDLE", "needle"),
        ("un cafe\u0301 noir", "CAF\u00c9", "cafe\u0301"),
        ("un caf\u00e9 noir", "cafe\u0301", "caf\u00e9"),
        ("\ud55c\uad6d\uc5b4", unicodedata.normalize("NFD", "\ud55c\uad6d"), "\ud55c\uad6d"),
        ("東京タワー", "タワー", "タワー"),
    ],
)
def test_words_of_other_languages_are_found_in_any_case_and_form(
    alice: User, text: str, wanted: str, marked: str
) -> None:
    say(ConversationFactory(owner=alice, title="Text"), "x" * 300 + f" {text}.")
    say(ConversationFactory(owner=alice, title=text), "nothing")
    rows = {row.title: row.snippet for row in listing.search(alice, wanted).rows}
    assert [piece for piece, matched in rows["Text"] if matched] == [marked]
    assert rows[text] == ()


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
        lambda person, which: listing.pin(person, which, True),
        lambda person, which: listing.delete(person, which),
    ],
    ids=["one", "rename", "archive", "pin", "delete"],
)
def test_foreign_conversations_look_absent(alice: User, bob: User, act: Callable[[User, str], Any]) -> None:
    which = conversations.create(alice)
    with pytest.raises(NotFound):
        act(bob, which)
    row = Conversation.objects.get(pk=which)
    assert (row.title, row.archived) == ("", False)


STATES = [("queued", "answering"), ("running", "answering"), ("waiting", "needs approval"), ("done", "")]


# C10: an answer that runs elsewhere is seen in the list.
@pytest.mark.parametrize(("status", "state"), STATES)
def test_the_list_shows_answers_that_are_not_over(alice: User, bob: User, status: str, state: str) -> None:
    conversation: Conversation = ConversationFactory(owner=alice, title="Otters")
    conversation.turns.create(client_id="a", profile_id=conversation.profile_id or 0, status="failed", ended_at=NOW)
    newest = conversation.turns.create(
        client_id="c", profile_id=conversation.profile_id or 0, status=status, ended_at=None if state else NOW
    )
    assert [row.state for row in listing.page(alice).rows] == [state]
    [answer] = listing.answers(alice)
    assert (answer.chat, answer.title, answer.turn) == (str(conversation.pk), "Otters", newest.pk)
    assert (answer.state, answer.ended) == ((state, "") if state else ("ended", "done"))
    assert listing.answers(bob) == ()


def test_answers_that_ended_long_ago_are_no_news(alice: User) -> None:
    conversation: Conversation = ConversationFactory(owner=alice)
    long_ago = NOW - timedelta(days=2)
    conversation.turns.create(client_id="c", profile_id=conversation.profile_id or 0, status="done", ended_at=long_ago)
    assert listing.answers(alice) == ()


# -- empty and pinned --


def test_a_chat_without_a_message_is_not_listed_and_is_used_again(alice: User, bob: User) -> None:
    made = conversations.create(alice)
    assert titles(listing.page(alice)) == [] and conversations.empty(alice) == made
    assert conversations.empty(bob) is None
    say(Conversation.objects.get(pk=made), "Switched to another model.", role="notice")
    assert titles(listing.page(alice)) == [] and conversations.empty(alice) == made
    Conversation.objects.filter(pk=made).update(settings={"tools_on": False})
    assert conversations.empty(alice) is None
    Conversation.objects.filter(pk=made).update(settings={})
    say(Conversation.objects.get(pk=made), "hello")
    assert titles(listing.page(alice)) == ["New chat"] and conversations.empty(alice) is None


def test_pinned_chats_come_first_on_every_page(alice: User) -> None:
    for number in range(5):
        made = ConversationFactory(owner=alice, title=str(number))
        Conversation.objects.filter(pk=made.pk).update(updated_at=NOW - timedelta(days=number))
        if number in (2, 4):
            listing.pin(alice, str(made.pk), True)
    found, after = list[str](), ""
    for _ in range(5):
        page = listing.page(alice, after=after, size=1)
        found, after = [*found, *titles(page)], page.following
    assert (found, after) == (["2", "4", "0", "1", "3"], "")


# -- days --

BERLIN = ZoneInfo("Europe/Berlin")
DAYS = [
    ("2026-11-22T23:30", UTC, "Today"),
    ("2026-11-22T00:00", UTC, "Today"),
    ("2026-11-21T23:59", UTC, "Yesterday"),
    ("2026-11-22T23:30", BERLIN, "Today"),
    ("2026-11-22T22:30", BERLIN, "Yesterday"),
    ("2026-11-20T12:00", UTC, "Previous 7 days"),
    ("2026-11-15T00:00", UTC, "Previous 7 days"),
    ("2026-11-14T23:59", UTC, "November"),
    ("2026-01-31T12:00", UTC, "January"),
    ("2025-11-22T12:00", UTC, "November 2025"),
    ("2027-01-01T12:00", UTC, "Today"),
]


@pytest.mark.parametrize(("when", "zone", "label"), DAYS)
def test_days_are_those_of_the_reader(when: str, zone: tzinfo, label: str) -> None:
    now = datetime.fromisoformat("2026-11-22T23:45+00:00")
    assert day_groups.Calendar(now, zone).label(datetime.fromisoformat(f"{when}+00:00")) == label


def test_rows_are_grouped_in_their_order() -> None:
    now = datetime.fromisoformat("2026-11-22T12:00+00:00")
    rows = [
        listing.ListedConversation(name, name, now - timedelta(days=days), pinned=name == "p")
        for name, days in (("p", 9), ("a", 0), ("b", 0), ("c", 1))
    ]
    groups = day_groups.grouped(rows, day_groups.Calendar(now, UTC), before="Pinned")
    found = [(group.label, [row.id for row in group.rows], group.continued) for group in groups]
    assert found == [("Pinned", ["p"], True), ("Today", ["a", "b"], False), ("Yesterday", ["c"], False)]
