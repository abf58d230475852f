"""Kept rows are equal to the result of a query at that moment."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import ExitStack

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.models import F
from django.test.utils import CaptureQueriesContext

from chat.models import Conversation, Message, Turn
from chat.statuses import TurnStatus
from chat.transcript.turns import leases
from tests.factories import ConversationFactory, ModelProfileFactory, UserFactory
from toolsupport.core.types import Role
from toolsupport.models import ApiKey, Setting
from toolsupport.registry import raw_sql, row_cache
from toolsupport.registry.people import api_keys

SQLITE = connection.vendor == "sqlite"
VALUES = "SELECT value FROM toolsupport_setting WHERE key = %s"
pytestmark = pytest.mark.django_db(transaction=True)


def kept() -> list[object]:
    return [row[0] for row in row_cache.rows(VALUES, "kept")]


def in_another_connection(work: Callable[[], object]) -> None:
    def run() -> None:
        work()
        connection.close()

    one = threading.Thread(target=run)
    one.start()
    one.join()


def put(value: str) -> None:
    Setting.objects.update_or_create(key="kept", defaults={"value": value})


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The statements that were really run."""
    found: list[str] = []
    run = raw_sql._run

    def noted(statement, values, take):
        found.append(statement)
        return run(statement, values, take)

    monkeypatch.setattr(raw_sql, "_run", noted)
    return found


def test_the_same_rows_are_read_once(asked: list[str]) -> None:
    put("a")
    assert kept() == kept() == ['"a"']
    assert asked.count(VALUES) == (1 if SQLITE else 2)


def test_only_the_newest_of_values_that_differ_often_is_kept() -> None:
    read: list[int] = []

    def square(number: int) -> int:
        read.append(number)
        return number * number

    put("a")
    assert [row_cache.read_newest(square, number) for number in (2, 2, 3, 3, 2)] == [4, 4, 9, 9, 4]
    assert read == ([2, 3, 2] if SQLITE else [2, 2, 3, 3, 2])
    put("b")
    assert row_cache.read_newest(square, 2) == 4
    assert read[-1] == 2 and len(read) == (4 if SQLITE else 6)


def test_counted_queries_are_those_of_a_running_site() -> None:
    put("a")
    with CaptureQueriesContext(connection) as captured:
        assert kept() == kept() == ['"a"']
        put("b")
        assert kept() == ['"b"']
    # The second one is what the change made necessary.
    asked = [query for query in captured if query["sql"].startswith("SELECT value")]
    assert len(asked) == (2 if SQLITE else 3)


def test_statements_of_answers_leave_what_is_kept(asked: list[str]) -> None:
    put("a")
    conversation = ConversationFactory()
    kept()
    with transaction.atomic():
        raw_sql.insert(Message(conversation=conversation, role=Role.USER, content="Hello"))
        raw_sql.change("UPDATE chat_conversation SET tail = tail + 1 WHERE id = %s", conversation.pk)
        kept()
    kept()
    assert asked.count(VALUES) == (1 if SQLITE else 3)
    assert Conversation.objects.get(pk=conversation.pk).tail == conversation.tail + 1


def renewed(turn: Turn) -> None:
    alive = leases.keep_alive(turn.owner, [turn.pk], [(turn.messages.get().pk, "grown", "")])
    assert not alive.lost and turn.messages.get().content == "grown"


@pytest.mark.parametrize(
    "change",
    [
        renewed,
        lambda turn: Turn.objects.filter(pk=turn.pk).update(reason="x"),
        lambda turn: Turn.objects.bulk_update([turn], ["reason"]),
        lambda turn: turn.messages.get().delete(),
        lambda turn: Conversation.objects.filter(pk=turn.conversation_id).update(tail=F("tail") + 1),
        lambda turn: Message.objects.create(conversation=turn.conversation, role=Role.USER),
    ],
)
def test_changes_of_answers_by_models_leave_what_is_kept(change: Callable[[Turn], object], asked: list[str]) -> None:
    put("a")
    conversation, profile = ConversationFactory(), ModelProfileFactory()
    turn = Turn.objects.create(conversation=conversation, profile=profile, owner="me", status=TurnStatus.RUNNING)
    Message.objects.create(conversation=conversation, turn=turn, role=Role.ASSISTANT, finished=False)
    kept()
    change(turn)
    assert kept() == ['"a"']
    assert asked.count(VALUES) == (1 if SQLITE else 2)
    put("b")
    assert kept() == ['"b"']


def test_the_first_use_of_a_key_leaves_what_is_kept(asked: list[str]) -> None:
    key = api_keys.create(UserFactory().pk, "laptop")
    put("a")
    kept()
    assert api_keys.holder(key) is not None and ApiKey.objects.get().used_at is not None
    kept()
    assert asked.count(VALUES) == (1 if SQLITE else 2)


def test_changes_of_this_and_of_other_connections_are_seen() -> None:
    put("a")
    assert kept() == ['"a"']
    put("b")
    assert kept() == ['"b"']
    in_another_connection(lambda: put("c"))
    assert kept() == ['"c"']
    raw_sql.change("UPDATE toolsupport_setting SET value = %s WHERE key = %s", '"d"', "kept")
    assert kept() == ['"d"']
    Setting.objects.filter(key="kept").delete()
    assert kept() == []


def test_a_change_that_is_undone_was_never_there() -> None:
    put("a")
    kept()
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        put("b")
        assert kept() == ['"b"']
        raise ZeroDivisionError
    assert kept() == ['"a"']
    with transaction.atomic():
        row_cache.settle()
        with pytest.raises(IntegrityError), transaction.atomic():
            put("c")
            assert kept() == ['"c"']
            Setting.objects.create(key="kept", value="twice")
        assert kept() == ['"a"']
        put("d")
        assert kept() == ['"d"']
    assert kept() == ['"d"']


def test_a_transaction_reads_what_another_committed_before_it_began() -> None:
    put("a")
    row_cache.settle()
    kept()
    in_another_connection(lambda: put("b"))
    with transaction.atomic():
        assert kept() == ['"b"']


def test_a_new_connection_keeps_nothing_of_the_last_one() -> None:
    put("a")
    assert kept() == ['"a"']
    connection.close()
    in_another_connection(lambda: put("b"))
    assert kept() == ['"b"']


def test_each_thread_has_its_own(asked: list[str]) -> None:
    put("a")
    kept()
    in_another_connection(kept)
    assert asked.count(VALUES) == 2


def test_errors_and_spoiled_transactions_are_those_of_django() -> None:
    with pytest.raises(IntegrityError):
        raw_sql.change("INSERT INTO chat_grant (tool) VALUES (%s)", None)
    with pytest.raises(transaction.TransactionManagementError), transaction.atomic():
        transaction.set_rollback(True)
        raw_sql.rows("SELECT 1")
    assert raw_sql.rows("SELECT '%%', %s", "%s") == [("%", "%s")]


def test_within_a_held_transaction_other_commits_are_counted_once_and_seen_afterwards() -> None:
    put("a")
    row_cache.settle()
    counted: list[str] = []
    with ExitStack() as stack:
        if SQLITE:  # other databases keep nothing
            stack.callback(connection.connection.set_trace_callback, None)
            connection.connection.set_trace_callback(counted.append)
        with transaction.atomic(), row_cache.held():
            assert kept() == kept() == ['"a"']
    assert counted.count("PRAGMA data_version") == SQLITE
    in_another_connection(lambda: put("b"))
    assert kept() == ['"b"']
    with transaction.atomic(), row_cache.held():
        put("c")
        assert kept() == ['"c"']
    assert kept() == ['"c"']


def test_a_held_transaction_that_waited_for_another_writer_reads_what_that_one_committed() -> None:
    put("a")
    with row_cache.held():
        assert kept() == ['"a"']
        in_another_connection(lambda: put("b"))
        with transaction.atomic():
            assert kept() == ['"b"']
