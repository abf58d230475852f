"""A setting that the server of a model refuses is left out, and a notice in the chat names it once."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import orjson
import pytest
from channels.db import database_sync_to_async as in_database

from chat.broadcast import frames
from chat.models import Conversation
from chat.transcript.settings import turn_settings
from chat.transcript.turn_store import TurnStore
from chat.transcript.turns.end import TurnOutcome, end
from chat.transcript.turns.sent_message import SentMessage
from chat.turns.run import TurnRun
from tests.chat.started_turns import accept
from tests.factories import ConversationFactory, ModelProfileFactory, ServerFactory
from tests.toolsupport.providers.scripted import LAST_CHUNK, Scripted, Step, answer, chunk, scripted
from toolsupport import refused_settings

pytestmark = pytest.mark.django_db(transaction=True)
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refused_settings, "_refused", {})


def no(words: str) -> Sequence[Step]:
    return answer(400, json.dumps({"error": {"message": words}}).encode())


def fine() -> list[Step]:
    lines = [{"choices": [{"delta": {"content": "Fine."}}]}, {"choices": [{"delta": {}, "finish_reason": "stop"}]}]
    return [HEAD, chunk(b"".join(b"data: " + orjson.dumps(line) + b"\n\n" for line in lines)), LAST_CHUNK]


@pytest.fixture
def conversation(transactional_db: None) -> Conversation:
    profile = ModelProfileFactory(name="gpt-x", server=ServerFactory(name="box", kind="openai"))
    made: Conversation = ConversationFactory(profile=profile, settings={"temperature": 0.4})
    return made


async def answered(conversation: Conversation, *answers: Any) -> tuple[list[frames.NoticeFrame], list[Any]]:
    """Run one turn; return its notices, and the requests that its server received."""
    shown: list[frames.ServerFrame] = []

    def started(server: Scripted) -> TurnRun:
        profile = conversation.profile
        assert profile is not None
        type(profile.server).objects.filter(pk=profile.server_id).update(base_url=server.endpoint().base_url)
        sent = SentMessage(f"ask {conversation.turns.count()}", "Hello", None)
        accepted = accept(conversation.owner, str(conversation.pk), sent, "me")
        assert accepted.claimed is not None
        return TurnRun(accepted.claimed, turn_settings.tool_context(str(conversation.pk)), shown.append)

    async with scripted(*answers) as server:
        run = await in_database(started)(server)
        await run.perform(asyncio.create_task)
        assert run.ended is not None and run.last_reply()[1] == "Fine."
        await in_database(end)(
            TurnStore("me", run.claimed.turn), TurnOutcome(run.ended.reason, "", {}, run.last_reply())
        )
        return [frame for frame in shown if isinstance(frame, frames.NoticeFrame)], server.bodies


@pytest.mark.asyncio
async def test_a_notice_names_it_with_the_error_of_the_server(conversation: Conversation) -> None:
    words = "Unsupported value: 'temperature' does not support 0.4 with this model."
    [notice], bodies = await answered(conversation, no(words), fine())
    assert ["temperature" in body for body in bodies] == [True, False]
    assert notice.code == "settings_left_out"
    assert notice.text == f"Not used for gpt-x: temperature. Its server refuses this (“{words}”)."


@pytest.mark.asyncio
async def test_a_notice_names_thinking_that_cannot_be_turned_off(conversation: Conversation) -> None:
    profile = conversation.profile
    assert profile is not None
    await in_database(type(profile.server).objects.update)(kind="openrouter")
    await in_database(type(profile).objects.update)(options={"think": False})
    words = "Reasoning is mandatory for this endpoint and cannot be disabled."
    [notice], bodies = await answered(conversation, no(words), fine())
    assert [body.get("reasoning") for body in bodies] == [{"enabled": False}, None]
    assert notice.text == f"Not used for gpt-x: thinking off. Its server refuses this (“{words}”)."


@pytest.mark.asyncio
async def test_the_same_setting_is_named_once_whatever_the_error(conversation: Conversation) -> None:
    notices, _ = await answered(conversation, no("temperature 0.4 is not supported. Request 1"), fine())
    refused_settings._refused.clear()
    later, bodies = await answered(conversation, no("temperature 0.4 is not supported. Request 2"), fine())
    assert len(notices) == 1 and later == [] and len(bodies) == 2


@pytest.mark.asyncio
async def test_nothing_is_named_that_was_not_chosen(conversation: Conversation) -> None:
    await in_database(Conversation.objects.filter(pk=conversation.pk).update)(settings={})
    await in_database(conversation.refresh_from_db)()
    notices, bodies = await answered(conversation, no("Unknown parameter: 'stream_options'."), fine())
    assert notices == [] and ["stream_options" in body for body in bodies] == [True, False]
