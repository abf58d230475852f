"""Bob, an administrator, reads Alice's conversation for a reason; she is notified; Charlie may not."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from chat.models import Conversation
from chat.transcript.messages import history
from tests.chat.pages.test_sharing import conversation, signed_in
from tests.factories import UserFactory
from toolsupport.models import Audit

pytestmark = pytest.mark.django_db
__all__ = ["conversation"]


def address(conversation: Conversation) -> str:
    return f"/others/{conversation.pk}/"


# SAFETY 3, C11
def test_bob_reads_with_a_reason_and_alice_is_told(alice: User, bob: User, conversation: Conversation) -> None:
    bobs = signed_in(bob)
    listed = bobs.get("/others/").content.decode()
    assert "alice" in listed and "Plans" not in listed
    asked = bobs.get(address(conversation)).content.decode()
    assert "Read chat" in asked and "hello" not in asked
    page = bobs.post(address(conversation), {"reason": "She asked <me> for help"}).content.decode()
    assert "<strong>hello</strong>" in page and "alice sees that you read it" in page
    assert "hidden.md" not in page and "inside" not in page
    assert Audit.objects.get().subject == str(conversation.pk)
    for path in ("", "readers/"):
        told = signed_in(alice).get(f"/chat/{conversation.pk}/{path}").content.decode()
        assert "bob" in told and "She asked &lt;me&gt; for help" in told
    conversation.refresh_from_db()
    assert all("bob" not in message.content for message in history.canonical(conversation))


# SAFETY 3: each look is one of its own.
def test_every_look_is_written_down(bob: User, conversation: Conversation) -> None:
    for reason in ("one", "two"):
        signed_in(bob).post(address(conversation), {"reason": reason})
    assert list(Audit.objects.order_by("id").values_list("reason", flat=True)) == ["one", "two"]


@pytest.mark.parametrize("reason", ["", "  ", "x" * 501])
def test_without_a_reason_nothing_is_shown(bob: User, conversation: Conversation, reason: str) -> None:
    page = signed_in(bob).post(address(conversation), {"reason": reason}).content.decode()
    assert 'role="alert"' in page and "hello" not in page
    assert not Audit.objects.exists() and not conversation.messages.filter(role="notice").exists()


@pytest.mark.parametrize("role", ["viewer", "user", "reviewer"])
def test_nobody_else_reads_it(conversation: Conversation, role: str) -> None:
    other = signed_in(UserFactory(role=role))
    assert other.post(address(conversation), {"reason": "curious"}).status_code == 403
    assert other.get("/others/").status_code == 403
    assert not Audit.objects.exists()


def test_ones_own_is_read_without_a_reason(bob: User, conversation: Conversation) -> None:
    Conversation.objects.filter(pk=conversation.pk).update(owner=bob)
    assert signed_in(bob).get(address(conversation)).status_code == 404
