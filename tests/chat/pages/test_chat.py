"""The pages of the chat: who sees what, and the partials that live frames are made of."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from chat.models import Conversation, Message, ToolRun, Turn
from chat.templatetags import readable
from chat.transcript.messages.duration_text import duration
from tests.factories import ModelProfileFactory
from toolsupport.models import Detection, ModelProfile

pytestmark = pytest.mark.django_db

PAGES = ("conversation", "conversation-messages", "conversation-picker")


def client_of(person: User) -> Client:
    client = Client()
    client.force_login(person)
    return client


@pytest.fixture
def owned(alice: User) -> Conversation:
    """A conversation of Alice with one answer that read a file."""
    profile = ModelProfileFactory(name="phi-x:7b", server__name="attic")
    conversation = Conversation.objects.create(owner=alice, profile=profile, title="Read it", tail=7)
    turn = Turn.objects.create(conversation=conversation, client_id="1", profile=profile, status="done")
    asked = Message.objects.create(conversation=conversation, role="user", content="<b>Read</b> it", turn=turn)
    answer = Message.objects.create(
        conversation=conversation, parent=asked, role="assistant", content="It says **2.4.1**.", turn=turn
    )
    ToolRun.objects.create(
        turn=turn,
        message=answer,
        call_id="c",
        name="read_file",
        arguments={"path": "config.json"},
        status="done",
        duration_ms=120,
        result='{"version":"2.4.1"}',
        format="native",
    )
    conversation.leaf = answer
    conversation.save()
    return conversation


# -- who may --


@pytest.mark.parametrize("name", PAGES)
def test_the_owner_sees_the_pages(alice: User, owned: Conversation, name: str) -> None:
    assert client_of(alice).get(reverse(name, args=[owned.pk])).status_code == 200


@pytest.mark.parametrize("name", PAGES)
def test_others_conversations_look_absent(bob: User, owned: Conversation, name: str) -> None:
    # Bob may do everything but read what is not his.
    client = client_of(bob)
    foreign = client.get(reverse(name, args=[owned.pk]))
    absent = client.get(reverse(name, args=[uuid.uuid4()]))
    assert (foreign.status_code, absent.status_code) == (404, 404)
    assert without_addresses(foreign.content) == without_addresses(absent.content)


def without_addresses(html: bytes) -> str:
    return re.sub(r"[0-9a-f-]{36}|x-csrftoken.*?}|csrfmiddlewaretoken.*?>", "", html.decode())


@pytest.mark.parametrize("name", PAGES)
def test_people_without_the_right_are_refused(charlie: User, owned: Conversation, name: str) -> None:
    assert client_of(charlie).get(reverse(name, args=[owned.pk])).status_code == 403


@pytest.mark.parametrize("name", PAGES)
def test_strangers_are_sent_to_sign_in(owned: Conversation, name: str) -> None:
    address = reverse(name, args=[owned.pk])
    answer = Client().get(address)
    assert answer.status_code == 302
    assert answer.headers["Location"].startswith("/login/")


def test_settings_are_the_owners(alice: User, bob: User, charlie: User, owned: Conversation) -> None:
    address, posted = reverse("conversation-settings", args=[owned.pk]), {"system": "Be brief.", "temperature": "0.5"}
    answers = [client_of(person).post(address, posted).status_code for person in (bob, charlie, alice)]
    assert answers == [404, 403, 200]
    owned.refresh_from_db()
    assert (owned.settings["system"], owned.settings["temperature"]) == ("Be brief.", 0.5)


def test_a_wrong_temperature_is_told_and_not_kept(alice: User, owned: Conversation) -> None:
    posted = {"system": "kept in the form", "temperature": "hot"}
    html = client_of(alice).post(reverse("conversation-settings", args=[owned.pk]), posted).content.decode()
    assert "The temperature must be a number from 0 to 2." in html
    assert 'value="hot"' in html
    assert "kept in the form" in html
    owned.refresh_from_db()
    assert owned.settings == {}


@pytest.mark.parametrize("name", ["chat-new", "conversation-settings"])
def test_what_changes_something_is_posted(alice: User, owned: Conversation, name: str) -> None:
    arguments = [owned.pk] if name != "chat-new" else []
    assert client_of(alice).get(reverse(name, args=arguments)).status_code == 405


@pytest.mark.parametrize("name", ["chat", *PAGES])
def test_pages_are_only_read(alice: User, owned: Conversation, name: str) -> None:
    arguments = [owned.pk] if name != "chat" else []
    assert client_of(alice).post(reverse(name, args=arguments)).status_code == 405


# -- where one begins --


def test_home_leads_to_the_latest_conversation(alice: User, owned: Conversation) -> None:
    assert client_of(alice).get("/").headers["Location"] == reverse("conversation", args=[owned.pk])


def test_the_address_of_all_chats_leads_home(alice: User, owned: Conversation, client: Client) -> None:
    answer = client_of(alice).get("/chat/", follow=True)
    assert answer.redirect_chain[-1][0] == reverse("conversation", args=[owned.pk])
    assert client.get("/chat/", follow=True).redirect_chain[-1][0].startswith(reverse("login"))


def test_home_makes_a_conversation_where_there_is_none(alice: User) -> None:
    assert client_of(alice).get("/", follow=True).status_code == 200
    assert Conversation.objects.filter(owner=alice).count() == 1


def test_home_leads_an_admin_to_the_first_visit_until_something_was_tested_or_skipped(alice: User, bob: User) -> None:
    home = lambda person: client_of(person).get("/").headers["Location"]  # noqa: E731
    assert home(bob) == reverse("start") != home(alice)
    assert client_of(bob).get(reverse("start")).status_code == 200 and not Conversation.objects.filter(owner=bob)
    skipped = client_of(bob).post(reverse("chat-new"), {"reuse": "1"}).headers["Location"]
    assert home(bob) == skipped
    Conversation.objects.filter(owner=bob).delete()
    assert home(bob) == reverse("start")
    test = Detection.objects.create(profile=ModelProfileFactory(), build_key="b", trigger="page", status="queued")
    assert home(bob) == reverse("start")
    Detection.objects.filter(pk=test.pk).update(status="done")
    assert home(bob) != reverse("start")


def test_home_leads_viewers_to_the_models(charlie: User) -> None:
    assert client_of(charlie).get("/").headers["Location"] == reverse("models")


def test_home_leads_strangers_to_sign_in() -> None:
    assert Client().get("/").headers["Location"] == reverse("login")


def test_a_new_chat_is_made_by_its_button(alice: User, owned: Conversation) -> None:
    answer = client_of(alice).post(reverse("chat-new"))
    newest = Conversation.objects.filter(owner=alice).exclude(pk=owned.pk).get()
    assert answer.headers["Location"] == reverse("conversation", args=[newest.pk])


def test_a_chat_is_opened_with_a_model(alice: User, owned: Conversation) -> None:
    client, other = client_of(alice), ModelProfileFactory(name="other:1b")
    form = {"reuse": "1", "model": str(other.pk)}
    made = client.post(reverse("chat-new"), form).headers["Location"]
    chat = Conversation.objects.get(profile=other)
    assert made == reverse("conversation", args=[chat.pk]) and not chat.messages.exists()
    another = ModelProfileFactory(name="another:1b")
    assert client.post(reverse("chat-new"), form | {"model": str(another.pk)}).headers["Location"] == made
    chat.refresh_from_db()
    assert (chat.profile_id, chat.messages.get().code) == (another.pk, "switched")
    count = Conversation.objects.count()
    assert client.post(reverse("chat-new"), form | {"model": "999999"}).status_code == 404
    assert Conversation.objects.count() == count
    button = 'id="open-chat"'
    assert button in client.get(reverse("model", args=[other.pk])).content.decode()
    ModelProfile.objects.filter(pk=other.pk).update(gone_since=timezone.now())
    assert button not in client.get(reverse("model", args=[other.pk])).content.decode()


def test_a_chat_leads_to_the_first_visit_where_no_model_was_tested(alice: User, owned: Conversation) -> None:
    page = lambda: client_of(alice).get(reverse("conversation", args=[owned.pk])).content.decode()  # noqa: E731
    assert "No model has been tested yet." in page()
    Detection.objects.create(profile=ModelProfileFactory(), build_key="b", trigger="page", status="done")
    assert "No model has been tested yet." not in page()


# -- what the page holds --


def test_the_page_holds_transcript_picker_and_examples(alice: User, owned: Conversation) -> None:
    html = client_of(alice).get(reverse("conversation", args=[owned.pk])).content.decode()
    for wanted in (
        'id="transcript"',
        'role="log"',
        'data-tail="7"',
        'aria-busy="false"',
        "&lt;b&gt;Read&lt;/b&gt; it",
        "<strong>2.4.1</strong>",
        "Read</span>",
        "1 line · 120 ms",
        "phi-x:7b",
        "What's in this folder?",
    ):
        assert wanted in html, wanted


def test_an_open_turn_makes_the_transcript_busy(alice: User, owned: Conversation) -> None:
    assert owned.profile
    turn = Turn.objects.create(conversation=owned, client_id="2", profile=owned.profile, status="queued")
    html = client_of(alice).get(reverse("conversation-messages", args=[owned.pk])).content.decode()
    assert 'aria-busy="true"' in html
    assert f'data-turn="{turn.pk}"' in html


def test_the_transcript_part_is_what_the_page_holds(alice: User, owned: Conversation) -> None:
    client = client_of(alice)
    page = client.get(reverse("conversation", args=[owned.pk])).content.decode()
    part = client.get(reverse("conversation-messages", args=[owned.pk])).content.decode().strip()
    assert part.startswith('<div id="transcript"')
    assert part in page


def test_the_picker_part_is_what_the_page_holds(alice: User, owned: Conversation) -> None:
    client = client_of(alice)
    page = client.get(reverse("conversation", args=[owned.pk])).content.decode()
    part = client.get(reverse("conversation-picker", args=[owned.pk])).content.decode()
    assert part.strip().startswith('<div id="picker"')
    assert part.strip() in page


def test_a_page_without_models_says_what_to_do(alice: User) -> None:
    html = client_of(alice).get("/", follow=True).content.decode()
    assert "No model is available yet." in html
    assert reverse("servers") in html


def test_a_simulated_model_is_labelled(alice: User) -> None:
    ModelProfileFactory(name="sim-honest:latest", server__kind="simulator", server__name="Simulator")
    html = client_of(alice).get("/", follow=True).content.decode()
    assert "<strong>simulated</strong>" in html
    assert "ollama pull qwen3:8b" in html


def test_a_model_that_cannot_be_used_says_why(alice: User, owned: Conversation) -> None:
    ModelProfileFactory(
        name="far:1b", server__name="cellar", server__reachable=False, server__last_error="It does not answer."
    )
    html = client_of(alice).get(reverse("conversation-models", args=[owned.pk])).content.decode()
    assert 'aria-disabled="true"' in html
    assert "Offline" in html
    assert "It does not answer." in html


def test_long_conversations_cost_no_more_queries(
    alice: User, owned: Conversation, django_assert_max_num_queries: Callable[..., Any]
) -> None:
    client = client_of(alice)
    before = owned.leaf
    for number in range(40):
        before = Message.objects.create(
            conversation=owned, parent=before, role="assistant" if number % 2 else "user", content=str(number)
        )
    Conversation.objects.filter(pk=owned.pk).update(leaf=before)
    with django_assert_max_num_queries(20):
        html = client.get(reverse("conversation", args=[owned.pk])).content.decode()
    assert html.count("<article") == 42


def test_a_long_chat_shows_its_last_messages_and_gives_the_earlier_ones(
    alice: User, bob: User, owned: Conversation
) -> None:
    before = owned.leaf
    for number in range(120):
        before = Message.objects.create(
            conversation=owned, parent=before, role="assistant" if number % 2 else "user", content=f"text {number}."
        )
    Conversation.objects.filter(pk=owned.pk).update(leaf=before)
    client, part = client_of(alice), reverse("conversation-messages", args=[owned.pk])
    html = client.get(reverse("conversation", args=[owned.pk])).content.decode()
    assert html.count("<article") == 50 and "text 119." in html and "text 69." not in html
    since, until = re.findall(r'data-(?:since|until)="(\d+)"', html)
    earlier = client.get(part, {"since": since, "until": until}).content.decode()
    assert earlier.count("<article") == 50 and "text 69." in earlier and "text 70." not in earlier
    assert client.get(part, {"since": since}).content.decode().count("<article") == 100
    assert client.get(part, {"since": "x" * 30, "until": "9" * 30}).status_code == 200
    assert client_of(bob).get(part, {"since": since}).status_code == 404


def test_an_answer_is_copied_as_its_markdown(alice: User, bob: User, charlie: User, owned: Conversation) -> None:
    row = Message.objects.create(conversation=owned, parent=owned.leaf, role="assistant", content="**<b>** & `x`")
    address = reverse("message-text", args=[owned.pk, row.pk])
    answer = client_of(alice).get(address)
    assert (answer.content.decode(), answer["Content-Type"]) == ("**<b>** & `x`", "text/plain; charset=utf-8")
    assert client_of(bob).get(address).status_code == 404
    assert client_of(charlie).get(address).status_code == 403


# -- readable values --


@pytest.mark.parametrize(
    ("milliseconds", "words"),
    [
        (None, ""),
        (0, "0 ms"),
        (999, "999 ms"),
        (1000, "1 s"),
        (8240, "8.2 s"),
        (59_949, "59.9 s"),
        (59_960, "1 min 0 s"),
        (75_000, "1 min 15 s"),
    ],
)
def test_durations(milliseconds: int | None, words: str) -> None:
    assert duration(milliseconds) == words


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("plain", "plain"),
        ('{"a":1}', '{\n  "a": 1\n}'),
        ("[1]", "[\n  1\n]"),
        ("{not json", "{not json"),
        ("12", "12"),
        ({"ä": "ö"}, '{\n  "ä": "ö"\n}'),
        ("[" * 100_000, "[" * 100_000),
    ],
)
def test_pretty_values(value: Any, words: str) -> None:
    assert readable.pretty(value) == words


@pytest.mark.parametrize(
    ("value", "words"), [("a b", "a b"), (3, "3"), (True, "true"), (None, "null"), (["ä"], '["ä"]')]
)
def test_plain_values(value: Any, words: str) -> None:
    assert readable.plain(value) == words
