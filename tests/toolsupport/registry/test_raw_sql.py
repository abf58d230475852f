"""Written statements mean the same on both databases."""

from __future__ import annotations

import uuid
from datetime import timedelta
from unittest.mock import MagicMock, call

import pytest
from django.contrib.auth.models import User
from django.db import DatabaseError, connection, transaction
from django.db.models import Case, DateTimeField, ExpressionWrapper, Q, When
from django.db.models.functions import Now
from django.utils import timezone

from chat.models import Conversation, Turn
from tests.factories import ConversationFactory, ModelProfileFactory, UserFactory
from toolsupport.core.shared_json import SharedJson
from toolsupport.registry import raw_sql, sqlite_values
from toolsupport.registry.leases import TURN, in_future

LOCKED = "SELECT id FROM chat_conversation {lock}"


@pytest.mark.parametrize(("vendor", "end"), [("sqlite", "chat_conversation "), ("postgresql", "FOR NO KEY UPDATE")])
def test_a_lock_is_taken_only_where_others_could_write(vendor: str, end: str):
    assert raw_sql.for_vendor(vendor, LOCKED).endswith(end)


@pytest.mark.django_db
def test_values_arrive_as_the_models_would_write_them():
    conversation, now = ConversationFactory(), timezone.now()
    statement = "UPDATE chat_conversation SET settings = %s, archived = %s, updated_at = %s WHERE id = %s"
    assert raw_sql.change(statement, {"system": "é"}, True, now, conversation.pk) == 1
    conversation.refresh_from_db()
    assert (conversation.settings, conversation.archived, conversation.updated_at) == ({"system": "é"}, True, now)


@pytest.mark.django_db
def test_rows_can_be_asked_for_as_models():
    conversation = ConversationFactory()
    (found,) = raw_sql.made(Conversation, "SELECT * FROM chat_conversation WHERE id = %s", conversation.pk)
    assert (found, found.settings, found.created_at) == (conversation, {}, conversation.created_at)


@pytest.mark.django_db
def test_a_row_that_is_not_there_is_none():
    assert raw_sql.row("SELECT id FROM chat_conversation WHERE id = %s", uuid.uuid4()) is None


@pytest.mark.django_db
def test_to_hold_rows_costs_nothing_where_a_transaction_is_alone(django_assert_num_queries):
    expected = 1 if connection.features.has_select_for_update else 0
    with transaction.atomic(), django_assert_num_queries(expected):
        raw_sql.hold(LOCKED)


@pytest.mark.django_db
def test_a_row_is_stored_as_its_model_would_store_it():
    """With an id by the database, times of now, JSON, and a time by the database's clock."""
    conversation, profile = ConversationFactory(), ModelProfileFactory()

    def turn(client_id: str) -> Turn:
        lease = in_future(TURN)
        return Turn(conversation=conversation, client_id=client_id, profile=profile, lease_until=lease, usage={"a": 1})

    saved, inserted = turn("saved"), turn("inserted")
    saved.status = inserted.status = "done"
    saved.save(force_insert=True)
    raw_sql.insert(inserted)
    assert (inserted._state.adding, inserted._state.db, inserted.pk) == (False, saved._state.db, saved.pk + 1)
    one, other = (Turn.objects.get(client_id=client_id) for client_id in ("saved", "inserted"))
    names = [field.attname for field in Turn._meta.concrete_fields]
    differing = {name for name in names if getattr(one, name) != getattr(other, name)}
    assert differing <= {"id", "client_id", "created_at", "lease_until"}
    for name in ("created_at", "lease_until"):
        assert abs(getattr(one, name) - getattr(other, name)).total_seconds() < 60


@pytest.mark.django_db
@pytest.mark.parametrize("seconds", [-90, -0.25, 5, 3600])
def test_a_time_from_now_is_that_of_the_database(seconds: float) -> None:
    """As Django's own sum is, and in the same order as other times of the database."""
    later, own = in_future(timedelta(seconds=seconds)), Now() + timedelta(seconds=seconds)
    UserFactory()
    found = User.objects.annotate(
        later=later,
        own=ExpressionWrapper(own, output_field=DateTimeField()),
        expired=Case(When(Q(date_joined__lt=later), then=True), default=False),
    ).latest("pk")
    assert abs((found.later - found.own).total_seconds()) < 1
    assert found.expired is (seconds > 0)


@pytest.mark.django_db
def test_json_of_many_rows_is_encoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    shared, conversation = SharedJson({"tools": {"value": None, "reason": "é"}}), ConversationFactory()
    encode = MagicMock(wraps=sqlite_values._as_json)
    monkeypatch.setattr(sqlite_values, "_as_json", encode)
    for number in range(3):
        turn = Turn(conversation=conversation, client_id=str(number), profile=ModelProfileFactory(), status="done")
        turn.capabilities = shared
        raw_sql.insert(turn)
    assert [turn.capabilities for turn in Turn.objects.all()] == [shared] * 3
    assert encode.mock_calls.count(call(shared)) == (1 if connection.vendor == "sqlite" else 0)


# PostgreSQL has no such texts.
STRANGE: list[object] = [{"s": "\x00"}, {"s": "\ud800"}] if connection.vendor == "sqlite" else []


@pytest.mark.django_db
@pytest.mark.parametrize(
    "value", [{}, {"a": [1, 2.5, None, True, "é"]}, {"n": 10**30}, {1: 2}, [], [{"deep": [[]]}], *STRANGE]
)
def test_json_is_stored_as_its_model_would_store_it(value: object):
    conversation, profile = ConversationFactory(), ModelProfileFactory()
    saved, inserted = (Turn(conversation=conversation, client_id=id_, profile=profile) for id_ in ("a", "b"))
    saved.status, inserted.status = "done", "failed"
    saved.usage = inserted.usage = value
    saved.save(force_insert=True)
    raw_sql.insert(inserted)
    one, other = Turn.objects.order_by("pk").values_list("usage", flat=True)
    assert one == other and repr(one) == repr(other)


@pytest.mark.django_db
def test_what_json_cannot_hold_is_refused_by_the_field():
    turn = Turn(conversation=ConversationFactory(), client_id="a", profile=ModelProfileFactory())
    turn.usage = {"at": timezone.now()}
    with pytest.raises(TypeError, match="not JSON serializable"):
        raw_sql.insert(turn)


@pytest.mark.django_db
@pytest.mark.parametrize("number", [float("nan"), float("inf")])
@pytest.mark.parametrize("way", ["saved", "inserted", "changed"])
def test_numbers_that_json_has_not_are_refused_by_both_databases(way: str, number: float):
    """SQLite took null for them in two of the three ways, and PostgreSQL in one."""
    turn = Turn(conversation=ConversationFactory(), client_id="a", profile=ModelProfileFactory(), status="done")
    turn.usage = {"none": None, "list": [1, number]}
    statement = "UPDATE chat_turn SET usage = %s"
    ways = {"saved": turn.save, "inserted": lambda: raw_sql.insert(turn)}
    with pytest.raises((ValueError, DatabaseError)), transaction.atomic():
        ways.get(way, lambda: raw_sql.change(statement, turn.usage))()


@pytest.mark.django_db
def test_a_row_with_an_id_of_its_own_keeps_it():
    conversation = Conversation(id=uuid.uuid4(), owner=UserFactory(), title="é")
    raw_sql.insert(conversation)
    assert Conversation.objects.get(pk=conversation.pk).title == "é"
