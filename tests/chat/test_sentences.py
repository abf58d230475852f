"""Codes in rows become sentences for people; texts of servers and of rows of earlier versions stay as they are."""

from __future__ import annotations

import pytest

from chat import sentences
from chat.transcript.conversations.conversations import say
from chat.transcript.messages import present
from chat.turns.runner import ENDS
from tests.factories import ConversationFactory
from tests.words_on_pages import faults_of_text


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("by_you", "Stopped by you."),
        ("most_calls:32", "The model made 32 calls without finishing."),
        ("Stopped by you.", "Stopped by you."),
        ("The server at box failed: “out of memory”.", "The server at box failed: “out of memory”."),
        ("unheard_of", "unheard_of"),
        ("", ""),
    ],
)
def test_the_end_of_an_answer_in_words(reason: str, words: str) -> None:
    assert sentences.ending(reason) == words


def test_every_end_from_outside_has_words() -> None:
    assert {code for _, code in ENDS.values()} - {""} <= sentences.ENDINGS.keys()


def test_no_sentence_has_an_identifier() -> None:
    for words in (*sentences.NOTICES.values(), *sentences.ENDINGS.values()):
        assert not list(faults_of_text(words)), words


@pytest.mark.django_db
def test_a_notice_is_stored_as_a_code_with_its_facts_and_an_old_one_is_read() -> None:
    conversation = ConversationFactory()
    facts = {"model": "phi:3b", "verdict": "calls tools natively"}
    [new] = [say(conversation, "detected", facts).thing.message]
    row = conversation.messages.get(pk=new.id)
    assert (row.code, row.facts, row.content) == ("detected", facts, "")
    assert new.text == "Tested phi:3b: calls tools natively."
    old = conversation.messages.create(role="notice", code="detected", content="Tested phi:3b: it was better then.")
    assert present.message(old).text == "Tested phi:3b: it was better then."
