"""Tools are found by a person's words before the model is asked, by the model's own later, and stay what they are."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from channels.db import database_sync_to_async as in_database

from chat.broadcast import frames
from chat.models import Conversation, ToolRun
from chat.transcript.conversations import conversations
from chat.transcript.messages.history import canonical
from chat.transcript.settings import turn_settings
from chat.transcript.turn_store import TurnStore
from chat.transcript.turns import found_tools
from chat.transcript.turns.end import TurnOutcome, end
from chat.transcript.turns.sent_message import SentMessage
from chat.turns.live_reply import SendFrame
from chat.turns.run import TurnRun
from tests.chat.started_turns import accept
from tests.data.public_tools import tools
from tests.factories import ConversationFactory, ModelProfileFactory, ServerFactory, UserFactory
from tests.toolsupport.providers.scripted import FINE, HEAD, LAST_CHUNK, Scripted, chunk, scripted
from toolsupport.core.remote_tools import RemoteServer, RemoteTool
from toolsupport.core.types import Role
from toolsupport.models import ModelProfile, Server
from toolsupport.registry.knowledge import overrides
from toolsupport.registry.knowledge.overrides import NewOverride
from toolsupport.registry.mcp import mcp_servers

pytestmark = pytest.mark.django_db(transaction=True)

ASKS = "please create an issue on github about the login"


@pytest.fixture(autouse=True)
def many_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tools of many servers wait to be found."""
    named = [(spec, spec.name.replace(".", "__")) for spec in tools()]
    waiting = tuple(
        RemoteTool(RemoteServer(0, name.split("__")[0], "http"), name, replace(spec, name=name), "digest")
        for spec, name in named
    )
    monkeypatch.setattr(mcp_servers, "known_tools", lambda: waiting)


@pytest.fixture
def conversation(transactional_db: None) -> Conversation:
    profile = ModelProfileFactory(name="able:8b", parameter_count=8 * 10**9, server=ServerFactory(name="box"))
    overrides.add(NewOverride(profile.pk, "tools", True))
    made: Conversation = ConversationFactory(owner=UserFactory(role="user", username="alice"), profile=profile)
    return made


def calls(name: str, arguments: str) -> tuple[bytes, ...]:
    """An answer that makes one call."""
    call = b'{"message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"%s","arguments":%s}}]},'
    line = call % (name.encode(), arguments.encode()) + b'"done":true,"done_reason":"stop"}\n'
    return HEAD, chunk(line), LAST_CHUNK


def begun(conversation: Conversation, server: Scripted, text: str, attached: bool, tell: SendFrame) -> TurnRun:
    conversation.refresh_from_db()
    Server.objects.update(base_url=server.endpoint().base_url)
    images = ("cat.png",) if attached else ()
    if attached:
        turn_settings.workspace(str(conversation.pk)).write("cat.png", [b"\x89PNG\r\n\x1a\n"])
    sent = SentMessage(f"ask {conversation.turns.count()}", text, None, images)
    accepted = accept(conversation.owner, str(conversation.pk), sent, "me")
    assert accepted.claimed is not None
    return TurnRun(accepted.claimed, turn_settings.tool_context(str(conversation.pk)), tell)


async def answered(
    conversation: Conversation, text: str, *answers: Any, attached: bool = False
) -> tuple[list[Any], list[list[str]]]:
    """One turn: the frames it told, and the tools that each request offered."""
    told: list[frames.ServerFrame] = []
    async with scripted(*answers) as server:
        run = await in_database(begun)(conversation, server, text, attached, told.append)
        await run.perform(asyncio.create_task)
        reason = run.ended.reason if run.ended else ""
        await in_database(end)(TurnStore("me", run.claimed.turn), TurnOutcome(reason, "", {}, run.last_reply()))
        offered = [[tool["function"]["name"] for tool in body.get("tools", [])] for body in server.bodies]
        assert not [message for body in server.bodies for message in body["messages"] if message["role"] == "tool"][1:]
        return told, offered


def remote(names: list[str]) -> list[str]:
    return [name for name in names if "__" in name]


# T5
@pytest.mark.asyncio
async def test_tools_are_found_before_the_model_is_asked(conversation: Conversation) -> None:
    told, offered = await answered(conversation, ASKS, FINE)
    assert len(remote(offered[0])) == 5 and "github__create_issue" in offered[0] and "tool_search" in offered[0]
    started = next(frame for frame in told if isinstance(frame, frames.CallStartedFrame))
    assert "Searching tools for" in str(started.call["html"]) and started.call["arguments"] == {"query": ASKS}
    finished = next(frame for frame in told if isinstance(frame, frames.CallFinishedFrame))
    assert finished.call["status"] == "done" and "github__create_issue(" in finished.call["result"]


# T5
@pytest.mark.asyncio
async def test_the_set_stays_and_the_model_never_reads_the_card(conversation: Conversation) -> None:
    _, (first,) = await answered(conversation, ASKS, FINE)
    told, (second,) = await answered(conversation, "and what is the weather in Oslo?", FINE)
    assert first == second and not [frame for frame in told if isinstance(frame, frames.CallStartedFrame)]

    def log() -> None:
        conversation.refresh_from_db()
        assert [message.role for message in canonical(conversation)] == [Role.USER, Role.ASSISTANT] * 2
        assert [run.format for run in ToolRun.objects.all()] == ["automatic"]

    await in_database(log)()


# T5
@pytest.mark.parametrize(
    ("text", "query"),
    [
        (f"> weather: rain in Oslo\n{ASKS}\n\n[Attached: cat.png. You cannot see images.]", ASKS),
        ("qwzx ghfj", ""),
        ("> please create an issue on github", ""),
        ("", ""),
    ],
)
@pytest.mark.asyncio
async def test_the_first_search_takes_the_persons_own_words(conversation: Conversation, text: str, query: str) -> None:
    told, (offered,) = await answered(conversation, text, FINE, attached=True)
    cards = [frame.call["arguments"] for frame in told if isinstance(frame, frames.CallStartedFrame)]
    assert cards == ([{"query": query}] if query else [])
    assert bool(remote(offered)) == bool(query) and "tool_search" in offered


# T5
@pytest.mark.asyncio
async def test_a_message_without_words_leaves_the_search_to_the_next(conversation: Conversation) -> None:
    await answered(conversation, "", FINE, attached=True)
    told, (offered,) = await answered(conversation, ASKS, FINE)
    assert "github__create_issue" in offered and any(isinstance(one, frames.CallStartedFrame) for one in told)


# T5
@pytest.mark.asyncio
async def test_the_models_own_search_adds_within_the_cap(conversation: Conversation) -> None:
    await answered(conversation, ASKS, FINE)
    asks = calls("tool_search", '{"query": "weather forecast"}')
    _, (before, after) = await answered(conversation, "will it rain?", asks, FINE)
    assert "weather__get_forecast" not in before and "weather__get_forecast" in after
    assert len(remote(before)) == len(remote(after)) == 5


# T5
@pytest.mark.asyncio
async def test_the_search_may_be_called_though_a_limit_left_it_out(conversation: Conversation) -> None:
    def limit() -> None:
        overrides.add(NewOverride(conversation.profile_id or 0, "max_tools", 1))

    await in_database(limit)()
    told, offered = await answered(conversation, "hello", calls("tool_search", '{"query": "issue"}'), FINE)
    assert "tool_search" not in offered[0] and len(offered[0]) == 1
    rejected = [frame for frame in told if isinstance(frame, frames.CallRejectedFrame)]
    assert not rejected and [frame.call["status"] for frame in told if isinstance(frame, frames.CallFinishedFrame)]


# T1
@pytest.mark.asyncio
async def test_without_deferred_tools_nothing_is_searched(
    conversation: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mcp_servers, "known_tools", lambda: ())
    told, offered = await answered(conversation, ASKS, FINE)
    assert "tool_search" not in offered[0] and not [one for one in told if isinstance(one, frames.CallStartedFrame)]


# T1
@pytest.mark.parametrize(("billions", "most"), [(None, 2), (3, 2), (8, 5), (70, 10)])
@pytest.mark.asyncio
async def test_larger_models_are_given_more(conversation: Conversation, billions: int | None, most: int) -> None:
    def grow() -> None:
        count = billions and billions * 10**9
        ModelProfile.objects.update(parameter_count=count, name="able" if count is None else "able:8b")

    await in_database(grow)()
    _, (offered,) = await answered(conversation, ASKS, FINE)
    assert len(remote(offered)) == most


# T5
@pytest.mark.asyncio
async def test_a_smaller_model_is_given_fewer_and_that_is_said(conversation: Conversation) -> None:
    await answered(conversation, ASKS, FINE)

    def swap() -> list[str]:
        assert found_tools.say_cut(conversation.owner, str(conversation.pk)) is None
        small = ModelProfileFactory(name="small:1b", parameter_count=10**9, server=ServerFactory(name="other"))
        overrides.add(NewOverride(small.pk, "tools", True))
        conversations.select_model(conversation.owner, str(conversation.pk), "small:1b")
        said = found_tools.say_cut(conversation.owner, str(conversation.pk))
        conversation.refresh_from_db()
        assert said is not None and said.seq == conversation.tail
        return said.thing.message.text.split(", so ")[1].removesuffix(" were left out.").split(", ")

    cut = await in_database(swap)()
    _, (offered,) = await answered(conversation, "and now?", FINE)
    assert len(cut) == 3 and len(remote(offered)) == 2 and not set(cut) & set(offered)


# T5
@pytest.mark.asyncio
async def test_what_a_person_leaves_out_is_neither_offered_nor_found(conversation: Conversation) -> None:
    await answered(conversation, ASKS, FINE)

    def leave_out() -> None:
        conversation.refresh_from_db()
        left_out = {"tools": ["github__create_issue", "weather__get_forecast"], "servers": []}
        Conversation.objects.update(settings=conversation.settings | {"left_out": left_out})

    await in_database(leave_out)()
    asks = calls("tool_search", '{"query": "weather forecast"}')
    _, (before, after) = await answered(conversation, "will it rain?", asks, FINE)
    assert "github__create_issue" not in before and "weather__get_forecast" not in after


def test_what_was_found_earlier_falls_out_last(conversation: Conversation) -> None:
    store = TurnStore("me", accept(conversation.owner, str(conversation.pk), SentMessage("1", "hi"), "me").turn)
    found_tools.add(store, [f"old{number}" for number in range(9)])
    found_tools.add(store, ["new", "old8", "newer"])
    conversation.refresh_from_db()
    assert conversation.settings["toolset"][:4] == ["new", "old8", "newer", "old0"]
    assert len(conversation.settings["toolset"]) == 10
