"""A call of a model that thinks goes back to its server with what the server gave it, while its turn lasts."""

from __future__ import annotations

import json

import orjson
import pytest
from channels.db import database_sync_to_async as in_database

from chat.models import Conversation
from chat.transcript.messages import history
from tests.chat.turns.test_settings_left_out import HEAD, answered, fine, nothing_known  # noqa: F401 a fixture
from tests.factories import ConversationFactory, ModelProfileFactory, ServerFactory
from tests.toolsupport.gateway.test_model_fallbacks import chain
from tests.toolsupport.providers.scripted import LAST_CHUNK, Scripted, Step, answer, chunk, scripted
from toolsupport.core.types import JSON
from toolsupport.registry.knowledge import overrides
from toolsupport.registry.knowledge.overrides import NewOverride

pytestmark = pytest.mark.django_db(transaction=True)
SIGNED = {"google": {"thought_signature": "c2lnbmF0dXJl"}}
UNSIGNED = {"google": {"thought_signature": "skip_thought_signature_validator"}}


# As OpenRouter streams them: text in pieces, then what is encrypted, of each call by its id.
PIECES = (
    {"type": "reasoning.text", "text": "Let me ", "format": "google-gemini-v1", "index": 0},
    {"type": "reasoning.text", "text": "look.", "format": "google-gemini-v1", "index": 0},
    {"type": "reasoning.encrypted", "data": "b3BhcXVl", "id": "tool_one", "format": "google-gemini-v1", "index": 0},
)
PLACEHOLDER = {"type": "reasoning.encrypted", "data": "skip_thought_signature_validator", "format": "google-gemini-v1"}
ADVICE = (
    "Gemini models require OpenRouter reasoning details to be preserved in each request. Please refer to our docs: "
    "https://openrouter.ai/docs/guides/best-practices/reasoning-tokens#preserving-reasoning-blocks. Upstream error: "
)
WHY: JSON = {"error": {"code": 400, "message": "Thought signature is not valid.", "status": "INVALID_ARGUMENT"}}
OF_GOOGLE: JSON = {"raw": ADVICE + json.dumps(WHY), "provider_name": "Google AI Studio"}
REFUSED: JSON = {"error": {"message": "Provider returned error", "code": 400, "metadata": OF_GOOGLE}}


def streamed(*deltas: JSON, finish: str = "tool_calls") -> list[Step]:
    lines: list[JSON] = [{"choices": [{"delta": delta}]} for delta in deltas]
    lines.append({"choices": [{"delta": {}, "finish_reason": finish}]})
    return [HEAD, chunk(b"".join(b"data: " + orjson.dumps(line) + b"\n\n" for line in lines)), LAST_CHUNK]


def calls(tool: str = "list_directory", **extra: JSON) -> JSON:
    function = {"name": tool, "arguments": '{"path": "."}'}
    first = {"index": 0, "id": "tool_one", "function": function, **extra}
    return {
        "tool_calls": [first, {"index": 1, "id": "tool_two", "function": function | {"arguments": '{"path": "./"}'}}]
    }


def calling() -> list[Step]:
    return streamed(calls(extra_content=SIGNED))


def thinking_and_calling(*, late: bool = False) -> list[Step]:
    thoughts = [{"reasoning": piece.get("text"), "reasoning_details": [piece]} for piece in PIECES]
    return streamed(*([calls(), *thoughts] if late else [*thoughts, calls()]))


def conversation_with(name: str, kind: str) -> Conversation:
    profile = ModelProfileFactory(name=name, server=ServerFactory(name=kind, kind=kind))
    overrides.add(NewOverride(profile.pk, "tools", True, "declared"))
    made: Conversation = ConversationFactory(profile=profile)
    return made


@pytest.fixture
def conversation(transactional_db: None) -> Conversation:
    return conversation_with("gemini-3-pro-preview", "gemini")


@pytest.fixture
def routed(transactional_db: None) -> Conversation:
    return conversation_with("google/gemini-3-pro-preview", "openrouter")


def asking(body: JSON) -> JSON:
    """The message with the calls in a request."""
    [asked] = [message for message in body["messages"] if "tool_calls" in message]
    return asked


def placeholders(asked: JSON) -> list[JSON]:
    calls = enumerate(asked["tool_calls"])
    return [PLACEHOLDER | {"id": call["id"], "index": place} for place, call in calls]


@pytest.mark.asyncio
async def test_it_goes_back_in_its_turn_and_is_replaced_later(conversation: Conversation) -> None:
    _, bodies = await answered(conversation, calling(), fine())
    assert [call.get("extra_content") for call in asking(bodies[1])["tool_calls"]] == [SIGNED, None]
    _, bodies = await answered(conversation, fine())
    assert [call.get("extra_content") for call in asking(bodies[0])["tool_calls"]] == [UNSIGNED, None]


@pytest.mark.asyncio
@pytest.mark.parametrize("late", [False, True])
async def test_blocks_of_reasoning_go_back_whole(routed: Conversation, late: bool) -> None:
    """OpenRouter refuses a history of Gemini 3 without them: each answer with a tool failed."""
    _, bodies = await answered(routed, thinking_and_calling(late=late), fine())
    asked = asking(bodies[1])
    first, _ = asked["tool_calls"]
    assert first["id"] != "tool_one", "its own id would not go through all servers"
    assert asked["reasoning_details"] == [PIECES[0] | {"text": "Let me look."}, PIECES[2] | {"id": first["id"]}]
    assert "reasoning" not in asked and "extra_content" not in str(bodies[1])
    _, bodies = await answered(routed, fine())
    assert asking(bodies[0])["reasoning_details"] == placeholders(asking(bodies[0]))


@pytest.mark.asyncio
async def test_blocks_that_are_refused_are_replaced(routed: Conversation) -> None:
    """Signatures of one provider of Gemini count at no other, and OpenRouter chooses one for each request."""
    refused = answer(400, orjson.dumps(REFUSED))
    _, bodies = await answered(routed, thinking_and_calling(), refused, fine())
    asked = asking(bodies[2])
    assert asked["reasoning_details"] == placeholders(asked)
    assert "reasoning" not in asked


@pytest.mark.asyncio
async def test_a_fallback_model_of_the_same_name_does_not_get_it(conversation: Conversation) -> None:
    """A signature counts at the server that wrote it."""

    def chained(server: Scripted) -> None:
        row = ServerFactory(name="second", kind="gemini", base_url=server.endpoint().base_url)
        second = ModelProfileFactory(name="gemini-3-pro-preview", server=row)
        overrides.add(NewOverride(second.pk, "tools", True, "declared"))
        assert conversation.profile_id is not None
        chain(conversation.profile_id, second.pk)

    async with scripted(fine()) as second:
        await in_database(chained)(second)
        _, bodies = await answered(conversation, calling(), answer(500, b'{"error": "out of memory"}'))
    assert asking(bodies[1])["tool_calls"][0]["extra_content"] == SIGNED
    assert [call.get("extra_content") for call in asking(second.bodies[0])["tool_calls"]] == [UNSIGNED, None]


@pytest.mark.asyncio
async def test_an_answer_that_waited_has_them_again(routed: Conversation) -> None:
    """It is read from its rows, which have no signatures; the process still has them."""
    await answered(routed, thinking_and_calling(), fine())
    turn = await in_database(routed.turns.latest)("pk")
    await in_database(routed.refresh_from_db)()
    [asked] = [one for one in await in_database(history.canonical)(routed, turn.pk) if one.calls]
    first, second = asked.calls
    assert first.signature and [block["id"] for block in first.signature.blocks if "id" in block] == [first.id]
    assert first.signature.model == "google/gemini-3-pro-preview" and second.signature
    assert not any(call.signature for one in await in_database(history.canonical)(routed) for call in one.calls)
