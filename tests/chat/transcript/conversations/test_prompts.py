"""The team's named prompts: versions that stay, a choice for each conversation."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from channels.db import database_sync_to_async as in_database
from django.contrib.auth.models import User
from django.db import connection

from chat.models import Conversation, Prompt
from chat.tools.stores import NamedPrompt
from chat.transcript.conversations import prompts
from chat.transcript.conversations.prompts import ConversationPrompts, PromptDraft
from chat.transcript.settings import turn_settings
from chat.transcript.turn_store import TurnStore
from chat.transcript.turns.sent_message import SentMessage
from tests.chat.started_turns import accept
from tests.factories import ConversationFactory, ModelProfileFactory, UserFactory
from toolsupport.core.errors import Conflict, NotFound, ToolError
from toolsupport.registry.knowledge import overrides
from toolsupport.registry.knowledge.overrides import NewOverride

pytestmark = pytest.mark.django_db


@pytest.fixture
def conversation(alice: User) -> Conversation:
    profile = ModelProfileFactory()
    overrides.add(NewOverride(profile.pk, "tools", True))
    return ConversationFactory(owner=alice, profile=profile, settings={"system": "Base."})


def write(person: User, name: str, text: str, basis: int = 0) -> str:
    return prompts.write(person, PromptDraft(name, f"When {name} is wanted", text, basis))


def system(conversation: Conversation) -> str:
    conversation.refresh_from_db(fields=["settings"])
    return turn_settings.prepared(conversation).request_spec.system


# T3
def test_chosen_prompts_follow_the_base_in_their_order(alice: User, bob: User, conversation: Conversation) -> None:
    write(bob, "Code review", "Look for bugs.")
    write(bob, "translator", "Answer in German.")
    assert system(conversation) == "Base."
    prompts.choose(alice, str(conversation.pk), ["translator", "code-review", "nobody"])
    assert system(conversation) == "Base.\n\nAnswer in German.\n\nLook for bugs."
    assert [(choice.prompt.name, choice.on) for choice in prompts.choices(alice, str(conversation.pk))] == [
        ("code-review", True),
        ("translator", True),
    ]
    prompts.withdraw(bob, "translator")
    assert system(conversation) == "Base.\n\nLook for bugs."


# T1, T3
def test_hot_swap_is_offered_where_there_is_something_to_choose(bob: User, conversation: Conversation) -> None:
    def offered() -> dict[str, str]:
        return {tool.name: tool.description for tool in turn_settings.prepared(conversation).request_spec.tools}

    assert "hot_swap" not in offered()
    write(bob, "translator", "Answer in German.")
    assert "translator: When translator is wanted" in offered()["hot_swap"]
    prompts.withdraw(bob, "translator")
    assert "hot_swap" not in offered()


def test_every_version_stays_and_says_who_wrote_it(bob: User) -> None:
    write(bob, "brief", "Be brief.")
    write(UserFactory(username="dora"), "brief", "Be very brief.", prompts.offered()[0].id)
    prompts.withdraw(bob, "brief")
    found = prompts.versions("brief")
    assert [(version.by, version.withdrawn) for version in found] == [("bob", True), ("dora", False), ("bob", False)]
    assert prompts.offered() == () and Prompt.objects.count() == 3
    write(bob, "brief", "Back again.")
    assert [prompt.text for prompt in prompts.offered()] == ["Back again."]


def test_the_second_of_two_who_edit_is_told(bob: User) -> None:
    write(bob, "brief", "one")
    seen = prompts.offered()[0].id
    write(bob, "brief", "two", seen)
    for basis in (seen, 0):
        with pytest.raises(Conflict) as told:
            write(bob, "Brief", "three", basis)
        assert told.value.current == "two"


@pytest.mark.django_db(transaction=True)
def test_of_eight_who_edit_at_once_one_wins() -> None:
    bob: User = UserFactory()
    write(bob, "brief", "one")
    seen, together = prompts.offered()[0].id, Barrier(8)

    def edit(number: int) -> str:
        try:
            together.wait(10)
            return write(bob, "brief", f"edit {number}", seen)
        except Conflict:
            return "told"
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(edit, range(8))) == ["brief", *["told"] * 7]
    assert Prompt.objects.count() == 2


@pytest.mark.parametrize(
    "written",
    [PromptDraft("", "", "x"), PromptDraft("?!", "", "x"), PromptDraft("a", "", " "), PromptDraft("a", "d" * 201, "x")],
)
def test_what_cannot_be_kept_is_refused(bob: User, written: PromptDraft) -> None:
    with pytest.raises(ValueError, match=r"needs a name|at most"):
        prompts.write(bob, written)
    assert not Prompt.objects.exists()


def test_there_are_not_too_many(bob: User) -> None:
    for number in range(prompts.MOST):
        write(bob, f"prompt {number}", "x")
    with pytest.raises(ValueError, match="Withdraw one first"):
        write(bob, "one more", "x")
    write(bob, "prompt 0", "another text", next(each.id for each in prompts.offered() if each.name == "prompt-0"))


def test_what_is_not_there_cannot_be_withdrawn(bob: User) -> None:
    with pytest.raises(NotFound):
        prompts.withdraw(bob, "none")
    assert prompts.versions("none") == ()


@pytest.mark.parametrize("person", ["bob", "charlie"])
def test_a_choice_is_the_owners_alone(conversation: Conversation, person: str, request: pytest.FixtureRequest) -> None:
    somebody = request.getfixturevalue(person)
    for act in (
        lambda: prompts.choices(somebody, str(conversation.pk)),
        lambda: prompts.choose(somebody, str(conversation.pk), []),
    ):
        with pytest.raises(NotFound):
            act()


def begun(conversation: Conversation) -> TurnStore:
    return TurnStore("me", accept(conversation.owner, str(conversation.pk), SentMessage("1", "hi"), "me").turn)


@pytest.mark.django_db(transaction=True)
@pytest.mark.asyncio
async def test_the_handle_of_a_tool_chooses_all_or_none() -> None:
    conversation, bob = await in_database(ConversationFactory)(), await in_database(UserFactory)()
    await in_database(write)(bob, "brief", "Be brief.")
    handle = ConversationPrompts(await in_database(begun)(conversation), [NamedPrompt("brief"), NamedPrompt("gone")])
    with pytest.raises(ToolError, match="no prompt named gone"):
        await handle.choose(["brief", "gone"])
    assert "Be brief." not in await in_database(system)(conversation)
    await handle.choose(["brief"])
    assert (await in_database(system)(conversation)).endswith("Be brief.")
