"""What a process does each second reads no row while none changes, and sees every change."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth import HASH_SESSION_KEY
from django.contrib.auth.models import User
from django.db import connection
from django.db.models.functions import Now
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from chat.models import Conversation, Grant, Question, Turn
from chat.statuses import TurnStatus
from chat.transcript.people.socket_permissions import kept_out
from chat.transcript.questions import model_notices, questions
from chat.transcript.turn_store import TurnStore
from chat.transcript.turns import context_findings, leases
from chat.transcript.turns.sent_message import SentMessage
from tests.chat.started_turns import accept
from tests.factories import ConversationFactory, ModelProfileFactory, OverrideFactory
from toolsupport.core.prompt.token_counts import MeasuredPrompt
from toolsupport.models import Detection
from toolsupport.registry.metrics import prompt_token_counts
from toolsupport.registry.people import socket_access
from toolsupport.registry.people.permissions import Action
from toolsupport.registry.people.socket_access import SIGNED_OUT, SocketAccess
from toolsupport.registry.testing import detections, later_steps
from toolsupport.registry.testing.detections import DetectionRequest

pytestmark = pytest.mark.django_db(transaction=True)
SQLITE = connection.vendor == "sqlite"


@pytest.fixture
def held(alice: User) -> SocketAccess:
    client = Client()
    client.force_login(alice)
    return SocketAccess(alice.pk, str(client.session.session_key), client.session[HASH_SESSION_KEY])


@pytest.fixture
def conversation(alice: User) -> Conversation:
    made: Conversation = ConversationFactory(owner=alice, profile=ModelProfileFactory())
    return made


def queries(work: Callable[[], Any]) -> list[str]:
    """The queries of a second run; counting the commits of other connections reads no row."""
    work()
    with CaptureQueriesContext(connection) as captured:
        work()
    return [query["sql"] for query in captured if "data_version" not in query["sql"]]


@pytest.mark.skipif(not SQLITE, reason="rows are kept on SQLite only")
def test_nothing_is_read_while_nothing_changes(held: SocketAccess) -> None:
    def check() -> None:
        assert socket_access.refused({held}, Action.CHAT) == {} and kept_out({held.person}) == frozenset()
        assert questions.expire() == [] and model_notices.look().quiet
        assert detections.claim("here") is None and later_steps.claim("here") is None

    assert queries(check) == []


def test_turns_that_run_here_are_settled_by_one_query(alice: User, conversation: Conversation) -> None:
    begun = accept(alice, str(conversation.pk), SentMessage("a", "Hello"), "me")
    Turn.objects.update(lease_until=Now() - timedelta(minutes=1))
    assert len(queries(lambda: leases.settle([begun.turn]))) == 1
    ended, _ = leases.settle([])
    assert [end.turn for end in ended] == [begun.turn]
    assert Turn.objects.get().status == TurnStatus.INTERRUPTED


def test_a_session_that_expires_is_seen_though_no_row_changes(
    held: SocketAccess, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert socket_access.refused({held}, Action.CHAT) == {}
    later = timezone.now() + timedelta(days=365)
    monkeypatch.setattr(timezone, "now", lambda: later)
    assert socket_access.refused({held}, Action.CHAT) == {held: SIGNED_OUT}


def test_lost_rights_are_seen(alice: User, held: SocketAccess) -> None:
    assert (socket_access.refused({held}, Action.CHAT), kept_out({alice.pk})) == ({}, frozenset())
    alice.groups.clear()
    assert (socket_access.refused({held}, Action.CHAT), kept_out({alice.pk})) != ({}, frozenset())
    assert kept_out({alice.pk}) == {alice.pk}
    User.objects.filter(pk=alice.pk).update(is_active=False)
    assert socket_access.refused({held}, Action.CHAT) == {held: SIGNED_OUT}


def test_a_question_expires(alice: User, conversation: Conversation) -> None:
    assert questions.expire() == []
    Question.objects.create(conversation=conversation, kind="unknown_model", expires_at=Now() + timedelta(hours=1))
    assert questions.expire() == []
    Question.objects.update(expires_at=Now() - timedelta(seconds=1))
    assert [closed.conversation for closed in questions.expire()] == [str(conversation.pk)]
    assert Question.objects.get().answer == "expired"


def test_tests_and_decisions_are_seen(conversation: Conversation) -> None:
    before = model_notices.look()
    assert before.quiet and not before.decisions
    profile = conversation.profile_id or 0
    detections.open_tests([DetectionRequest(profile, "chat", actor=conversation.owner_id)])
    assert not model_notices.look().quiet
    assert detections.claim("here") == Detection.objects.get().pk
    Detection.objects.update(status="done", finished_at=Now())
    assert not model_notices.look().quiet
    Detection.objects.update(finished_at=Now() - timedelta(minutes=1))
    decided = OverrideFactory(profile_id=profile, capability="tools", source="user_confirmed", value=True)
    now = model_notices.look()
    assert now.quiet and now.decisions == {profile: decided.pk}


def test_a_test_that_ended_just_now_is_quiet_in_time(
    conversation: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    profile = conversation.profile_id or 0
    detections.open_tests([DetectionRequest(profile, "chat", actor=conversation.owner_id)])
    Detection.objects.update(status="done", finished_at=Now())
    assert not model_notices.look().quiet
    monkeypatch.setattr("toolsupport.registry.testing.change_feed.JUST_NOW", timedelta(0))
    assert model_notices.look().quiet


def test_the_same_count_is_stored_once(alice: User, conversation: Conversation) -> None:
    store = TurnStore("me", accept(alice, str(conversation.pk), SentMessage("a", "Hello"), "me").turn)

    def count(characters: int) -> None:
        context_findings.count_prompt(store, "build", "", MeasuredPrompt(characters, 10))

    for characters, stored in ((50, 50), (50, 50), (60, 50), (40, 40)):
        count(characters)
        assert prompt_token_counts.known("build", "").without == MeasuredPrompt(stored, 10)
    assert not any(sql.startswith(("UPDATE", "INSERT", "BEGIN")) for sql in queries(lambda: count(40)))


def test_what_is_allowed_for_the_chat_is_known_to_its_next_turn(alice: User, conversation: Conversation) -> None:
    Grant.objects.create(conversation=conversation, tool="write_file", granted_by=alice)
    begun = accept(alice, str(conversation.pk), SentMessage("a", "Hello"), "me")
    assert begun.claimed is not None and begun.claimed.granted == {"write_file"}
