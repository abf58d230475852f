"""A request that its server refuses as too long is repeated in a larger context, or fails with both numbers."""

from __future__ import annotations

import json

import pytest
from channels.db import database_sync_to_async as in_database
from django.contrib.auth.models import Group

from chat.transcript.announcements import AddedNotice
from chat.transcript.turns.begin import ClaimedTurn
from chat.transcript.turns.sent_message import SentMessage
from chat.turns.context_recovery import ContextRecovery
from tests.chat.started_turns import accept
from tests.factories import ConversationFactory, ModelProfileFactory, ServerFactory, UserFactory
from tests.toolsupport.providers.scripted import answer, scripted
from toolsupport import providers
from toolsupport.core.events import Event, Failed, TextDelta
from toolsupport.models import ModelProfile

pytestmark = [pytest.mark.asyncio, pytest.mark.django_db(transaction=True)]
NUMBERS = {"code": 400, "message": "too long", "n_prompt_tokens": 6019, "n_ctx": 4096}
REFUSED = answer(400, json.dumps({"error": {"type": "exceed_context_size_error", **NUMBERS}}).encode())
SAID = json.dumps({"message": {"role": "assistant", "content": "Hi"}, "done": True, "done_reason": "stop"})
FINE = answer(200, SAID.encode() + b"\n")


def begun(kind: str, url: str, trained: int) -> ClaimedTurn:
    Group.objects.get_or_create(name="user")
    server = ServerFactory(kind=kind, base_url=url, reachable=True)
    profile = ModelProfileFactory(server=server, name="m", default_context=4096, context_length=trained)
    conversation = ConversationFactory(owner=UserFactory(role="user"), profile=profile)
    sent = SentMessage("c1", "hello")
    claimed = accept(conversation.owner, str(conversation.pk), sent, "me").claimed
    assert claimed is not None
    return claimed


async def asked(kind: str, trained: int) -> tuple[list[Event], list[AddedNotice], int]:
    """The events of a turn, what its pages are shown, and how often its server was asked."""
    told: list[AddedNotice] = []
    async with scripted(REFUSED, FINE) as server:
        claimed = await in_database(begun)(kind, server.endpoint().base_url, trained)
        cures = ContextRecovery(claimed, lambda _: None, lambda notice: told.append(notice.thing))
        batches = [batch async for batch in cures.ask(claimed.prepared, claimed.history)]
        await providers.close()
        return [event for batch in batches for event in batch], told, len(server.requests)


async def test_a_context_that_can_grow_is_raised_and_the_question_put_again() -> None:
    events, told, requests = await asked("ollama", 32_768)
    assert requests == 2 and TextDelta("Hi") in events
    assert not any(isinstance(event, Failed) for event in events)
    [notice] = [thing.message for thing in told]
    assert notice.code == "context_raised" and "4,096" in notice.text and "8,192" in notice.text
    assert await in_database(lambda: ModelProfile.objects.get().default_context)() == 8192


@pytest.mark.parametrize(("kind", "trained", "words"), [("ollama", 4096, "num_ctx"), ("llamacpp", 32_768, " -c ")])
async def test_one_that_cannot_grow_is_told_with_both_numbers(kind: str, trained: int, words: str) -> None:
    events, _, requests = await asked(kind, trained)
    failed = events[-1]
    assert requests == 1 and isinstance(failed, Failed)
    assert "6,019" in failed.message and "4,096" in failed.message and words in failed.message
