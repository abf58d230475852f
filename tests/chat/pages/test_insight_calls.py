"""The calls behind a point: for Alice her own, for Bob his, and none for Charlie."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from chat.models import Conversation, ToolRun
from chat.transcript.conversations import conversations
from tests.factories import ModelProfileFactory, ServerFactory
from toolsupport.core.insight_sentences import CAUSES
from toolsupport.models import CallMetric, ModelProfile

pytestmark = pytest.mark.django_db


@pytest.fixture
def profile() -> ModelProfile:
    made: ModelProfile = ModelProfileFactory(name="strange:1b", server=ServerFactory(name="box"))
    return made


def called(person: User, profile: ModelProfile, path: str, **fields: object) -> ToolRun:
    chat = Conversation.objects.get(pk=conversations.create(person))
    turn = chat.turns.create(client_id=path, profile=profile, status="done", format="native")
    message = chat.messages.create(role="assistant", turn=turn)
    row = {"name": "read_file", "call_id": "1", "arguments": {"path": path}, "status": "done", "format": "native"}
    run: ToolRun = message.tool_runs.create(turn=turn, **(row | fields))
    return run


def calls(client: Client, person: User, **query: str | int) -> str:
    client.force_login(person)
    answer = client.get("/insights/calls/", {"day": timezone.now().date().isoformat(), **query})
    assert answer.status_code == 200
    return answer.content.decode()


# D15
def test_one_sees_ones_own_calls_and_how_many_there_were(
    client: Client, profile: ModelProfile, alice: User, bob: User
) -> None:
    CallMetric.objects.create(
        profile=profile, format="native", outcome="ready", day=timezone.now().date(), calls=12, latency_ms=1, tokens=1
    )
    run = called(alice, profile, "mine.txt")
    called(bob, profile, "his.txt")
    page = calls(client, alice)
    assert "mine.txt" in page and "his.txt" not in page and "12 calls" in page
    assert f"/chat/{run.message.conversation_id}/#message-{run.message_id}" in page
    page = calls(client, bob)
    assert "his.txt" in page and "mine.txt" not in page


def test_a_point_is_one_model_and_one_format(client: Client, profile: ModelProfile, alice: User) -> None:
    other = ModelProfileFactory()
    called(alice, profile, "native.txt")
    called(alice, profile, "hermes.txt", format="hermes")
    called(alice, other, "other.txt")
    unread = called(alice, profile, "", name="web_serch", status="rejected", error="no such tool", format="")
    page = calls(client, alice, profile=profile.pk, format="native")
    assert "native.txt" in page and unread.name in page and "no such tool" in page
    assert "hermes.txt" not in page and "other.txt" not in page


def test_a_number_of_the_page_is_the_calls_of_some_days(client: Client, profile: ModelProfile, alice: User) -> None:
    called(alice, profile, "plain.txt")
    CallMetric.objects.create(profile=profile, format="native", outcome="repaired", day=timezone.now().date(), calls=1)
    called(alice, profile, "mended.txt", repairs=["a comma"])
    for fault in ("unreadable", "cut", "unknown", "schema"):
        called(alice, profile, f"{fault}.txt", status="rejected", fault=fault)
    called(alice, profile, "prose.txt", in_prose=True)
    today = timezone.now().date()
    days = {"day": "", "since": (today - timedelta(days=6)).isoformat(), "until": today.isoformat()}
    found = {state: calls(client, alice, **days, state=state) for state in ("", "repaired", *CAUSES, "other")}
    names = [f"{one}.txt" for one in ("plain", "mended", "unreadable", "cut", "unknown", "schema", "prose")]
    shown = {state: [name for name in names if name in page] for state, page in found.items()}
    assert (shown.pop(""), shown.pop("other"), shown.pop("refused")) == (names, names, names)
    kept = {"repaired": ["mended.txt"], "rejected": ["unreadable.txt", "cut.txt"], "prose": ["prose.txt"]}
    assert shown == kept | {"unknown": ["unknown.txt"], "schema": ["schema.txt"]}
    assert "1 of them was repaired" in found["repaired"] and "0 of them were unreadable" in found["rejected"]


def test_another_day_is_another_point(client: Client, profile: ModelProfile, alice: User) -> None:
    called(alice, profile, "today.txt")
    page = calls(client, alice, day="2020-01-01")
    assert "today.txt" not in page and "None of these calls are in your chats" in page


@pytest.mark.parametrize(
    ("query", "status"),
    [("", 404), ("day=x", 404), ("day=2026-11-21&profile=x", 404), ("day=2026-11-21&format=%00", 400)],
)
def test_what_is_no_point_is_not_there(client: Client, alice: User, query: str, status: int) -> None:
    client.force_login(alice)
    assert client.get(f"/insights/calls/?{query}").status_code == status


def test_who_may_not_chat_has_no_calls(client: Client, charlie: User) -> None:
    client.force_login(charlie)
    assert client.get("/insights/calls/?day=2026-11-21").status_code == 403
