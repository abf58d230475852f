"""A call of Gemini 3 goes back to its server with the signature that the server gave it, while its turn lasts."""

from __future__ import annotations

import orjson
import pytest

from chat.models import Conversation
from tests.chat.turns.test_settings_left_out import HEAD, answered, fine
from tests.factories import ConversationFactory, ModelProfileFactory, ServerFactory
from tests.toolsupport.providers.scripted import LAST_CHUNK, Step, chunk
from toolsupport.registry.knowledge import overrides
from toolsupport.registry.knowledge.overrides import NewOverride

pytestmark = pytest.mark.django_db(transaction=True)
SIGNED = {"google": {"thought_signature": "c2lnbmF0dXJl"}}
UNSIGNED = {"google": {"thought_signature": "skip_thought_signature_validator"}}


def calling() -> list[Step]:
    function = {"name": "list_directory", "arguments": '{"path": "."}'}
    calls = [{"index": 0, "id": "one", "function": function, "extra_content": SIGNED}]
    calls.append({"index": 1, "id": "two", "function": {"name": "list_directory", "arguments": '{"path": "./"}'}})
    lines = [
        {"choices": [{"delta": {"tool_calls": calls}}]},
        {"choices": [{"delta": {}, "finish_reason": "tool_calls"}]},
    ]
    return [HEAD, chunk(b"".join(b"data: " + orjson.dumps(line) + b"\n\n" for line in lines)), LAST_CHUNK]


@pytest.fixture
def conversation(transactional_db: None) -> Conversation:
    profile = ModelProfileFactory(name="gemini-3-pro-preview", server=ServerFactory(name="google", kind="gemini"))
    overrides.add(NewOverride(profile.pk, "tools", True, "declared"))
    made: Conversation = ConversationFactory(profile=profile)
    return made


@pytest.mark.asyncio
async def test_it_goes_back_in_its_turn_and_is_replaced_later(conversation: Conversation) -> None:
    _, bodies = await answered(conversation, calling(), fine())
    [asked] = [message for message in bodies[1]["messages"] if "tool_calls" in message]
    assert [call.get("extra_content") for call in asked["tool_calls"]] == [SIGNED, None]
    _, bodies = await answered(conversation, fine())
    [asked] = [message for message in bodies[0]["messages"] if "tool_calls" in message]
    assert [call.get("extra_content") for call in asked["tool_calls"]] == [UNSIGNED, None]
