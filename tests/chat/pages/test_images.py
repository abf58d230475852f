"""Images of a conversation: accepted types, permissions, and what a model gets."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from chat.broadcast import fragments
from chat.models import Conversation
from chat.tools.files.image_types import kind_of
from chat.tools.files.workspace import Workspace
from chat.transcript import sql
from chat.transcript.messages import attachments
from chat.transcript.settings import turn_settings
from chat.transcript.turns.begin import AcceptedMessage
from chat.transcript.turns.sent_message import SentMessage
from tests.chat.started_turns import accept
from tests.factories import ConversationFactory, ModelProfileFactory, OverrideFactory
from toolsupport.core.errors import NotFound

pytestmark = pytest.mark.django_db
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
HTML = b"<!doctype html><script>alert(1)</script>"


@pytest.fixture
def conversation(alice: User) -> Conversation:
    conversation: Conversation = ConversationFactory(owner=alice)
    return conversation


def url(conversation: Conversation, more: str = "") -> str:
    return f"/chat/{conversation.pk}/images/{more}"


def upload(client: Client, conversation: Conversation, name: str = "a.png", data: bytes = PNG) -> dict[str, str]:
    answer = client.post(url(conversation, "add/"), {"image": SimpleUploadedFile(name, data)})
    return dict(answer.json())


def put(conversation: Conversation, path: str = "images/a.png", data: bytes = PNG) -> str:
    return turn_settings.workspace(str(conversation.pk)).write(path, [data])


@pytest.mark.parametrize("moment", ["before", "after"])
def test_an_image_that_is_added_during_the_deletion_of_its_chat_leaves_no_file(
    client: Client, alice: User, conversation: Conversation, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:  # P8
    write, files = Workspace.write, turn_settings.workspace(str(conversation.pk))

    def deleted(self: Workspace, *given: Any, **named: Any) -> str:
        written = write(self, *given, **named) if moment == "after" else ""
        Conversation.objects.filter(pk=conversation.pk).delete()
        if moment == "after":
            return written  # as if the process that deletes had been killed here
        turn_settings.remove_workspace(str(conversation.pk))
        return write(self, *given, **named)

    monkeypatch.setattr(Workspace, "write", deleted)
    client.force_login(alice)
    answer = client.post(url(conversation, "add/"), {"image": SimpleUploadedFile("a.png", PNG)})
    assert answer.status_code == {"before": 422, "after": 404}[moment] and not files.root.exists()


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (PNG, "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF1234WEBPVP8 ", "image/webp"),
        (b"RIFF1234AVI ", ""),
        (HTML, ""),
        (b"<svg xmlns", ""),
        (b"", ""),
    ],
)
def test_an_image_is_known_by_its_bytes(data: bytes, kind: str) -> None:
    assert kind_of(data) == kind


# T12
def test_alice_adds_an_image_and_sees_it(client: Client, alice: User, conversation: Conversation) -> None:
    client.force_login(alice)
    assert upload(client, conversation) == {"path": "images/a.png"}
    assert upload(client, conversation, "a.html") == {"path": "images/a (2).png"}
    answer = client.get(url(conversation), {"path": "images/a.png"})
    assert (answer.content, answer.headers["Content-Type"]) == (PNG, "image/png")
    assert answer.headers["X-Content-Type-Options"] == "nosniff" and "sandbox" in answer["Content-Security-Policy"]


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("a.png", HTML, "is not an image"),
        ("a.svg", b"<svg>", "is not an image"),
        ("b.png", PNG + b"x" * 6 * 2**20, "6 MiB"),
    ],
)
def test_what_is_no_image_is_refused_in_words(
    client: Client, alice: User, conversation: Conversation, name: str, data: bytes, words: str
) -> None:
    client.force_login(alice)
    assert words in upload(client, conversation, name, data)["error"]
    assert client.post(url(conversation, "add/")).json() == {"error": "Choose an image."}


def test_other_files_are_never_shown(client: Client, alice: User, conversation: Conversation) -> None:
    client.force_login(alice)
    put(conversation, "page.png", HTML)
    for path in ("page.png", "missing.png", "../escape.png", ""):
        assert client.get(url(conversation), {"path": path}).status_code == 404


@pytest.mark.parametrize(("name", "status"), [("bob", 404), ("charlie", 403)])
def test_nobody_else_sees_or_adds_one(
    client: Client, conversation: Conversation, name: str, status: int, request: pytest.FixtureRequest
) -> None:
    put(conversation)
    client.force_login(request.getfixturevalue(name))
    assert client.get(url(conversation), {"path": "images/a.png"}).status_code == status
    assert client.post(url(conversation, "add/")).status_code == status


def ask(alice: User, conversation: Conversation, *paths: str, client_id: str = "c") -> AcceptedMessage:
    return accept(alice, str(conversation.pk), SentMessage(client_id, "What is this?", attachments=paths), "me")


def seeing(conversation: Conversation) -> None:
    conversation.profile = ModelProfileFactory()
    conversation.save()
    OverrideFactory(profile=conversation.profile, capability="vision")


# T12
def test_a_model_that_sees_gets_the_image(alice: User, conversation: Conversation) -> None:
    seeing(conversation)
    accepted = ask(alice, conversation, put(conversation))
    assert accepted.claimed is not None
    told = accepted.claimed.history[-1]
    assert (told.content, told.images) == ("What is this?", (PNG,))
    html = fragments.message(accepted.message)
    assert "images/?path=images%2Fa.png" in html and "names only" not in html


# T12
def test_a_model_that_is_not_known_to_see_gets_the_name(alice: User, conversation: Conversation) -> None:
    accepted = ask(alice, conversation, put(conversation))
    assert accepted.claimed is not None
    told = accepted.claimed.history[-1]
    assert told.images == () and told.content.endswith("[Attached: images/a.png. You cannot see images.]")
    assert "This model may not see images" in fragments.message(accepted.message)


def test_only_images_of_the_conversation_can_be_attached(alice: User, conversation: Conversation) -> None:
    elsewhere: Conversation = ConversationFactory(owner=alice)
    put(elsewhere, "images/b.png")
    put(conversation, "page.png", HTML)
    for paths in (["images/b.png"], ["page.png"], [put(conversation)] * (attachments.MOST + 1)):
        with pytest.raises(NotFound):
            ask(alice, conversation, *paths)
    assert not conversation.messages.exists()


def test_old_images_give_way_to_new_ones(
    alice: User, conversation: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attachments, "MOST_BYTES", len(PNG))
    for text in "ab":
        conversation.messages.create(role="user", content=text, attachments=["images/a.png"])
    rows = sql.messages_in(conversation.pk)
    put(conversation)
    told = attachments.user_messages(rows, seen=True)
    assert [told[row.pk].images for row in rows] == [(), (PNG,)]
    assert "no longer shown" in told[rows[0].pk].content
    turn_settings.workspace(str(conversation.pk)).delete("images/a.png")
    assert "no longer shown" in attachments.user_messages(rows, seen=True)[rows[1].pk].content


# T12
def test_files_are_named_to_the_model_and_shown_with_the_message(alice: User, conversation: Conversation) -> None:
    seeing(conversation)
    accepted = ask(alice, conversation, put(conversation), put(conversation, "notes & more.txt", b"words"))
    assert accepted.claimed is not None
    told = accepted.claimed.history[-1]
    assert (told.content, told.images) == ("What is this?\n\n[Attached files: notes & more.txt.]", (PNG,))
    sources = [one.text for one in accepted.claimed.received]
    assert sources == ["the image images/a.png", "the name of the file notes & more.txt", "an image"]
    html = fragments.message(accepted.message)
    assert "files/download/?path=notes%20%26%20more.txt" in html
    for missing in ("missing.txt", "images", "../escape"):
        with pytest.raises(NotFound):
            attachments.check(str(conversation.pk), [missing])
