"""A turn as a case: only for Alice, the owner of the chat."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from chat.models import Conversation, Turn
from chat.transcript.conversations import conversations
from chat.transcript.turns import turn_case
from tests.chat.finished_turns import Called, asked
from tests.factories import ModelProfileFactory, UserFactory
from toolsupport.core.types import ChatMessage, Role
from toolsupport.models import TeamCase
from toolsupport.registry.exams import team_exams

pytestmark = pytest.mark.django_db
SECRET = "sk-abcdefghijklmnop1234"


@pytest.fixture
def chat(alice: User) -> Conversation:
    profile: Any = ModelProfileFactory(name="m:1")
    row = Conversation.objects.get(pk=conversations.create(alice, profile.pk))
    row.settings = {"system": "Be short."}
    row.save()
    return row


def calls_of(*paths: str) -> tuple[Called, ...]:
    return tuple(("read_file", {"path": path}, f"text of {path}", "done") for path in paths)


def test_a_turn_is_its_request_with_all_before_and_nothing_after(chat: Conversation, alice: User) -> None:
    asked(chat, "What is in a.txt?", calls_of("a.txt"))
    second = asked(chat, "And in b.txt?", (*calls_of("b.txt", "b.txt"), ("read_file", {"path": "c"}, "gone", "failed")))
    asked(chat, "Thanks.")
    made = turn_case.of_turn(alice, second.pk)
    roles = [message.role.value for message in made.case.messages]
    assert roles == ["system", "user", "assistant", "tool", "assistant", "user"]
    assert made.case.messages[0].content == "Be short." and made.case.messages[-1].content == "And in b.txt?"
    assert [call.arguments for call in made.case.expected] == [{"path": "b.txt"}]
    assert [one.result for one in made.case.recorded] == ["text of b.txt", "text of b.txt", "gone"]
    assert "read_file" in [tool.name for tool in made.case.tools]


def test_a_tool_that_is_gone_is_offered_as_it_was_called(chat: Conversation, alice: User) -> None:
    turn = asked(chat, "Weather?", (("weather_of", {"city": "Bonn"}, "sunny", "done"),))
    case = turn_case.of_turn(alice, turn.pk).case
    (tool,) = [tool for tool in case.tools if tool.name == "weather_of"]
    assert list(tool.parameters["properties"]) == ["city"]


def test_a_call_that_nobody_asked_a_model_for_is_no_case(chat: Conversation, alice: User, client: Client) -> None:
    turn: Turn = chat.turns.create(client_id="x", profile_id=chat.profile_id or 0, status="done")
    chat.messages.create(role="assistant", content="", turn=turn)
    client.force_login(alice)
    addresses = [reverse(name, args=[turn.pk]) for name in ("turn-case", "compare")]
    assert [client.get(one).status_code for one in addresses] == [404, 404]


@pytest.mark.parametrize("program", ["", "asked", "told"])
def test_only_an_answer_to_a_person_can_be_a_case(
    chat: Conversation, alice: User, client: Client, program: str
) -> None:
    """The call of a program follows the answer to a person: its turn is no answer."""
    first = asked(chat, "What is in a.txt?", calls_of("a.txt"))
    turn: Turn = chat.turns.create(client_id="x", profile_id=chat.profile_id or 0, status="done", program=program)
    chat.leaf = chat.messages.create(role="assistant", content="", turn=turn, parent=chat.leaf)
    chat.save()
    client.force_login(alice)
    shown = client.get(reverse("conversation", args=[chat.pk])).content.decode()
    for row, offered in ((first, True), (turn, not program)):
        for name in ("turn-case", "compare"):
            address = reverse(name, args=[row.pk])
            assert (address in shown, client.get(address).status_code == 200) == (offered, offered), (name, row.pk)


def test_a_long_conversation_keeps_its_end_and_its_system_message() -> None:
    log = [ChatMessage(Role.SYSTEM, "Be short.")]
    for n in range(300):
        log += [ChatMessage(Role.USER, f"question {n}"), ChatMessage(Role.ASSISTANT, "x" * 6_000)]
    kept = turn_case.fitting([*log, ChatMessage(Role.USER, "the last")])
    assert (kept[0].role, kept[1].role, kept[-1].content) == (Role.SYSTEM, Role.USER, "the last")
    assert 100 < len(kept) < 400 and sum(len(one.content) for one in kept) <= turn_case.MOST_BYTES


def fields(page: str) -> dict[str, str]:
    """What a browser would send of the editor."""
    found: dict[str, str] = {}
    for part in page.split("<textarea ")[1:]:
        text = part.split(">", 1)[1].split("</textarea>")[0].removeprefix("\n")
        found[part.split('name="')[1].split('"')[0]] = text.replace("&quot;", '"').replace("&#x27;", "'")
    return found | {"order": "any"}


def test_alice_adds_a_case_without_its_secrets(chat: Conversation, alice: User, client: Client) -> None:
    turn = asked(chat, f"Read a.txt, my key is {SECRET}.", calls_of("a.txt"))
    client.force_login(alice)
    address = reverse("turn-case", args=[turn.pk])
    page = client.get(address).content.decode()
    assert SECRET not in page and "Everyone in the team sees this" in page
    sent = fields(page)
    assert json.loads(sent["expected"]) == [{"name": "read_file", "arguments": {"path": "a.txt"}}]
    wrong = client.post(address, sent | {"suite": "shop", "id": "mine", "expected": "[{]"}).content.decode()
    assert "Expected calls is not JSON" in wrong and "[{]" in wrong and 'value="shop"' in wrong
    assert not TeamCase.objects.exists()
    client.post(address, sent | {"suite": "shop", "id": "mine"})
    (case,) = team_exams.suite("shop").cases
    assert (case.id, case.messages[-1].content) == ("mine", "Read a.txt, my key is [secret].")
    again = client.post(address, sent | {"suite": "Shop", "id": "mine"}).content.decode()
    assert "This exam has a case “mine” already" in again
    assert 'value="shop"' in client.get(address).content.decode()


@pytest.mark.parametrize("role", ["user", "admin", "viewer"])
def test_nobody_else_sees_a_turn(chat: Conversation, role: str, client: Client) -> None:
    turn = asked(chat, "Mine.")
    client.force_login(UserFactory(role=role))
    address = reverse("turn-case", args=[turn.pk])
    refused = 403 if role == "viewer" else 404
    assert {client.get(address).status_code, client.post(address, {"suite": "x"}).status_code} == {refused}


def test_an_answer_that_is_not_over_is_no_case_yet(chat: Conversation, alice: User, client: Client) -> None:
    turn = asked(chat, "Wait.")
    Turn.objects.filter(pk=turn.pk).update(status="running")
    client.force_login(alice)
    assert client.get(reverse("turn-case", args=[turn.pk])).status_code == 404
