"""Files for a message that was not sent stay with the chat for a day, and go when nothing needs them."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from chat.models import Conversation
from chat.transcript.conversations import conversations, pending_files
from chat.transcript.turns.sent_message import SentMessage
from tests.factories import ConversationFactory
from toolsupport.core.errors import NotFound

pytestmark = pytest.mark.django_db


@pytest.fixture
def chat(alice: User, client: Client) -> Conversation:
    client.force_login(alice)
    return ConversationFactory(owner=alice)


def upload(client: Client, chat: Conversation, name: str, text: bytes = b"x", **fields: str) -> None:
    given = SimpleUploadedFile(name, text)
    answer = client.post(reverse("conversation-files", args=[chat.pk]), {"files": [given], **fields})
    assert answer.status_code == 200


def waiting(chat: Conversation) -> list[dict[str, Any]]:
    chat.refresh_from_db()
    return json.loads(pending_files.shown(str(chat.pk), chat.pending))


def test_files_of_the_message_field_wait_until_sent_or_removed(client: Client, chat: Conversation) -> None:
    upload(client, chat, "panel.csv")
    upload(client, chat, "a.csv", b"1,2", pending="1")
    upload(client, chat, "b.csv", pending="1")
    assert waiting(chat) == [{"path": "a.csv", "size": 3}, {"path": "b.csv", "size": 1}]
    page = client.get(reverse("conversation", args=[chat.pk])).content.decode()
    assert "&quot;path&quot;: &quot;a.csv&quot;" in page
    SentMessage("c", "Read it", attachments=("a.csv",)).draft(chat)
    assert [one["path"] for one in waiting(chat)] == ["b.csv"]
    client.post(reverse("conversation-files-delete", args=[chat.pk]), {"path": "b.csv"})
    assert waiting(chat) == chat.pending == []


def test_after_a_day_they_are_deleted_unless_they_changed_or_replaced_a_file(
    client: Client, chat: Conversation, alice: User
) -> None:
    upload(client, chat, "mine.csv")
    upload(client, chat, "mine.csv", b"new", pending="1", replace="1")
    upload(client, chat, "edited.csv", pending="1")
    upload(client, chat, "old.csv", pending="1")
    files = conversations.workspace_of(alice, str(chat.pk))
    files.write("edited.csv", [b"by a tool"])
    pending_files.clear_old()
    assert len(waiting(chat)) == 3
    old = (timezone.now() - timedelta(days=1, seconds=1)).isoformat()
    Conversation.objects.filter(pk=chat.pk).update(pending=[one | {"at": old} for one in chat.pending])
    upload(client, chat, "today.csv", pending="1")
    assert [one["path"] for one in waiting(chat)] == ["today.csv"]
    pending_files.clear_old()
    left = {entry.path for entry in files.entries().entries}
    assert {"mine.csv", "edited.csv", "today.csv"} <= left and "old.csv" not in left
    assert [one["path"] for one in waiting(chat)] == ["today.csv"]


def test_nobody_notes_files_in_the_chat_of_another_person(bob: User, chat: Conversation) -> None:
    with pytest.raises(NotFound):
        pending_files.keep(bob, str(chat.pk), ["a.csv"])
