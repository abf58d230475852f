"""A program's call in rows: the chats it may use, its result, and the tools of its model (T6, T7)."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.db.models import F

from chat.models import Conversation, ToolRun, Turn
from chat.transcript.conversations import next_request
from chat.transcript.settings import turn_settings
from chat.transcript.turn_store import TurnStore
from chat.transcript.turns import api_tool_call
from chat.transcript.turns.api_tool_call import CallRequest, InvalidCall
from chat.transcript.turns.begin import AcceptedMessage
from chat.transcript.turns.end import TurnOutcome, end
from tests.chat.started_turns import accept
from tests.factories import ConversationFactory, ModelProfileFactory
from toolsupport.core.errors import Busy, NotFound
from toolsupport.core.types import ToolFilter
from toolsupport.models import ModelProfile
from toolsupport.registry.knowledge import overrides
from toolsupport.registry.knowledge.overrides import NewOverride
from toolsupport.registry.settings import team_settings

pytestmark = pytest.mark.django_db
CAT = {"command": "cat config.json"}


@pytest.fixture
def conversation(alice: User, tmp_path: Path, settings) -> Conversation:
    settings.WORKSPACES_DIR = tmp_path
    profile = ModelProfileFactory()
    overrides.add(NewOverride(profile.pk, "tools", True))
    return ConversationFactory(owner=alice, profile=profile)


def begin(person: User, conversation: Conversation, name: str = "bash", **arguments: str) -> AcceptedMessage:
    wish = CallRequest(conversation.profile_id or 0, name, arguments or CAT)
    return accept(person, str(conversation.pk), wish, "me")


def test_alice_may_and_nobody_else(alice: User, bob: User, charlie: User, conversation: Conversation) -> None:
    for other in (bob, charlie):
        with pytest.raises(NotFound):
            begin(other, conversation)
    accepted = begin(alice, conversation)
    run = ToolRun.objects.get()
    assert (run.name, run.asked_as, run.arguments, run.asked_arguments) == (
        "read_file",
        "bash",
        {"path": "config.json"},
        CAT,
    )
    assert accepted.claimed is not None and accepted.claimed.resumed is not None
    assert accepted.claimed.resumed.calls_only


def test_the_same_request_finds_its_turn_until_it_was_told(alice: User, conversation: Conversation) -> None:
    first = begin(alice, conversation)
    again = begin(alice, conversation)
    assert (again.turn, again.claimed) == (first.turn, None)
    assert api_tool_call.state(first.turn) == api_tool_call.RequestedCallState()
    with pytest.raises(Busy):
        begin(alice, conversation, "read_file", path="a")
    end(TurnStore("me", first.turn), TurnOutcome("done"))
    assert begin(alice, conversation).turn == first.turn
    told = api_tool_call.state(first.turn)
    assert told.call is not None and (told.call["asked_as"], told.call["served_by"]) == ("bash", "read_file")
    assert begin(alice, conversation).turn != first.turn


def test_what_nobody_fetched_is_forgotten(alice: User, conversation: Conversation) -> None:
    first = begin(alice, conversation)
    end(TurnStore("me", first.turn), TurnOutcome("done"))
    Turn.objects.update(ended_at=F("ended_at") - api_tool_call.FETCHABLE - timedelta(seconds=1))
    assert begin(alice, conversation).turn != first.turn


def test_what_the_model_may_not_call(alice: User, conversation: Conversation) -> None:
    for name, arguments, param in (
        ("web_search", {"query": "a"}, "name"),
        ("read_file", {"file": "a"}, "arguments"),
        ("bash", {"cmd": "a"}, "arguments"),
    ):
        with pytest.raises(InvalidCall) as wrong:
            begin(alice, conversation, name, **arguments)
        assert wrong.value.param == param
    overrides.add(NewOverride(conversation.profile_id or 0, "tools", False))
    with pytest.raises(InvalidCall, match="This model may not call read_file"):
        begin(alice, conversation, "read_file", path="a")
    assert not Turn.objects.exists()


# D13 T6
def test_what_was_measured_of_a_model_decides_what_it_is_offered(conversation: Conversation) -> None:
    profile = conversation.profile_id or 0
    files = {"read_file", "list_directory", "write_file", "edit_file"}

    def offered() -> set[str]:
        conversation.refresh_from_db(fields=["profile"])
        return {tool.name for tool in turn_settings.prepared(conversation).request_spec.tools} & {*files, "bash"}

    assert offered() == files
    for tool in ("read_file", "list_directory", "write_file"):
        overrides.add(NewOverride(profile, f"tool:{tool}", "via_bash"))
    assert offered() == {"bash"}
    why = {tool.name: tool.rule for tool in next_request._tools(turn_settings.prepared(conversation), ToolFilter(), {})}
    assert {name for name, rule in why.items() if rule == "translated"} == files
    ModelProfile.objects.update(options={"translation": False})
    assert offered() == files
    ModelProfile.objects.update(options={})
    assert offered() == {"bash"}
    team_settings.put("filter_only", True)
    assert offered() == files


def test_a_model_that_said_no_is_offered_bash_from_then_on_in_that_chat(conversation: Conversation) -> None:
    assert "bash" not in {tool.name for tool in turn_settings.prepared(conversation).request_spec.tools}
    conversation.settings = {turn_settings.THROUGH_BASH: conversation.profile_id}
    assert "bash" in {tool.name for tool in turn_settings.prepared(conversation).request_spec.tools}
    conversation.settings = {turn_settings.THROUGH_BASH: -1}
    assert "bash" not in {tool.name for tool in turn_settings.prepared(conversation).request_spec.tools}
