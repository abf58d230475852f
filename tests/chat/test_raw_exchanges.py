"""The raw exchanges of a chat: every request with its reply, in order, redacted, the last 20, for the owner alone."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

import pytest
from channels.db import database_sync_to_async as in_database
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from chat.models import Conversation, Message, RawExchange
from chat.transcript.conversations import listing
from chat.transcript.messages import raw_exchanges
from chat.transcript.settings import turn_settings
from chat.transcript.turns.sent_message import SentMessage
from chat.turns.runner import TurnRunner
from tests.factories import ConversationFactory, ModelProfileFactory, ServerFactory
from tests.toolsupport.providers.scripted import DONE, FINE, HEAD, LAST_CHUNK, answer, chunk, said, scripted
from toolsupport.models import Server
from toolsupport.registry.knowledge import overrides
from toolsupport.registry.knowledge.overrides import NewOverride
from toolsupport.registry.servers import key_encryption

pytestmark = pytest.mark.django_db(transaction=True)

KEY = "sk-canary-of-this-server-31337"
PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(200))
BUSY = answer(503, b'{"error":"server busy, please try again"}', "retry-after: 0\r\n")
REFUSED = answer(400, b'{"error":"registry.ollama.ai/library/m1 does not support tools"}')
CALL = b'{"message":{"role":"assistant","tool_calls":[{"function":{"name":"list_directory","arguments":{}}}]},'
CALLS = (HEAD, chunk(CALL + b'"done":true,"done_reason":"stop"}\n'), LAST_CHUNK)


@pytest.fixture
def conversation(alice: User) -> Conversation:
    profile = ModelProfileFactory(name="m1", server=ServerFactory(api_key=key_encryption.encrypt(KEY)))
    overrides.add(NewOverride(profile.pk, "tools", True))
    overrides.add(NewOverride(profile.pk, "vision", True))
    made: Conversation = ConversationFactory(owner=alice, profile=profile)
    return made


def answered(conversation: Conversation, text: str, *steps: Any, image: bool = False) -> list[dict[str, Any]]:
    """One whole turn by a runner of its own; the bodies that its server got."""

    async def run() -> list[dict[str, Any]]:
        runner = TurnRunner()
        async with scripted(*steps) as server:
            await in_database(Server.objects.update)(base_url=server.endpoint().base_url)
            sent = SentMessage(f"c{text[:50]}", text, None, ("cat.png",) if image else ())
            await runner.begin(conversation.owner_id, str(conversation.pk), sent)
            await runner.drain(20)
            await runner.stop()
            return server.bodies

    if image:
        turn_settings.workspace(str(conversation.pk)).write("cat.png", [PNG])
    return asyncio.run(run())


def wire_of(client: Client, message: Message) -> str:
    return client.get(f"/chat/{message.conversation_id}/messages/{message.pk}/wire/").content.decode()


def answers(conversation: Conversation) -> list[Message]:
    return list(conversation.messages.filter(role="assistant").order_by("id"))


def test_every_try_and_every_round_is_kept_as_it_was(conversation: Conversation, client: Client) -> None:
    bodies = answered(conversation, "look around", BUSY, CALLS, FINE)
    first, last = answers(conversation)
    kept = list(RawExchange.objects.all())
    assert [(row.message_id, row.status) for row in kept] == [(first.pk, 503), (first.pk, 200), (last.pk, 200)]
    assert [json.loads(row.request) for row in kept] == bodies and "list_directory" in kept[0].request
    assert [row.reply_bytes for row in kept] == [len(row.reply.encode()) for row in kept]
    assert "server busy" in kept[0].error and kept[1].reply.startswith(CALL.decode())
    assert kept[2].reply.count("\n") == 2 and '"content":"Hi"' in kept[2].reply and kept[2].url.endswith("/api/chat")
    assert kept[0].started_at <= kept[1].started_at <= kept[2].started_at
    client.force_login(conversation.owner)
    page = wire_of(client, first)
    assert "Exchange 1 of 2" in page and "503 Service Unavailable" in page and "Exchange 2 of 2" in page
    assert "made again" not in page and page.index("server busy") < page.index("tool_calls")


def test_what_was_sent_is_shown_and_not_what_would_be_sent_today(conversation: Conversation, client: Client) -> None:
    answered(conversation, "look around", REFUSED, FINE)
    Conversation.objects.update(settings={"system": "You are a pirate."})
    overrides.add(NewOverride(conversation.profile_id or 0, "tools", False))
    client.force_login(conversation.owner)
    page = wire_of(client, answers(conversation)[0])
    assert "does not support tools" in page and "pirate" not in page
    with_tools, without = RawExchange.objects.all()
    assert "tools" in json.loads(with_tools.request) and "tools" not in json.loads(without.request)


# SAFETY 2
def test_no_secret_and_no_image_is_written(conversation: Conversation) -> None:
    echo = answer(401, f'{{"error":"invalid key: Bearer {KEY}"}}'.encode())
    answered(conversation, "my password=hunter2hunter2, see", echo, image=True)
    (row,) = RawExchange.objects.all()
    assert KEY not in row.reply + row.error and "invalid key" in row.reply
    assert f"[image/png, {len(PNG)} bytes, SHA-256 {sha256(PNG).hexdigest()}]" in row.request
    assert "hunter2" not in row.request and "[secret]" in row.request
    with connection.cursor() as cursor:
        cursor.execute("SELECT * FROM chat_rawexchange")
        assert KEY not in str(cursor.fetchall())


def test_a_stopped_or_broken_reply_is_kept_as_far_as_it_came(conversation: Conversation) -> None:
    answered(conversation, "go", (HEAD, said("half an ans")))
    (row,) = RawExchange.objects.all()
    assert "half an ans" in row.reply and row.status == 200 and row.error


def test_a_long_reply_is_bounded_and_says_so(conversation: Conversation) -> None:
    answered(conversation, "go", (HEAD, *(said("word " * 2000) for _ in range(60)), DONE, LAST_CHUNK))
    (row,) = RawExchange.objects.all()
    assert row.reply_bytes > 600_000 and len(row.reply) < 210_000 and "bytes left out …]" in row.reply
    assert row.reply.startswith('{"message"') and row.reply.rstrip().endswith('"done_reason":"stop"}')


def rows(count: int, size: int) -> tuple[RawExchange, ...]:
    made = {"url": "u", "request": "x", "request_bytes": 1, "started_at": datetime.now(UTC), "duration_ms": 1}
    return tuple(RawExchange(**made, characters=size) for _ in range(count))


@pytest.mark.parametrize(("count", "size", "left"), [(23, 10, 20), (3, 900_000, 2), (2, 5_000_000, 1)])
def test_the_oldest_go_by_count_and_by_size(conversation: Conversation, count: int, size: int, left: int) -> None:
    answered(conversation, "hello", FINE)
    RawExchange.objects.all().delete()
    message = answers(conversation)[0]
    assert message.turn is not None
    other: Conversation = ConversationFactory(owner=conversation.owner)
    turn = other.turns.create(client_id="1", profile=message.turn.profile)
    raw_exchanges.keep(turn, other.messages.create(role="assistant", turn=turn).pk, rows(1, 10))
    for row in rows(count, size):
        raw_exchanges.keep(message.turn, message.pk, (row,))
    newest = RawExchange.objects.order_by("-id").values_list("id", flat=True)[:left]
    assert set(RawExchange.objects.filter(conversation=conversation).values_list("id", flat=True)) == set(newest)
    assert RawExchange.objects.filter(conversation=other).count() == 1


def test_they_go_with_the_chat_and_leave_by_an_export_only_when_asked(
    conversation: Conversation, client: Client
) -> None:
    answered(conversation, "hello", FINE)
    client.force_login(conversation.owner)
    address = f"/chat/{conversation.pk}/export.json"
    assert "exchanges" not in client.get(address).json()
    (found,) = client.get(address, {"raw": "1"}).json()["exchanges"]
    assert found["message"] == answers(conversation)[0].pk and found["status"] == 200 and '"Hi"' in found["reply"]
    listing.delete(conversation.owner, str(conversation.pk))
    assert not RawExchange.objects.exists()


# Bob may do everything in the product, Charlie reads a chat that is shared with him.
def test_nobody_else_sees_them(conversation: Conversation, client: Client, bob: User, charlie: User) -> None:
    answered(conversation, "hello", FINE)
    conversation.shares.create(reader=charlie)
    for person in (bob, charlie):
        client.force_login(person)
        for address in (f"messages/{answers(conversation)[0].pk}/wire/", "export.json?raw=1"):
            assert client.get(f"/chat/{conversation.pk}/{address}").status_code in (403, 404)


def test_an_answer_does_not_fail_for_what_is_kept_of_it(
    conversation: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> str:
        raise ValueError("broken")

    monkeypatch.setattr("toolsupport.core.exchange_text.request_text", broken)
    answered(conversation, "hello", FINE)
    assert answers(conversation)[0].content == "Hi" and not RawExchange.objects.exists()
