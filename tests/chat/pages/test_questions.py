"""The permissions of a chat: listed for its owner, and revoked with a button."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from chat.models import Conversation
from chat.transcript.questions import questions
from tests.factories import ConversationFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def conversation(alice: User) -> Conversation:
    conversation: Conversation = ConversationFactory(owner=alice)
    conversation.grants.create(tool="write_file", granted_by=alice)
    return conversation


def addresses(conversation: Conversation) -> tuple[str, str]:
    return tuple(reverse(f"conversation-{name}", args=[conversation.pk]) for name in ("grants", "grant-revoke"))  # type: ignore[return-value]


# T11
def test_alice_sees_what_she_allowed_and_takes_it_back(client: Client, alice: User, conversation: Conversation) -> None:
    listed, revoke = addresses(conversation)
    client.force_login(alice)
    assert "write_file" in client.get(listed).content.decode()
    answer = client.post(revoke, {"tool": "write_file"}).content.decode()
    assert "write_file asks every time from now on." in answer and "Each change needs approval" in answer
    assert questions.granted(str(conversation.pk)) == frozenset()
    assert "This tool already asks every time." in client.post(revoke, {"tool": "write_file"}).content.decode()


@pytest.mark.parametrize(("name", "status"), [("bob", 404), ("charlie", 403)])
def test_nobody_else_does(
    client: Client, name: str, status: int, conversation: Conversation, request: pytest.FixtureRequest
) -> None:
    listed, revoke = addresses(conversation)
    client.force_login(request.getfixturevalue(name))
    assert client.get(listed).status_code == client.post(revoke, {"tool": "write_file"}).status_code == status
    assert questions.granted(str(conversation.pk)) == {"write_file"}
