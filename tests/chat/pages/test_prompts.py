"""The page of the prompts: everybody reads it, administrators write; and the choice in one's own chat."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from chat.models import Conversation, Prompt
from chat.transcript.conversations import prompts
from chat.transcript.conversations.prompts import PromptDraft
from tests.factories import ConversationFactory

pytestmark = pytest.mark.django_db
FORM = {"name": "Code review", "description": "For code", "text": "Look for bugs.\r\nBe kind."}


@pytest.fixture
def prompt(bob: User) -> Prompt:
    prompts.write(bob, PromptDraft("brief", "For short answers", "Be brief."))
    return Prompt.objects.get()


# T3
@pytest.mark.parametrize("name", ["alice", "bob", "charlie"])
def test_everybody_signed_in_reads_them(
    client: Client, name: str, prompt: Prompt, request: pytest.FixtureRequest
) -> None:
    client.force_login(request.getfixturevalue(name))
    page = client.get(reverse("prompts")).content.decode()
    assert "Be brief." in page and "bob, <time" in page
    assert ("New prompt" in page) is (name == "bob")
    assert "Be brief." in client.get(reverse("prompt-versions"), {"name": "brief"}).content.decode()


def test_bob_writes_changes_and_withdraws(client: Client, bob: User, prompt: Prompt) -> None:
    client.force_login(bob)
    assert "Saved code-review." in client.post(reverse("prompt-write"), FORM).content.decode()
    assert [each.text for each in prompts.offered()] == ["Be brief.", "Look for bugs.\nBe kind."]
    form = {"name": "brief", "text": "Be very brief.", "basis": str(prompt.pk)}
    assert "Saved brief." in client.post(reverse("prompt-write"), form).content.decode()
    page = client.post(reverse("prompt-write"), form | {"text": "Mine."}).content.decode()
    assert "bob changed this prompt in the meantime" in page and ">Mine.</textarea>" in page
    assert 'aria-label="Current text">Be very brief.' in page
    assert "brief was withdrawn." in client.post(reverse("prompt-withdraw"), {"name": "brief"}).content.decode()
    assert "already withdrawn" in client.post(reverse("prompt-withdraw"), {"name": "brief"}).content.decode()
    assert [each.name for each in prompts.offered()] == ["code-review"]


def test_a_version_that_is_none_is_a_new_prompt(client: Client, bob: User) -> None:
    client.force_login(bob)
    assert "Saved code-review." in client.post(reverse("prompt-write"), FORM | {"basis": "9" * 5000}).content.decode()


def test_what_cannot_be_kept_stays_in_the_form(client: Client, bob: User) -> None:
    client.force_login(bob)
    page = client.post(reverse("prompt-write"), FORM | {"name": "!"}).content.decode()
    assert "A prompt needs a name and a text." in page and "Look for bugs.\nBe kind.</textarea>" in page


@pytest.mark.parametrize("name", ["alice", "charlie"])
def test_the_others_may_not(client: Client, name: str, prompt: Prompt, request: pytest.FixtureRequest) -> None:
    client.force_login(request.getfixturevalue(name))
    assert client.post(reverse("prompt-write"), FORM).status_code == 403
    assert client.post(reverse("prompt-withdraw"), {"name": "brief"}).status_code == 403
    assert len(prompts.offered()) == 1


def chosen(conversation: Conversation) -> list[str]:
    conversation.refresh_from_db()
    return list(conversation.settings.get("prompts", []))


def test_alice_chooses_for_her_chat(client: Client, alice: User, prompt: Prompt) -> None:
    conversation: Conversation = ConversationFactory(owner=alice)
    client.force_login(alice)
    listed, choose = (reverse(f"conversation-prompts{what}", args=[conversation.pk]) for what in ("", "-choose"))
    assert 'value="brief">' in client.get(listed).content.decode()
    assert 'value="brief" checked>' in client.post(choose, {"prompt": ["brief", "none"]}).content.decode()
    assert chosen(conversation) == ["brief"]
    client.post(choose)
    assert chosen(conversation) == []


@pytest.mark.parametrize(("name", "status"), [("bob", 404), ("charlie", 403)])
def test_nobody_else_does(client: Client, name: str, status: int, alice: User, request: pytest.FixtureRequest) -> None:
    conversation: Conversation = ConversationFactory(owner=alice)
    client.force_login(request.getfixturevalue(name))
    listed, choose = (reverse(f"conversation-prompts{what}", args=[conversation.pk]) for what in ("", "-choose"))
    assert client.get(listed).status_code == client.post(choose, {"prompt": ["x"]}).status_code == status
    assert chosen(conversation) == []
