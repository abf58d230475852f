"""The raw exchange of an answer: as it was stored, else rebuilt from rows, for its owner alone."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from chat.models import Conversation, Message
from chat.transcript.conversations import raw_request
from tests.factories import ConversationFactory, ModelProfileFactory, OverrideFactory, ServerFactory
from toolsupport.core.errors import NotFound
from toolsupport.registry.servers import key_encryption

pytestmark = pytest.mark.django_db
RAW = '<tool_call>{"name": "read_file"'


@pytest.fixture
def answer(alice: User) -> Message:
    server = ServerFactory(api_key=key_encryption.encrypt("sk-secret-9931"))
    profile = ModelProfileFactory(name="m1", server=server)
    OverrideFactory(profile=profile, capability="tools", value=True, source="user_confirmed")
    conversation: Conversation = ConversationFactory(owner=alice, profile=profile)
    turn = conversation.turns.create(client_id="1", profile=profile, status="done", format="hermes")
    asked = conversation.messages.create(role="user", content="What is in a.md?", turn=turn)
    said = conversation.messages.create(role="assistant", content="Let me see.", turn=turn, parent=asked)
    said.tool_runs.create(turn=turn, call_id="1", name="read_file", status="rejected", error="No end.", raw=RAW)
    return said


# T2
def test_alice_sees_format_call_and_request(client: Client, alice: User, answer: Message) -> None:
    client.force_login(alice)
    page = client.get(reverse("message-wire", args=[answer.conversation_id, answer.pk])).content.decode()
    assert "Hermes" in page and "No end." in page and "tool_call&gt;{&quot;name&quot;" in page
    assert "What is in a.md?" in page and "Let me see." not in page
    assert "sk-secret" not in page and "is not kept" in page and "made again" in page


def test_the_request_has_no_tools_where_the_turn_had_none(alice: User, answer: Message) -> None:
    assert answer.turn is not None
    answer.turn.format = ""
    answer.turn.save()
    wire = raw_request.of(alice, str(answer.conversation_id), answer.pk)
    assert wire.format == "" and '"tools"' not in wire.request


def test_an_answer_keeps_its_format_when_the_turn_goes_on_in_another(alice: User, answer: Message) -> None:
    answer.tool_runs.update(format="mistral")
    assert raw_request.of(alice, str(answer.conversation_id), answer.pk).format == "Mistral"


def test_a_question_has_no_wire(alice: User, answer: Message) -> None:
    with pytest.raises(NotFound):
        raw_request.of(alice, str(answer.conversation_id), answer.parent_id or 0)
