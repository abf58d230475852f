"""The one click above the composer that could give a chat its tools: offered, applied, and by whom."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from chat.models import Conversation, Question
from tests.factories import ConversationFactory, ModelProfileFactory
from toolsupport.models import Detection, ModelProfile
from toolsupport.registry.knowledge import effective_values, overrides
from toolsupport.registry.knowledge.overrides import NewOverride
from toolsupport.registry.testing import detections
from toolsupport.registry.testing.detections import DetectionRequest, DetectionResult

pytestmark = pytest.mark.django_db


@pytest.fixture
def model() -> ModelProfile:
    made: ModelProfile = ModelProfileFactory(name="org/strange:1b")
    return made


@pytest.fixture
def chat(alice: User, client: Client, model: ModelProfile) -> Conversation:
    client.force_login(alice)
    made: Conversation = ConversationFactory(owner=alice, profile=model)
    return made


def asks(client: Client, chat: Conversation) -> str:
    return client.get(reverse("conversation-asks", args=[chat.pk])).content.decode()


def click(client: Client, chat: Conversation, act: str) -> str:
    return client.post(reverse("conversation-remedy", args=[chat.pk]), {"do": act}).content.decode()


def refused(chat: Conversation) -> None:
    chat.messages.create(role="user", content="What is in this folder?")
    chat.messages.create(role="notice", code="tools_refused", content="The server refused tools.")


# D9: a person confirmed tools and the server refuses them
def test_a_refusal_under_a_persons_yes_offers_the_test(
    client: Client, chat: Conversation, model: ModelProfile, bob: User
):
    overrides.add(NewOverride(model.pk, "tools", True, actor=bob.pk))
    assert "data-remedy" not in asks(client, chat)
    refused(chat)
    page = asks(client, chat)
    assert "refused tools" in page and "Test it" in page and "5 s" in page
    click(client, chat, "test")
    test = Detection.objects.get()
    assert (test.profile_id, test.trigger, test.status) == (model.pk, "chat", "queued")
    assert "data-remedy" not in asks(client, chat)
    assert detections.claim("worker") == test.pk
    detections.conclude(test.pk, "worker", DetectionResult("refused", values={"tools": False}))
    # The test has answered: the same test is not offered again.
    assert "data-remedy" not in asks(client, chat)


# D9: the card that asks whether to remember the refusal comes first
def test_beside_the_learning_card_nothing_is_offered(client: Client, chat: Conversation, model: ModelProfile):
    overrides.declare(model.pk, {"tools": True})
    refused(chat)
    assert "data-remedy" in asks(client, chat)
    Question.objects.create(conversation=chat, kind="runtime_learning", text="Update?", options=["save"])
    assert "data-remedy" not in asks(client, chat)


# D5: tools are off because nothing was ever tested
def test_a_claimed_no_offers_the_test(client: Client, chat: Conversation, model: ModelProfile):
    overrides.declare(model.pk, {"tools": False})
    assert "Tools are off: the server claims none for org/strange:1b. Never tested." in asks(client, chat)
    overrides.add(NewOverride(model.pk, "tools", False))
    assert "data-remedy" not in asks(client, chat)


def test_tools_that_are_off_in_this_chat_are_turned_on_again(client: Client, chat: Conversation, model: ModelProfile):
    here = str(chat.pk)
    overrides.add(NewOverride(model.pk, "tools", True))
    overrides.add(NewOverride(model.pk, "tools", False, "runtime_error", session=here))
    assert "Use tools again" in asks(client, chat)
    click(client, chat, "use_again")
    assert effective_values.known(model, here)["tools"].value is True
    Conversation.objects.filter(pk=chat.pk).update(settings={"tools_on": False})
    assert "Turn tools on" in asks(client, chat)
    click(client, chat, "switch_on")
    assert Conversation.objects.get(pk=chat.pk).settings["tools_on"] is True
    assert "data-remedy" not in asks(client, chat) and "Choose one of" in click(client, chat, "burn")


@pytest.mark.parametrize(("name", "status"), [("bob", 404), ("charlie", 403)])
def test_others_do_not_click_in_alices_chat(
    client: Client, chat: Conversation, name: str, status: int, request: pytest.FixtureRequest
):
    client.force_login(request.getfixturevalue(name))
    assert client.post(reverse("conversation-remedy", args=[chat.pk]), {"do": "test"}).status_code == status
    assert not Detection.objects.exists()


def test_the_duration_is_that_of_the_last_test(client: Client, chat: Conversation, model: ModelProfile):
    other = ModelProfileFactory(server=model.server)
    test = detections.open_test(DetectionRequest(other.pk, "page")).id
    assert detections.claim("worker") == test
    detections.conclude(test, "worker", DetectionResult("native", values={"tools": True}, run_ms=42_000))
    assert "42 s" in asks(client, chat)
