"""The pages of the list of conversations: who may, and what they answer."""

from __future__ import annotations

import json
import re
import uuid
from urllib.parse import quote

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from chat.models import Conversation
from chat.transcript.conversations import conversations, listing
from chat.transcript.turns.sent_message import SentMessage
from tests.chat.started_turns import accept
from tests.factories import ConversationFactory

pytestmark = pytest.mark.django_db

READ = ("conversation-actions", "conversation-export-markdown", "conversation-export-json")
CHANGE = {
    "conversation-rename": {"title": "New"},
    "conversation-archive": {"on": "1"},
    "conversation-pin": {"on": "1"},
    "conversation-delete": {},
}
ALL = [*READ, *CHANGE]


def client_of(person: User) -> Client:
    client = Client()
    client.force_login(person)
    return client


@pytest.fixture
def owned(alice: User) -> Conversation:
    return ConversationFactory(owner=alice, title="Über <Tee>")


def call(client: Client, name: str, which: object, **headers: str) -> tuple[int, str]:
    """(status, text) of a page, asked for with its own verb."""
    address = reverse(name, args=[which])
    answer = client.post(address, CHANGE[name], headers=headers) if name in CHANGE else client.get(address)
    return answer.status_code, answer.content.decode()


@pytest.mark.parametrize("name", ALL)
def test_the_owner_may(alice: User, owned: Conversation, name: str) -> None:
    status, _ = call(client_of(alice), name, owned.pk, HX_Request="true")
    assert status == 200


@pytest.mark.parametrize("name", ALL)
def test_others_conversations_look_absent(bob: User, owned: Conversation, name: str) -> None:
    client = client_of(bob)
    foreign, absent = call(client, name, owned.pk), call(client, name, uuid.uuid4())
    assert (foreign[0], absent[0]) == (404, 404)
    assert bare(foreign[1]) == bare(absent[1])
    assert Conversation.objects.filter(pk=owned.pk, title="Über <Tee>", archived=False).exists()


def bare(html: str) -> str:
    return re.sub(r"[0-9a-f-]{36}|x-csrftoken.*?}|csrfmiddlewaretoken.*?>", "", html)


@pytest.mark.parametrize("name", ALL)
def test_people_without_the_right_are_refused(charlie: User, owned: Conversation, name: str) -> None:
    assert call(client_of(charlie), name, owned.pk)[0] == 403


@pytest.mark.parametrize("name", ALL)
def test_strangers_are_sent_to_sign_in(owned: Conversation, name: str) -> None:
    assert call(Client(), name, owned.pk)[0] == 302
    assert Conversation.objects.filter(pk=owned.pk, archived=False).exists()


@pytest.mark.parametrize("name", ALL)
def test_each_page_has_one_verb(alice: User, owned: Conversation, name: str) -> None:
    client, address = client_of(alice), reverse(name, args=[owned.pk])
    assert (client.get(address) if name in CHANGE else client.post(address)).status_code == 405


def test_the_list_is_for_those_who_chat(alice: User, bob: User, charlie: User, owned: Conversation) -> None:
    address = reverse("conversations")
    assert owned.pk.hex in client_of(alice).get(address).content.decode().replace("-", "")
    assert "No chats yet." in client_of(bob).get(address).content.decode()
    assert (client_of(charlie).get(address).status_code, Client().get(address).status_code) == (403, 302)


# -- what they answer --


def test_the_list_is_the_one_of_the_page(alice: User, owned: Conversation) -> None:
    client = client_of(alice)
    page = client.get(reverse("conversation", args=[owned.pk])).content.decode()
    headers = {"HX-Request": "true", "HX-Current-URL": f"http://testserver{reverse('conversation', args=[owned.pk])}"}
    part = client.get(reverse("conversations"), headers=headers).content.decode()
    assert part.startswith('<nav id="conversations"') and 'aria-current="page"' in part
    assert part in page


def test_a_search_marks_what_it_found(alice: User, owned: Conversation) -> None:
    accept(alice, str(owned.pk), SentMessage("c", "the <b>kettle</b> boils"))
    html = client_of(alice).get(reverse("conversations"), {"q": "kettle"}).content.decode()
    assert "the &lt;b&gt;<mark>kettle</mark>&lt;/b&gt; boils" in html
    assert "Nothing found." in client_of(alice).get(reverse("conversations"), {"q": "teapot"}).content.decode()


def test_what_is_archived_is_listed_apart(alice: User, owned: Conversation) -> None:
    client = client_of(alice)
    assert "Nothing is archived." in client.get(reverse("conversations"), {"archived": "1"}).content.decode()
    call(client, "conversation-archive", owned.pk)
    assert "Über" in client.get(reverse("conversations"), {"archived": "1"}).content.decode()
    assert "Restore" in call(client, "conversation-actions", owned.pk)[1]


def test_a_long_list_goes_on_where_it_ended(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(3):
        ConversationFactory(owner=alice, title=f"number {number}")
    monkeypatch.setattr(listing.page, "__defaults__", (False, "", 2))
    client = client_of(alice)
    html = client.get(reverse("conversations")).content.decode()
    [address] = re.findall(r'hx-get="(/chat/list/\?after=[^"]+)"', html)
    rest = client.get(address).content.decode()
    assert rest.count("<li") == 1 and "number 0" in rest and "<nav" not in rest
    assert "<h2>Today</h2>" in html and "<h2>" not in rest and "Today, continued" in rest


def test_a_pinned_chat_moves_to_the_top_of_the_list(alice: User, owned: Conversation) -> None:
    ConversationFactory(owner=alice, title="later")
    _, html = call(client_of(alice), "conversation-pin", owned.pk, HX_Request="true")
    assert html.index("<h2>Pinned</h2>") < html.index("Über") < html.index("<h2>Today</h2>") < html.index("later")
    assert "Unpin" in call(client_of(alice), "conversation-actions", owned.pk)[1]


def test_a_browser_may_send_any_time_zone(alice: User, owned: Conversation) -> None:
    client = client_of(alice)
    for zone in ("Europe/Berlin", "../../etc/passwd", "/etc/passwd", "no such place", "x" * 5000, "Europe", "\x00"):
        client.cookies["timezone"] = zone
        assert "<h2>Today</h2>" in client.get(reverse("conversations")).content.decode()


def test_answers_are_told_to_their_owner_only(alice: User, bob: User, charlie: User, owned: Conversation) -> None:
    accept(alice, str(owned.pk), SentMessage("c", "hello"))
    address = reverse("conversations-unfinished")
    [answer] = client_of(alice).get(address).json()["answers"]
    assert (answer["chat"], answer["state"]) == (str(owned.pk), "answering")
    assert client_of(bob).get(address).json() == {"answers": []}
    assert client_of(charlie).get(address).status_code == 403
    for person, asks in ((alice, True), (charlie, False)):
        page = client_of(person).get(reverse("models")).content.decode()
        assert ("data-answers=" in page) == asks


def test_new_chat_uses_an_empty_one_again(alice: User) -> None:
    client, address = client_of(alice), reverse("chat-new")
    first = client.post(address, {"reuse": "1"}).headers["Location"]
    assert client.post(address, {"reuse": "1"}).headers["Location"] == first
    assert client.post(address).headers["Location"] != first


def test_a_new_title_reaches_its_own_page(alice: User, owned: Conversation) -> None:
    here = f"http://testserver{reverse('conversation', args=[owned.pk])}"
    _, html = call(client_of(alice), "conversation-rename", owned.pk, HX_Request="true", HX_Current_URL=here)
    assert html.startswith(f'<li id="listed-{owned.pk}">') and 'id="chat-title"' in html
    _, html = call(client_of(alice), "conversation-rename", owned.pk, HX_Request="true")
    assert "New" in html and "chat-title" not in html


def test_deleting_what_is_open_leads_home(alice: User, owned: Conversation) -> None:
    client, here = client_of(alice), reverse("conversation", args=[owned.pk])
    headers = {"HX-Request": "true", "HX-Current-URL": f"http://testserver{here}"}
    answer = client.post(reverse("conversation-delete", args=[owned.pk]), headers=headers)
    assert answer.headers["HX-Redirect"] == "/"
    assert not Conversation.objects.filter(pk=owned.pk).exists()


def test_deleting_is_refused_while_an_answer_is_written(alice: User, owned: Conversation) -> None:
    accept(alice, str(owned.pk), SentMessage("c", "hello"))
    _, html = call(client_of(alice), "conversation-delete", owned.pk, HX_Request="true")
    assert "An answer is still running here. Stop it first." in html
    assert Conversation.objects.filter(pk=owned.pk).exists()


@pytest.mark.parametrize("name", CHANGE)
def test_without_scripts_one_is_led_on(alice: User, name: str) -> None:
    which = conversations.create(alice)
    assert call(client_of(alice), name, which)[0] == 302


@pytest.mark.parametrize(
    ("name", "kind"),
    [("conversation-export-markdown", "text/markdown"), ("conversation-export-json", "application/json")],
)
def test_exports_are_files_to_save(alice: User, owned: Conversation, name: str, kind: str) -> None:
    answer = client_of(alice).get(reverse(name, args=[owned.pk]))
    assert answer.headers["Content-Type"].startswith(kind)
    assert answer.headers["Content-Disposition"].startswith("attachment")
    assert quote("über-tee") in answer.headers["Content-Disposition"]
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert "private" in answer.headers["Cache-Control"]
    if kind == "application/json":
        assert json.loads(answer.content)["title"] == "Über <Tee>"
