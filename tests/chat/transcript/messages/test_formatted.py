"""Answers are formatted once, by workers, and stored HTML is shown only with this site's seal."""

from __future__ import annotations

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from chat.models import Conversation, FormattedMessage, Message, ToolRun, Turn
from chat.transcript.messages import formatted
from tests.factories import ModelProfileFactory
from tests.markup import flat
from toolsupport.rendering import format_tasks
from toolsupport.work_pool import pool as pools
from toolsupport.work_pool.types import Task, WorkError, WorkRefused, WorkTimedOut

pytestmark = pytest.mark.django_db

TEXT = "**Bold** and\n\n```c\nint a;\n```\n"
# Its lexer takes 11 s for it.
COSTLY = "```c\n" + "\n" * 19_900 + "```"


@pytest.fixture
def answer(alice: User) -> Message:
    """A finished answer of an older version, without HTML."""
    profile = ModelProfileFactory()
    conversation = Conversation.objects.create(owner=alice, profile=profile, title="Old")
    turn = Turn.objects.create(conversation=conversation, client_id="1", profile=profile, status="done")
    row = Message.objects.create(conversation=conversation, role="assistant", content=TEXT, turn=turn)
    Conversation.objects.filter(pk=conversation.pk).update(leaf=row)
    return row


@pytest.fixture
def formats(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that are given to workers."""
    given: list[str] = []
    submit = pools.WorkPool.submit

    def counted(pool: pools.WorkPool, owner: object, task: Task, *arguments: str) -> pools.Job:
        given.extend(arguments)
        return submit(pool, owner, task, *arguments)

    monkeypatch.setattr(pools.WorkPool, "submit", counted)
    return given


def page(person: User, row: Message, name: str = "conversation-messages") -> str:
    client = Client()
    client.force_login(person)
    return flat(client.get(reverse(name, args=[row.conversation_id])).content.decode())


def test_an_older_answer_is_formatted_at_its_first_view_only(answer: Message, alice: User, formats: list[str]) -> None:
    pages = [page(alice, answer), page(alice, answer, "conversation"), page(alice, answer)]
    assert all("<strong>Bold</strong>" in one and '<span class="kt">int</span>' in one for one in pages)
    assert formats == [TEXT]


def test_the_newest_html_of_an_answer_stays(answer: Message) -> None:
    for html in ("<p>First</p>", "<p>Second</p>"):
        formatted.keep(answer, TEXT, html)
    row = Message.objects.select_related("formatted").get(pk=answer.pk)
    assert formatted.stored(row, TEXT) == "<p>Second</p>"


def test_html_made_here_is_shown_for_its_text_only(answer: Message) -> None:
    formatted.keep(answer, TEXT, "<p>Made here</p>")
    assert formatted.stored(answer, TEXT) == "<p>Made here</p>"
    assert formatted.stored(answer, f"{TEXT} and more") is None


def test_readers_of_a_shared_chat_see_the_same(answer: Message, bob: User, formats: list[str]) -> None:
    share = answer.conversation.shares.create(reader=bob)
    client = Client()
    client.force_login(bob)
    place = reverse("shared-conversation", args=[share.conversation_id])
    assert all("<strong>Bold</strong>" in client.get(place).content.decode() for _ in range(2))
    assert formats == [TEXT]


def test_a_costly_block_is_stored_without_colors(answer: Message, alice: User, formats: list[str]) -> None:
    Message.objects.filter(pk=answer.pk).update(content=f"# Head\n\n{COSTLY}\n")
    for _ in range(2):
        shown = page(alice, answer)
        assert "Shown without colors: too long to color" in shown
        assert ">Head</h3>" in shown
    assert len(formats) == 1


@pytest.mark.parametrize("wrong", ["text", "html", "version", "key"])
def test_html_without_the_seal_is_not_shown(
    answer: Message, alice: User, wrong: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after an import, a restored archive, an update of the formatter or a change of the site's key."""
    evil = "<script>alert(1)</script>"
    formatted.keep(answer, TEXT, evil)
    assert "<script>alert(1)" in page(alice, answer)  # sealed: shown as it is
    if wrong == "text":
        Message.objects.filter(pk=answer.pk).update(content="another")
    elif wrong == "html":
        FormattedMessage.objects.update(html=evil + " ")
    elif wrong == "version":
        monkeypatch.setattr(format_tasks, "VERSION", "2")
    else:
        monkeypatch.setattr(settings, "SECRET_KEY", "another")
    assert "<script>alert(1)" not in page(alice, answer)
    row = FormattedMessage.objects.get()
    assert "<script>" not in row.html


@pytest.mark.parametrize("error", [WorkRefused("stopping"), WorkTimedOut("the machine is busy")])
def test_a_page_without_workers_shows_the_plain_text_and_stores_nothing(
    answer: Message, alice: User, monkeypatch: pytest.MonkeyPatch, error: WorkError
) -> None:
    def refuse(*_: object) -> None:
        raise error

    monkeypatch.setattr(pools.WorkPool, "submit", refuse)
    assert '<div class="toolong">**Bold** and' in page(alice, answer)
    assert not FormattedMessage.objects.exists()


def test_an_unreadable_call_is_not_in_the_html(answer: Message, alice: User) -> None:
    Message.objects.filter(pk=answer.pk).update(content="before <tool_call>x</tool_call> after")
    assert answer.turn is not None
    ToolRun.objects.create(
        turn=answer.turn, message=answer, call_id="1", name="", status="rejected", format="hermes",
        raw="<tool_call>x</tool_call>",
    )  # fmt: skip
    for _ in range(2):
        assert '<p dir="auto">before after</p>' in page(alice, answer)


def test_another_persons_page_is_not_formatted_for_a_stranger(answer: Message, bob: User, charlie: User) -> None:
    for stranger in (bob, charlie):
        client = Client()
        client.force_login(stranger)
        assert client.get(reverse("conversation", args=[answer.conversation_id])).status_code in (403, 404)
    assert not FormattedMessage.objects.exists()
