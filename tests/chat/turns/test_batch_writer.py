"""Waiting writes share a transaction, and a failed one does not affect the others."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import ExitStack

import pytest
from django.db import DatabaseError, IntegrityError, InterfaceError, connection, transaction

from chat.models import Conversation
from chat.turns import batch_writer
from chat.turns.batch_writer import BatchWriter, WriteOutcome
from tests.factories import ConversationFactory
from toolsupport.core.errors import NotFound
from toolsupport.registry import row_cache
from toolsupport.services import database_thread

pytestmark = pytest.mark.django_db(transaction=True)


def renames(conversation: Conversation, title: str) -> Callable[[], str]:
    @transaction.atomic
    def work() -> str:
        Conversation.objects.filter(pk=conversation.pk).update(title=title)
        return title

    return work


def refused() -> None:
    with transaction.atomic():
        Conversation.objects.update(title="refused")
        raise NotFound("This chat does not exist.")


def titles() -> set[str]:
    return set(Conversation.objects.values_list("title", flat=True))


def test_all_is_written_in_one_transaction():
    first, second = ConversationFactory(), ConversationFactory()
    depths = []

    def looks() -> None:
        depths.append((connection.in_atomic_block, len(connection.savepoint_ids)))

    outcomes = batch_writer.together([renames(first, "one"), looks, renames(second, "two")])
    assert outcomes == [WriteOutcome("one"), WriteOutcome(None), WriteOutcome("two")]
    assert depths == [(True, 0)]
    assert titles() == {"one", "two"}


def test_what_is_refused_takes_nothing_with_it():
    first, second = ConversationFactory(), ConversationFactory()
    outcomes = batch_writer.together([renames(first, "one"), refused, renames(second, "two")])
    assert isinstance(outcomes[1].error, NotFound)
    assert titles() == {"one", "two"}


@pytest.mark.parametrize("writes", [1, 3])
def test_commits_of_others_are_counted_before_a_transaction_and_within_it(writes: int):
    counted: list[str] = []

    @transaction.atomic
    def reads() -> None:
        for _ in range(3):
            row_cache.rows("SELECT 1")

    connection.ensure_connection()
    with ExitStack() as stack:
        if connection.vendor == "sqlite":  # other databases keep nothing
            stack.callback(connection.connection.set_trace_callback, None)
            connection.connection.set_trace_callback(counted.append)
        outcomes = batch_writer.together([reads] * writes)
    assert outcomes == [WriteOutcome(None)] * writes
    assert counted.count("PRAGMA data_version") == (2 if connection.vendor == "sqlite" else 0)


def test_where_the_database_fails_each_is_tried_alone():
    first, second = ConversationFactory(), ConversationFactory()
    tried = []

    def clashes() -> None:
        tried.append(connection.in_atomic_block)
        Conversation.objects.create(pk=first.pk, owner=first.owner)

    outcomes = batch_writer.together([renames(first, "one"), clashes, renames(second, "two")])
    assert isinstance(outcomes[1].error, IntegrityError)
    assert (outcomes[0], outcomes[2]) == (WriteOutcome("one"), WriteOutcome("two"))
    assert tried == [True, False]
    assert titles() == {"one", "two"}


def test_a_connection_that_broke_within_it_counts_as_a_failure_of_all():
    first, second = ConversationFactory(), ConversationFactory()
    ends = iter([InterfaceError("the connection is closed")])

    def breaks() -> str:
        for error in ends:
            raise error
        return "again"

    outcomes = batch_writer.together([renames(first, "one"), breaks, renames(second, "two")])
    assert outcomes == [WriteOutcome("one"), WriteOutcome("again"), WriteOutcome("two")]


def test_nothing_is_told_of_a_transaction_that_is_spoiled():
    first, second = ConversationFactory(), ConversationFactory()

    def spoils() -> None:
        transaction.set_rollback(connection.in_atomic_block) if connection.in_atomic_block else None

    outcomes = batch_writer.together([renames(first, "one"), spoils, renames(second, "two")])
    assert [outcome.error for outcome in outcomes] == [None, None, None]
    assert titles() == {"one", "two"}


def write_at_once(works: list[Callable[[], object]]) -> list[object]:
    """All results, or errors, of works that wait while the first one is being done."""

    async def go() -> list[object]:
        tasks: set[asyncio.Task[None]] = set()
        one = BatchWriter(lambda work: tasks.add(asyncio.create_task(work)))
        found = await asyncio.gather(
            *(one.write(str(number), work) for number, work in enumerate(works)), return_exceptions=True
        )
        await asyncio.gather(*tasks)
        return found

    return asyncio.run(go())


def test_each_hears_of_its_own_result_and_error():
    first, second = ConversationFactory(), ConversationFactory()
    found = write_at_once([renames(first, "one"), refused, renames(second, "two")])
    assert (found[0], found[2]) == ("one", "two")
    assert isinstance(found[1], NotFound)


def test_the_database_is_asked_in_its_own_thread_and_no_more_at_once_than_the_limit():
    seen: list[tuple[int, bool]] = []

    def looks() -> None:
        seen.append((threading.get_ident(), connection.in_atomic_block))

    write_at_once([looks] * (batch_writer.MOST + 1))
    assert threading.get_ident() not in {thread for thread, _ in seen}
    # The last one was beyond the limit: alone it needs no transaction around it.
    assert [inside for _, inside in seen] == [True] * batch_writer.MOST + [False]


def test_writes_gather_while_there_is_a_pause():
    first, seen = threading.get_ident(), list[tuple[bool, bool]]()

    def looks() -> None:
        seen.append((threading.get_ident() != first, connection.in_atomic_block))

    async def go() -> None:
        tasks: set[asyncio.Task[None]] = set()
        one = BatchWriter(lambda work: tasks.add(asyncio.create_task(work)), lambda: 0.5)
        early = asyncio.create_task(one.write("1", looks))
        for _ in range(5):  # rounds of the loop, after which it would have begun
            await asyncio.sleep(0)
        await asyncio.gather(early, one.write("2", looks))
        await asyncio.gather(*tasks)

    asyncio.run(go())
    assert seen == [(True, True), (True, True)]


def test_who_does_not_wait_any_more_is_left_out():
    async def go() -> str:
        tasks: set[asyncio.Task[None]] = set()
        one = BatchWriter(lambda work: tasks.add(asyncio.create_task(work)))
        gone = asyncio.create_task(one.write("1", lambda: "for nobody"))
        stays = asyncio.create_task(one.write("2", lambda: "for me"))
        await asyncio.sleep(0)
        gone.cancel()
        return await stays

    assert asyncio.run(go()) == "for me"


def test_where_nothing_can_be_written_everybody_hears_it(monkeypatch: pytest.MonkeyPatch):
    def fails(works: object) -> list[WriteOutcome]:
        raise DatabaseError("no connection")

    monkeypatch.setattr(batch_writer, "together", fails)
    assert [str(error) for error in write_at_once([str, str])] == ["no connection"] * 2


def test_nobody_waits_for_a_writer_that_was_stopped(monkeypatch: pytest.MonkeyPatch):
    async def go() -> list[object]:
        begun, tasks = asyncio.Event(), list[asyncio.Task[None]]()

        async def never(_: object) -> None:
            begun.set()
            await asyncio.Event().wait()

        monkeypatch.setattr(database_thread, "run", never)
        one = BatchWriter(lambda work: tasks.append(asyncio.create_task(work)))
        waiting = [asyncio.create_task(one.write(name, str)) for name in ("1", "2")]
        await begun.wait()
        tasks[0].cancel()
        async with asyncio.timeout(10):
            return await asyncio.gather(*waiting, *tasks, return_exceptions=True)

    assert [type(error) for error in asyncio.run(go())] == [asyncio.CancelledError] * 3
