"""Why a model gets its tools: every tool with a rule, and the very request that its server gets."""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing
from dataclasses import replace

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from chat.models import Conversation
from chat.tools import BUILTINS
from chat.transcript.conversations import excluded_tools, next_request, prompts
from chat.transcript.conversations.excluded_tools import SwitchChoice, ToolFilterChange
from chat.transcript.conversations.prompts import PromptDraft
from chat.transcript.settings import available_tools
from chat.transcript.turns.begin import ClaimedTurn
from chat.transcript.turns.sent_message import SentMessage
from tests.chat.started_turns import accept
from tests.factories import ConversationFactory, ModelProfileFactory, ServerFactory
from tests.markup import flat
from tests.toolsupport.providers.scripted import FINE, Scripted, scripted
from toolsupport import exchange
from toolsupport.core.prompt.token_counts import MeasuredPrompt, tools_digest
from toolsupport.core.tool_selection import Candidate
from toolsupport.core.types import ToolFilter, ToolSpec
from toolsupport.models import ModelProfile
from toolsupport.registry.databases import sql_sources
from toolsupport.registry.databases.sql_sources import NewSource
from toolsupport.registry.knowledge import overrides
from toolsupport.registry.knowledge.overrides import NewOverride
from toolsupport.registry.metrics import prompt_token_counts
from toolsupport.registry.models.request_context import ToolOffer
from toolsupport.registry.servers import key_encryption
from toolsupport.registry.settings import team_settings

pytestmark = pytest.mark.django_db
NOTHING = excluded_tools.stamp(ToolFilter())
FILE_TOOLS = ("read_file", "list_directory", "write_file", "edit_file")


@pytest.fixture
def able() -> ModelProfile:
    server = ServerFactory(name="attic", api_key=key_encryption.encrypt("sk-secret-9931"))
    profile: ModelProfile = ModelProfileFactory(name="m1", server=server)
    overrides.add(NewOverride(profile.pk, "tools", True))
    return profile


@pytest.fixture
def chat(alice: User, able: ModelProfile) -> Conversation:
    conversation: Conversation = ConversationFactory(owner=alice, profile=able)
    return conversation


def without(*names: str, shown: tuple[str, ...] = FILE_TOOLS, seen: str = NOTHING) -> ToolFilterChange:
    return ToolFilterChange(
        SwitchChoice(shown, [name for name in shown if name not in names]), SwitchChoice((), ()), seen
    )


# -- who may --


# T2
def test_alice_sees_why_in_her_chat(client: Client, alice: User, chat: Conversation) -> None:
    client.force_login(alice)
    page = client.get(reverse("conversation-explain", args=[chat.pk])).content.decode()
    assert all(f'data-tool="{name}"' in page for name in BUILTINS)
    assert "Calls are made natively" in page and "&quot;num_ctx&quot;: 8192" in page
    assert "sk-secret" not in page and "POST <code>/api/chat</code> to attic" in page
    assert "person" in page


def test_bob_sees_no_chat_of_others_and_every_model(client: Client, bob: User, chat: Conversation) -> None:
    client.force_login(bob)
    assert client.get(reverse("conversation-explain", args=[chat.pk])).status_code == 404
    assert client.post(reverse("conversation-tools", args=[chat.pk])).status_code == 404
    page = client.get(reverse("model-explain", args=[chat.profile_id]), {"message": "Hello there"}).content.decode()
    assert "In a new chat" in page and "Hello there" in page and 'name="tool-kept"' not in page


def test_charlie_may_look_at_models_only(client: Client, charlie: User, chat: Conversation) -> None:
    client.force_login(charlie)
    assert client.get(reverse("model-explain", args=[chat.profile_id])).status_code == 200
    assert client.get(reverse("conversation-explain", args=[chat.pk])).status_code == 403
    assert client.post(reverse("conversation-tools", args=[chat.pk])).status_code == 403


def test_a_chat_without_a_model_is_told_to_choose_one(client: Client, alice: User) -> None:
    client.force_login(alice)
    page = client.get(reverse("conversation-explain", args=[ConversationFactory(owner=alice, profile=None).pk]))
    assert "Choose a model first." in page.content.decode()


# -- what is told --


def test_an_unknown_model_is_sent_no_tools_and_each_is_told_why(alice: User) -> None:  # D1, F6
    told = next_request.of_model(alice, ModelProfileFactory(name="phi-x:7b").pk)
    assert told.included == 0 and {tool.rule for tool in told.tools} == {"unknown"}
    assert "tools" not in json.loads(told.request.body) and told.cost.tools == 0
    assert "No test has shown yet" in told.format_reason


def test_a_switched_off_tool_names_its_rule(alice: User, able: ModelProfile) -> None:  # T2
    team_settings.put("tools", {"read_file": False})
    told = {tool.name: tool for tool in next_request.of_model(alice, able.pk).tools}
    assert (told["read_file"].included, told["read_file"].rule, told["read_file"].tokens) == (False, "disabled", 0)
    assert told["write_file"].included and told["write_file"].tokens > 0


def test_a_shell_that_stands_in_is_offered_and_says_what_it_is(alice: User, able: ModelProfile) -> None:  # T2 T6
    for name in FILE_TOOLS:
        overrides.add(NewOverride(able.pk, f"tool:{name}", "via_bash"))
    explained = next_request.of_model(alice, able.pk)
    tools = {tool.name: tool for tool in explained.tools}
    assert tools["bash"].included and "there is no shell" in tools["bash"].reason
    assert not any(tools[name].included for name in FILE_TOOLS)
    sent = {tool["function"]["name"] for tool in json.loads(explained.request.body)["tools"]}
    assert sent == {tool.name for tool in explained.tools if tool.included}


def test_a_new_chat_has_the_databases_of_whoever_looks(alice: User, charlie: User, able: ModelProfile) -> None:  # T10
    for name, groups in (("sales", ["user"]), ("attic", [])):
        sql_sources.add(NewSource(name, "sqlite", "/nowhere", groups))
    told = {tool.name: tool for tool in next_request.of_model(alice, able.pk).tools}
    body = next_request.of_model(alice, able.pk).request.body
    assert told["execute_sql"].included and "Databases: sales (SQLite)." in body
    told = {tool.name: tool for tool in next_request.of_model(charlie, able.pk).tools}
    assert told["execute_sql"].rule == "no_source"


@pytest.mark.parametrize(
    ("set_by", "degree", "source"),
    [
        (("chat", "model", "team"), 0.1, "the settings of this chat"),
        (("model", "team"), 0.2, "the options of this model"),
        (("team",), 0.4, "the team's defaults"),
        ((), 0.3, "the default: 0.3 where tools are offered"),
    ],
)
def test_the_temperature_says_where_it_comes_from(
    chat: Conversation, set_by: tuple[str, ...], degree: float, source: str
) -> None:  # C9
    Conversation.objects.filter(pk=chat.pk).update(settings={"temperature": 0.1} if "chat" in set_by else {})
    ModelProfile.objects.filter(pk=chat.profile_id or 0).update(
        options={"temperature": 0.2} if "model" in set_by else {}
    )
    team_settings.put("temperature", 0.4 if "team" in set_by else None)
    request = next_request.of_conversation(chat.owner, str(chat.pk)).request
    assert (request.temperature, request.temperature_from) == (degree, source)


def test_the_prompt_says_where_it_comes_from(alice: User, chat: Conversation) -> None:  # C9
    here = str(chat.pk)
    assert next_request.of_conversation(alice, here).request.system_from == "the default"
    team_settings.put("base_system_prompt", "Be brief.")
    request = next_request.of_conversation(alice, here).request
    assert request.system_from == "the team's defaults" and request.system.startswith("Be brief.")
    Conversation.objects.filter(pk=chat.pk).update(settings={"system": "Rhyme."})
    request = next_request.of_conversation(alice, here).request
    assert request.system_from == "the settings of this chat" and request.system.startswith("Rhyme.")


def test_the_short_prompt_says_that_it_is_that(alice: User, chat: Conversation) -> None:  # C9
    ModelProfile.objects.filter(pk=chat.profile_id or 0).update(options={"turn_context": "minimal_system"})
    chat.memories.create(text="Her name is Ada.")
    request = next_request.of_conversation(alice, str(chat.pk)).request
    assert request.system_from == "the short prompt for models that lose their way in long conversations"
    assert request.system.startswith("You are an assistant that works with tools.")


def test_prompts_and_memory_of_a_chat_are_named(alice: User, bob: User, chat: Conversation) -> None:  # C9
    prompts.write(bob, PromptDraft("polite", "Manners.", "Say please."))
    Conversation.objects.filter(pk=chat.pk).update(settings={"prompts": ["polite"]})
    chat.memories.create(text="Her name is Ada.")
    request = next_request.of_conversation(alice, str(chat.pk)).request
    assert request.system_from.endswith("the default, then the team's prompt polite, then what is remembered")
    assert "Say please." in request.system and "Her name is Ada." in request.system


def test_a_tool_without_room_says_so_and_is_not_in_the_request(alice: User, chat: Conversation) -> None:  # F9
    def out(words: int) -> set[str]:
        shown = next_request.of_conversation(alice, str(chat.pk), "word " * words)
        gone = {tool.name for tool in shown.tools if tool.rule == "no_room"}
        assert all("room" in tool.reason and not tool.included for tool in shown.tools if tool.name in gone)
        assert not any(f'"{name}"' in shown.request.body for name in gone)
        return gone

    assert out(1) == set()
    assert any(out(words) for words in range(4_000, 7_000, 100))


def test_what_tools_cost_is_estimated_until_a_server_has_counted(alice: User, chat: Conversation) -> None:  # F9
    accepted = accept(alice, str(chat.pk), SentMessage("1", "hi"), "me")
    assert accepted.claimed is not None
    prepared = accepted.claimed.prepared
    estimated = next_request.of_conversation(alice, str(chat.pk)).cost
    prompt_token_counts.learn(prepared.build, tools_digest(prepared.request_spec), MeasuredPrompt(100, 700))
    prompt_token_counts.learn(prepared.build, "", MeasuredPrompt(100, 100))
    told = next_request.of_conversation(alice, str(chat.pk))
    assert (estimated.measured, told.cost.measured, told.cost.tools) == (False, True, 600)
    assert abs(sum(tool.tokens for tool in told.tools) - 600) <= len(told.tools)
    assert told.cost.whole > 600 and told.cost.context == 8192


def test_a_whole_request_is_estimated_from_all_that_is_sent(alice: User, chat: Conversation) -> None:  # F9
    for settings in ({}, {"format": "hermes"}, {"tools_on": False}):
        Conversation.objects.filter(pk=chat.pk).update(settings=settings)
        told = next_request.of_conversation(alice, str(chat.pk))
        compact = len(json.dumps(json.loads(told.request.body)))
        assert 0.2 * compact < 4 * told.cost.whole < compact + 100


# T2
@pytest.mark.django_db(transaction=True)
@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        ("ollama", {}),
        ("ollama", {"format": "hermes", "system": "Rhyme."}),
        ("ollama", {"tools_on": False}),
        ("openai", {"left_out": {"tools": ["bash", "write_file"], "servers": []}, "temperature": 1.5}),
    ],
)
async def test_the_page_shows_what_the_server_gets(kind: str, settings: dict[str, object]) -> None:
    async with scripted(FINE) as server:
        shown = await sync_to_async(_shown_then_sent)(server, kind, settings)
        told, claimed = shown
        async with aclosing(
            exchange.ask(claimed.prepared.endpoint, claimed.prepared.request_spec, claimed.history)
        ) as events:
            await asyncio.wait_for(_drain(events), 10)
    head, body = server.requests[0]
    assert json.loads(body) == json.loads(told.request.body)
    assert head.split(" ")[:2] == ["POST", told.request.path]


async def _drain(events: object) -> None:
    async for _ in events:  # type: ignore[attr-defined]
        pass


def _shown_then_sent(
    server: Scripted, kind: str, settings: dict[str, object]
) -> tuple[next_request.RequestExplanation, ClaimedTurn]:
    """What the page says of the next message, then that message, claimed as the runner does."""
    row = ServerFactory(kind=kind, base_url=f"http://127.0.0.1:{server.port}")
    profile = ModelProfileFactory(server=row)
    overrides.add(NewOverride(profile.pk, "tools", True))
    conversation = ConversationFactory(profile=profile, settings=settings)
    conversation.leaf = conversation.messages.create(role="user", content="Good morning")
    conversation.save()
    told = next_request.of_conversation(conversation.owner, str(conversation.pk), "What is new?")
    accepted = accept(conversation.owner, str(conversation.pk), SentMessage("1", "What is new?"), "me")
    assert accepted.claimed is not None
    return told, accepted.claimed


def test_an_answer_that_runs_keeps_what_it_began_with_and_that_is_said(
    client: Client, alice: User, chat: Conversation
) -> None:
    client.force_login(alice)
    address = reverse("conversation-explain", args=[chat.pk])
    assert "An answer is running" not in client.get(address).content.decode()
    accept(alice, str(chat.pk), SentMessage("1", "hi"), "me")
    assert "An answer is running" in client.get(address).content.decode()


# -- leaving tools out of a chat --


def test_what_a_chat_leaves_out_is_out_of_its_requests(client: Client, alice: User, chat: Conversation) -> None:  # T1
    client.force_login(alice)
    form = {"seen": NOTHING, "tool-shown": FILE_TOOLS, "tool-kept": ["read_file"], "message": "Hm?"}
    page = client.post(reverse("conversation-tools", args=[chat.pk]), form, headers={"HX-Request": "true"})
    assert "Saved" in page.content.decode() and "<html" not in page.content.decode()
    told = next_request.of_conversation(alice, str(chat.pk))
    assert [tool.name for tool in told.tools if tool.included and tool.name in FILE_TOOLS] == ["read_file"]
    assert {tool.reason for tool in told.tools if not tool.kept} == {"This chat leaves this tool out."}
    accepted = accept(alice, str(chat.pk), SentMessage("1", "hi"), "me")
    assert accepted.claimed is not None
    assert accepted.claimed.prepared.usable & {*FILE_TOOLS} == {"read_file"}
    assert next_request.of_model(alice, chat.profile_id or 0).included > 1


def test_what_the_team_switched_off_cannot_be_switched_on_here(alice: User, chat: Conversation) -> None:  # T1
    team_settings.put("tools", {"read_file": False})
    team_settings.put("left_out", {"tools": ["write_file"]})
    excluded_tools.put(alice, str(chat.pk), without())
    told = {tool.name: tool for tool in next_request.of_conversation(alice, str(chat.pk)).tools}
    assert not told["read_file"].included and told["read_file"].locked
    assert not told["write_file"].included and told["write_file"].reason == "The team leaves this tool out."


def test_a_whole_server_is_left_out_of_a_chat(
    client: Client, alice: User, chat: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:  # T1
    team = team_settings.everything()
    found = [Candidate(ToolSpec(f"wiki_{number}"), kind="mcp", server="wiki") for number in range(3)]
    found[1] = replace(found[1], materialised=True)
    monkeypatch.setattr(available_tools, "offer", lambda *_, **__: ToolOffer(tuple(found), team))
    client.force_login(alice)
    page = flat(client.get(reverse("conversation-explain", args=[chat.pk])).content.decode())
    assert (
        "1 of 3 tools are offered" in page and "wiki: 1 of 3 tools offered" in page and "once a search finds it" in page
    )
    form = {"seen": NOTHING, "server-shown": ["wiki"], "tool-shown": ["wiki_1"], "tool-kept": ["wiki_1"]}
    page = client.post(reverse("conversation-tools", args=[chat.pk]), form).content.decode()
    assert "0 of 3 tools are offered" in page and "This chat leaves the server wiki out." in page
    again = form | {"seen": excluded_tools.stamp(ToolFilter(servers=frozenset({"wiki"}))), "server-kept": ["wiki"]}
    assert "1 of 3" in client.post(reverse("conversation-tools", args=[chat.pk]), again).content.decode()


def test_what_falls_out_under_a_limit_is_listed(
    client: Client, alice: User, chat: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:  # T1
    team = team_settings.everything()
    found = (Candidate(ToolSpec(f"w{n}"), kind="mcp", server="wiki", materialised=True) for n in range(4))
    offer = ToolOffer(tuple(found), team)
    monkeypatch.setattr(available_tools, "offer", lambda *_, **__: offer)
    client.force_login(alice)
    page = client.get(reverse("conversation-explain", args=[chat.pk])).content.decode()
    assert "Left out because of the limit" in page and "w2, w3" in page
    assert "A model of unknown size gets up to 2 tools of MCP servers." in page


def test_of_what_a_form_did_not_show_nothing_changes(alice: User, chat: Conversation) -> None:
    here = str(chat.pk)
    Conversation.objects.filter(pk=here).update(settings={"left_out": {"tools": ["gone_tool"]}})
    excluded_tools.put(alice, here, without("nobodys", shown=("nobodys",), seen='{"tools": ["gone_tool"]}'))
    seen = excluded_tools.stamp(ToolFilter(frozenset({"gone_tool"})))
    assert excluded_tools.put(alice, here, without("read_file", shown=("read_file",), seen=seen)).others == frozenset()
    assert next_request.of_conversation(alice, here).left_out.tools == {"gone_tool", "read_file"}


def test_of_two_editors_both_are_heard_and_the_second_is_told(client: Client, alice: User, chat: Conversation) -> None:
    excluded_tools.put(alice, str(chat.pk), without("read_file"))
    client.force_login(alice)
    form = {"seen": NOTHING, "tool-shown": ["read_file", "write_file"], "tool-kept": ["read_file"]}
    page = client.post(reverse("conversation-tools", args=[chat.pk]), form).content.decode()
    assert "Also changed elsewhere in the meantime: read_file." in page
    assert next_request.of_conversation(alice, str(chat.pk)).left_out.tools == {"read_file", "write_file"}


@pytest.mark.parametrize("seen", ["", "[]", "{", "null", '{"tools": 3}', "[" * 100_000])
def test_a_form_that_was_tampered_with_leaves_out_what_it_says(alice: User, chat: Conversation, seen: str) -> None:
    excluded_tools.put(alice, str(chat.pk), without("read_file", seen=seen))
    assert next_request.of_conversation(alice, str(chat.pk)).left_out.tools == {"read_file"}


names = st.frozensets(st.sampled_from("abcd"))


@given(before=names, seen=names, shown=names, kept=names)
def test_only_what_was_switched_changes(
    before: frozenset[str], seen: frozenset[str], shown: frozenset[str], kept: frozenset[str]
) -> None:
    switched = SwitchChoice(shown, kept).switched(seen)
    after = excluded_tools._merged(before, switched, kept)
    assert switched <= shown and after ^ before <= switched
    assert all((name in after) == (name not in kept) for name in switched)
