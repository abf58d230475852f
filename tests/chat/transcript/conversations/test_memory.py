"""The memory of a chat: written by its owner or its model, sent with every message, undone."""

from __future__ import annotations

import pytest
from channels.db import database_sync_to_async as in_database
from django.contrib.auth.models import User

from chat.models import Conversation, Memory
from chat.tools.diff_preview import basis_of
from chat.transcript.conversations import memory as conversations_memory
from chat.transcript.conversations.export import export
from chat.transcript.conversations.memory import ConversationMemory
from chat.transcript.settings import prompt_context, turn_settings
from chat.transcript.turn_store import TurnStore
from chat.transcript.turns.sent_message import SentMessage
from tests.chat.started_turns import accept
from tests.factories import ConversationFactory, ModelProfileFactory
from toolsupport import exchange
from toolsupport.core.errors import Conflict, NotFound, ToolError
from toolsupport.core.types import ChatMessage, Role
from toolsupport.registry.knowledge import overrides
from toolsupport.registry.knowledge.overrides import NewOverride

pytestmark = pytest.mark.django_db


@pytest.fixture
def conversation(alice: User) -> Conversation:
    return ConversationFactory(owner=alice, profile=ModelProfileFactory())


def write(person: User, conversation: Conversation, text: str) -> None:
    conversations_memory.write(person, str(conversation.pk), text, basis_of(prompt_context.memory_of(conversation.pk)))


# T3
def test_the_model_is_told_what_was_written(alice: User, conversation: Conversation) -> None:
    assert prompt_context.MEMORY not in turn_settings.prepared(conversation).request_spec.system
    write(alice, conversation, " Maria likes tea.\n")
    system = turn_settings.prepared(conversation).request_spec.system
    assert system.endswith(f"{prompt_context.MEMORY}\nMaria likes tea.")
    shown = conversations_memory.show(alice, str(conversation.pk))
    assert (shown.text, shown.by, shown.earlier) == ("Maria likes tea.", "alice", False)
    assert export(alice, str(conversation.pk)).memory == "Maria likes tea."


def test_what_somebody_else_wrote_meanwhile_is_not_lost(alice: User, conversation: Conversation) -> None:
    write(alice, conversation, "before")
    write(alice, conversation, "first")
    here, seen = str(conversation.pk), basis_of("")
    with pytest.raises(Conflict) as told:
        conversations_memory.write(alice, here, "mine", seen)
    assert told.value.current == "first"
    with pytest.raises(Conflict):
        conversations_memory.put_back(alice, here, seen)
    assert prompt_context.memory_of(conversation.pk) == "first"


def test_the_last_change_can_be_taken_back(alice: User, conversation: Conversation) -> None:
    here = str(conversation.pk)
    write(alice, conversation, "first")
    write(alice, conversation, "second")
    conversations_memory.put_back(alice, here, basis_of("second"))
    assert conversations_memory.show(alice, here).text == "first"
    with pytest.raises(Conflict, match="no earlier text"):
        conversations_memory.put_back(alice, here, basis_of("first"))


def test_only_the_last_versions_are_kept_and_only_of_this_conversation(alice: User, conversation: Conversation) -> None:
    other = ConversationFactory(owner=alice)
    write(alice, other, "other")
    for number in range(23):
        write(alice, conversation, f"version {number}")
    texts = list(Memory.objects.filter(conversation=conversation).values_list("text", flat=True))
    assert texts == [f"version {number}" for number in range(3, 23)]
    assert prompt_context.memory_of(other.pk) == "other"


@pytest.mark.parametrize("person", ["bob", "charlie"])
def test_it_is_its_owners_alone(conversation: Conversation, person: str, request: pytest.FixtureRequest) -> None:
    somebody, here = request.getfixturevalue(person), str(conversation.pk)
    for act in (
        lambda: conversations_memory.show(somebody, here),
        lambda: conversations_memory.write(somebody, here, "x", basis_of("")),
        lambda: conversations_memory.put_back(somebody, here, basis_of("")),
    ):
        with pytest.raises(NotFound):
            act()


def test_too_much_is_said_to_be_too_much(alice: User, conversation: Conversation) -> None:
    with pytest.raises(ValueError, match="16,384 bytes at most"):
        conversations_memory.write(alice, str(conversation.pk), "x" * 17_000, basis_of(""))


def begun(conversation: Conversation) -> TurnStore:
    return TurnStore("me", accept(conversation.owner, str(conversation.pk), SentMessage("1", "hi"), "me").turn)


@pytest.mark.django_db(transaction=True)
@pytest.mark.asyncio
async def test_the_handle_of_a_tool_writes_over_what_the_model_knows_only() -> None:
    conversation = await in_database(ConversationFactory)()
    memory = ConversationMemory(await in_database(begun)(conversation), "")
    await memory.write("one", basis_of(""))
    assert memory.text == "one" and await in_database(prompt_context.memory_of)(conversation.pk) == "one"
    await in_database(write)(conversation.owner, conversation, "a person's")
    with pytest.raises(ToolError, match="It now reads:\na person's"):
        await memory.write("two", basis_of("one"))
    assert memory.text == "a person's"
    await memory.write("a person's\ntwo", basis_of(memory.text))
    assert (await in_database(conversations_memory.show)(conversation.owner, str(conversation.pk))).by == ""


def test_a_short_prompt_leaves_it_out(alice: User, conversation: Conversation) -> None:  # F8
    write(alice, conversation, "Maria likes tea.")
    profile = ModelProfileFactory(options={"turn_context": "minimal_system"})
    overrides.add(NewOverride(profile.pk, "tools", True))
    for holder, told in ((profile, False), (conversation.profile, True)):
        conversation.profile = holder
        request_spec = turn_settings.prepared(conversation).request_spec
        sent = exchange.make_request(request_spec, (ChatMessage(Role.USER, "hi"),)).messages
        assert any("Maria likes tea." in message.content for message in sent) is told
