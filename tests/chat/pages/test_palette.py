"""The options of the palette: everything a person may reach, and nothing of other people."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from chat.models import Message
from chat.transcript.conversations import conversations
from tests.factories import ConversationFactory, ModelProfileFactory, ServerFactory, UserFactory
from tests.markup import flat

pytestmark = pytest.mark.django_db


def titles(person: User, group: str, q: str = "") -> list[str]:
    client = Client()
    client.force_login(person)
    html = flat(client.get(reverse("palette"), {"q": q}).content.decode())
    return re.findall(rf'data-group="{group}" [^>]*data-title="([^"]*)"', html)


def test_each_person_gets_their_own_chats_and_pages(alice: User, bob: User, charlie: User) -> None:
    model = ModelProfileFactory(name="qwen3:8b")
    ConversationFactory(owner=alice, title="Secret <plans>", profile=model)
    conversations.create(alice)  # empty: no chat to jump to
    assert titles(alice, "Chats") == ["Secret &lt;plans&gt;"]
    assert titles(bob, "Chats") == titles(charlie, "Chats") == []
    assert all(titles(person, "Models") == ["qwen3:8b"] for person in (alice, bob, charlie))
    assert "New chat" in titles(bob, "Commands") and "New chat" not in titles(charlie, "Commands")
    assert {"Chat", "Shared with you"} <= {*titles(bob, "Pages")}
    assert not {"Chat", "Shared with you", "People", "Audit"} & {*titles(charlie, "Pages")}
    assert {"People", "Audit"} <= {*titles(UserFactory(role="admin"), "Pages")}


def test_chats_are_found_by_their_messages(alice: User, bob: User, charlie: User) -> None:
    Message.objects.create(
        conversation=ConversationFactory(owner=alice, title="Tea"), role="user", content="the kettle"
    )
    assert titles(alice, "Chats", "kettle") == ["Tea"]
    assert titles(bob, "Chats", "kettle") == titles(charlie, "Chats", "kettle") == []
    assert titles(alice, "Pages", "kettle") == titles(alice, "Commands", "kettle") == []


def test_hidden_simulated_models_are_named(charlie: User) -> None:
    simulated = ModelProfileFactory(name="sim-honest:latest", server=ServerFactory(kind="simulator"))
    assert titles(charlie, "Models") == [simulated.name]
    ModelProfileFactory(name="real", server=ServerFactory(reachable=True))
    assert titles(charlie, "Models") == ["real", "Simulated models"]
    assert titles(charlie, "Models", "kettle") == []


def test_the_palette_stands_on_pages_of_people_who_signed_in(alice: User) -> None:
    client = Client()
    assert client.get(reverse("palette")).status_code == 302
    assert 'id="palette"' not in client.get(reverse("login")).content.decode()
    client.force_login(alice)
    assert 'id="palette"' in client.get(reverse("models")).content.decode()
