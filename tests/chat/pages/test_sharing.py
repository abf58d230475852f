"""Alice shares a conversation with Bob; no other person can read it, nor Bob after she withdraws it."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from chat.models import Conversation, Share
from tests.factories import ConversationFactory, UserFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def conversation(alice: User) -> Conversation:
    conversation: Conversation = ConversationFactory(owner=alice, title="Plans")
    asked = conversation.messages.create(role="user", content="Read the secret file")
    turn = conversation.turns.create(client_id="c", profile_id=conversation.profile_id or 0, status="done")
    answer = conversation.messages.create(role="assistant", content="It says **hello**.", parent=asked, turn=turn)
    answer.tool_runs.create(turn=turn, call_id="1", name="read_file", arguments={"path": "hidden.md"}, result="inside")
    Conversation.objects.filter(pk=conversation.pk).update(leaf=answer)
    return conversation


def signed_in(person: User) -> Client:
    client = Client()
    client.force_login(person)
    return client


def share(alice: User, conversation: Conversation, name: str, more: str = "") -> str:
    url = f"/chat/{conversation.pk}/readers/{more}"
    return signed_in(alice).post(url, {"person": name}).content.decode()


# C11
def test_bob_reads_what_alice_shares_until_she_withdraws_it(alice: User, bob: User, conversation: Conversation) -> None:
    address, bobs = f"/shared/{conversation.pk}/", signed_in(bob)
    assert bobs.get(address).status_code == 404
    assert "bob" in share(alice, conversation, "bob")
    assert "Plans" in bobs.get("/shared/").content.decode()
    page = bobs.get(address).content.decode()
    assert "<strong>hello</strong>" in page and "<bdi>a file</bdi>" in page and 'class="chat-head"' in page
    assert "hidden.md" not in page and "inside" not in page
    assert "No readers yet." in share(alice, conversation, "bob", "withdraw/")
    assert bobs.get(address).status_code == 404 and "Plans" not in bobs.get("/shared/").content.decode()
    share(alice, conversation, "bob")
    assert bobs.get(address).status_code == 200 and Share.objects.count() == 2


@pytest.mark.parametrize(
    ("status", "finished", "words"),
    [
        ("stopped", True, "Stopped by alice."),
        ("failed", True, "This answer ended early."),
        ("interrupted", True, "This answer ended early."),
        ("running", False, "This answer is still being written."),
        ("done", True, "The model sent an empty answer."),
    ],
)
def test_an_answer_without_text_says_why(
    alice: User, bob: User, conversation: Conversation, status: str, finished: bool, words: str
) -> None:
    asked = conversation.messages.create(role="user", content="And this?", attachments=["hidden.md"])
    reason = "The server sent: inside"
    turn = conversation.turns.create(
        client_id="d", profile_id=conversation.profile_id or 0, status=status, reason="" if status == "done" else reason
    )
    answer = conversation.messages.create(role="assistant", parent=asked, turn=turn, finished=finished)
    Conversation.objects.filter(pk=conversation.pk).update(leaf=answer)
    share(alice, conversation, "bob")
    page = " ".join(signed_in(bob).get(f"/shared/{conversation.pk}/").content.decode().split())
    assert words in page and page.count('class="ended"') == 1
    assert "With 1 file<" in page and "hidden.md" not in page and "inside" not in page


# C11: to read is all that a share allows.
def test_bob_changes_nothing_and_sees_no_files(alice: User, bob: User, conversation: Conversation) -> None:
    share(alice, conversation, "bob")
    for path in ("", "messages/", "files/", "readers/", "export.json", "grants/"):
        assert signed_in(bob).get(f"/chat/{conversation.pk}/{path}").status_code == 404
    assert signed_in(bob).post(f"/chat/{conversation.pk}/readers/", {"person": "bob"}).status_code == 404


@pytest.mark.parametrize("name", ["charlie", "nobody", "", "alice"])
def test_whom_it_cannot_be_shared_with(alice: User, charlie: User, conversation: Conversation, name: str) -> None:
    shown = share(alice, conversation, name)
    assert 'role="alert"' in shown and f'value="{name}" autofocus' in shown
    assert not Share.objects.exists()


def test_others_do_not_read_it(alice: User, bob: User, charlie: User, conversation: Conversation) -> None:
    share(alice, conversation, "bob")
    dora = UserFactory(role="reviewer")
    assert signed_in(dora).get(f"/shared/{conversation.pk}/").status_code == 404
    assert signed_in(charlie).get(f"/shared/{conversation.pk}/").status_code == 403


def test_what_somebody_shared_is_gone_while_they_may_not_sign_in(
    alice: User, bob: User, conversation: Conversation
) -> None:
    share(alice, conversation, "bob")
    User.objects.filter(pk=alice.pk).update(is_active=False)
    assert signed_in(bob).get(f"/shared/{conversation.pk}/").status_code == 404
    assert "Plans" not in signed_in(bob).get("/shared/").content.decode()
