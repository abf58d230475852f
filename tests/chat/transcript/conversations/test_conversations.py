"""Conversations as their owner sees them, with nothing to see for others."""

from __future__ import annotations

import json

import pytest
from django.contrib.auth.models import User
from django.db.models import TextField
from django.db.models.functions import Cast
from django.test import Client

from chat.models import Conversation, Message
from chat.transcript.conversations import conversations
from chat.transcript.conversations.conversations import FormSettings
from chat.transcript.messages.history import canonical
from tests.factories import ConversationFactory, ModelProfileFactory, OverrideFactory
from tests.markup import flat
from toolsupport.core.errors import NotFound

pytestmark = pytest.mark.django_db


def test_a_new_conversation_has_the_persons_last_model_and_an_example(alice: User) -> None:
    last = ConversationFactory(owner=alice).profile
    ModelProfileFactory()
    made = Conversation.objects.get(pk=conversations.create(alice))
    assert made.profile == last
    names = {path.name for path in conversations.workspace_of(alice, str(made.pk)).root.iterdir()}
    assert "config.json" in names


def test_a_conversation_made_before_any_model_was_known_gets_one_when_shown(alice: User) -> None:
    made = conversations.create(alice)
    assert conversations.show(alice, made).model is None
    profile = ModelProfileFactory()
    shown = conversations.show(alice, made)
    assert shown.model is not None and shown.model.id == profile.pk


@pytest.mark.parametrize(
    "act",
    [
        lambda person, where: conversations.show(person, where),
        lambda person, where: conversations.state(person, where),
        lambda person, where: conversations.select_model(person, where, "1"),
        lambda person, where: conversations.save_settings(person, where, FormSettings()),
        lambda person, where: conversations.switch_tools(person, where, False),
        lambda person, where: conversations.workspace_of(person, where),
        lambda person, where: conversations.text_of(person, where, 1),
    ],
)
@pytest.mark.parametrize("where", ["foreign", "absent", "malformed"])
def test_nobody_elses(alice: User, bob: User, act: object, where: str) -> None:
    places = {
        "foreign": str(ConversationFactory(owner=alice).pk),
        "absent": "00000000-0000-0000-0000-000000000000",
        "malformed": "../etc",
    }
    with pytest.raises(NotFound, match="This chat does not exist"):
        act(bob, places[where])  # type: ignore[operator]


# D4
def test_choosing_a_model_says_what_is_known_and_why(alice: User) -> None:
    conversation = ConversationFactory(owner=alice)
    other = ModelProfileFactory(name="gemma3:1b", server=conversation.profile.server)
    switched = conversations.select_model(alice, str(conversation.pk), "gemma3:1b")
    [(_, notice)] = switched
    assert notice.message.text == "Switched to gemma3:1b. Tools: Disabled (profile)"
    [stored] = Message.objects.filter(code="switched").values_list(Cast("facts", TextField()), flat=True)
    labels = {"state": {"code": "tools_disabled"}, "source": {"code": "source_profile"}}
    assert json.loads(stored) == {"model": "gemma3:1b", **labels}
    assert conversations.select_model(alice, str(conversation.pk), str(other.pk)) == ()
    conversation.refresh_from_db()
    assert canonical(conversation) == ()


# D3: this conversation's own decision is what its page shows.
def test_a_conversations_own_decision_counts_here_only(alice: User) -> None:
    here, there = ConversationFactory(owner=alice), ConversationFactory(owner=alice)
    Conversation.objects.filter(pk=there.pk).update(profile=here.profile)
    OverrideFactory(profile=here.profile, value=False, source="runtime_error", session=str(here.pk))
    assert conversations.state(alice, str(here.pk)).capabilities["tools"]["value"] is False
    assert conversations.state(alice, str(there.pk)).capabilities["tools"]["value"] is None


@pytest.mark.parametrize(("given", "kept"), [("", None), ("0.7", 0.7), ("2", 2.0)])
def test_settings_are_kept(alice: User, given: str, kept: float | None) -> None:
    conversation = ConversationFactory(owner=alice)
    saved = conversations.save_settings(alice, str(conversation.pk), FormSettings(" Be brief. ", given))
    assert (saved["system"], saved["temperature"]) == ("Be brief.", kept)


WRONG = [
    *[FormSettings("x", given, "hermes") for given in ("warm", "-1", "2.1", "nan", "inf")],
    FormSettings("x", "1", "no_such_format"),
    FormSettings("x" * (conversations.SYSTEM_LENGTH + 1), "1", "hermes"),
]


@pytest.mark.parametrize("form", WRONG, ids=lambda form: f"{form.temperature}-{form.format}-{len(form.system)}")
def test_a_form_with_one_wrong_value_changes_nothing(alice: User, form: FormSettings) -> None:
    conversation = ConversationFactory(owner=alice)
    with pytest.raises(ValueError, match=r"from 0 to 2|call format does not exist|characters"):
        conversations.save_settings(alice, str(conversation.pk), form)
    conversation.refresh_from_db()
    assert conversation.settings == {}


def test_the_page_of_a_refused_form_keeps_what_was_typed(client: Client, alice: User) -> None:
    conversation = ConversationFactory(owner=alice, settings={"system": "Old.", "format": "hermes"})
    client.force_login(alice)
    sent = {"system": "New.", "temperature": "warm", "format": "pythonic"}
    page = flat(client.post(f"/chat/{conversation.pk}/settings/", sent).content.decode())
    assert "New." in page and 'value="warm"' in page and '<option value="pythonic" selected>' in page
    conversation.refresh_from_db()
    assert conversation.settings == {"system": "Old.", "format": "hermes"}


def test_a_page_costs_a_few_queries_whatever_its_length(alice: User, django_assert_max_num_queries: object) -> None:
    conversation = ConversationFactory(owner=alice)
    parent = None
    for number in range(60):
        parent = Message.objects.create(
            conversation=conversation, parent=parent, role="user", content=f"message {number}"
        )
    Conversation.objects.filter(pk=conversation.pk).update(leaf=parent)
    with django_assert_max_num_queries(14):  # type: ignore[operator]
        shown = conversations.show(alice, str(conversation.pk))
    assert [message.text for message in shown.messages] == [f"message {number}" for number in range(60)]
