"""The memory beside the files: read, changed and put back by its owner alone."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from chat.models import Conversation
from chat.tools.diff_preview import basis_of
from chat.transcript.conversations import memory
from chat.transcript.settings import prompt_context
from tests.factories import ConversationFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def conversation(alice: User) -> Conversation:
    conversation: Conversation = ConversationFactory(owner=alice)
    memory.write(alice, str(conversation.pk), "Maria likes tea.", basis_of(""))
    return conversation


def address(conversation: Conversation, what: str = "") -> str:
    return reverse(f"conversation-memory{what}", args=[conversation.pk])


# T3
def test_alice_changes_what_is_remembered_and_undoes_it(
    client: Client, alice: User, conversation: Conversation
) -> None:
    client.force_login(alice)
    page = client.get(address(conversation)).content.decode()
    assert "Maria likes tea." in page and "Last written by alice" in page and "Undo" not in page
    form = {"text": "Maria likes tea.\r\nPaul does not.", "basis": basis_of("Maria likes tea.")}
    page = client.post(address(conversation, "-write"), form).content.decode()
    assert "Saved" in page and prompt_context.memory_of(conversation.pk) == "Maria likes tea.\nPaul does not."
    # PostgreSQL cannot store this.
    form = {"text": "a\0b", "basis": basis_of("Maria likes tea.\nPaul does not.")}
    assert client.post(address(conversation, "-write"), form).status_code == 400
    page = client.post(address(conversation, "-back"), {"basis": basis_of("other")}).content.decode()
    assert "changed in the meantime" in page
    form = {"basis": basis_of("Maria likes tea.\nPaul does not.")}
    page = client.post(address(conversation, "-back"), form).content.decode()
    assert "earlier text is back" in page and prompt_context.memory_of(conversation.pk) == "Maria likes tea."
    assert "There is no earlier text." in client.post(address(conversation, "-back"), form).content.decode()


def test_what_cannot_be_kept_stays_in_the_form(client: Client, alice: User, conversation: Conversation) -> None:
    client.force_login(alice)
    page = client.post(address(conversation, "-write"), {"text": "Mine.", "basis": basis_of("")}).content.decode()
    assert "changed in the meantime" in page and ">Mine.</textarea>" in page and "Maria likes tea.</pre>" in page
    page = client.post(address(conversation, "-write"), {"text": "x" * 20_000}).content.decode()
    assert "16,384 bytes at most" in page and prompt_context.memory_of(conversation.pk) == "Maria likes tea."


@pytest.mark.parametrize(("name", "status"), [("bob", 404), ("charlie", 403)])
def test_nobody_else_does(
    client: Client, name: str, status: int, conversation: Conversation, request: pytest.FixtureRequest
) -> None:
    client.force_login(request.getfixturevalue(name))
    form = {"text": "x", "basis": basis_of("Maria likes tea.")}
    answers = [
        client.get(address(conversation)),
        *(client.post(address(conversation, on), form) for on in ("-write", "-back")),
    ]
    assert [answer.status_code for answer in answers] == [status] * 3
    assert prompt_context.memory_of(conversation.pk) == "Maria likes tea."
