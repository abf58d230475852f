"""A storage that fails for some time: its reason in words, its state, and what it means for the leases of others."""

from __future__ import annotations

import asyncio
import errno
import sqlite3
from functools import partial
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest
from django.db import IntegrityError, InterfaceError, OperationalError

from chat.turns import heartbeat, lasting_writes
from toolsupport.models import Lease
from toolsupport.registry import storage


def caused(cause: BaseException) -> OperationalError:
    error = OperationalError(str(cause))
    error.__cause__ = cause
    return error


def of_sqlite(code: int) -> OperationalError:
    cause = sqlite3.OperationalError("x")
    cause.sqlite_errorcode = code
    return caused(cause)


REASONS = (
    (of_sqlite(sqlite3.SQLITE_FULL), storage.FULL),
    (of_sqlite(sqlite3.SQLITE_IOERR_WRITE), storage.BROKEN),
    (of_sqlite(sqlite3.SQLITE_READONLY), storage.READ_ONLY),
    (of_sqlite(sqlite3.SQLITE_BUSY_SNAPSHOT), storage.LOCKED),
    (of_sqlite(sqlite3.SQLITE_ERROR), ""),
    (caused(psycopg.errors.DiskFull()), storage.FULL),
    (caused(psycopg.errors.ReadOnlySqlTransaction()), storage.READ_ONLY),
    (caused(psycopg.errors.AdminShutdown()), storage.AWAY),
    (OSError(errno.ENOSPC, "x"), storage.FULL),
    (OSError(errno.ENOENT, "x"), ""),
    (IntegrityError("x"), ""),
    (ValueError("x"), ""),
    (None, ""),
)


def test_reasons_in_words() -> None:
    assert [storage.fault(error) for error, _ in REASONS] == [reason for _, reason in REASONS]


def test_a_server_that_is_away_raises_errors_without_a_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage, "connection", SimpleNamespace(vendor="postgresql"))
    assert storage.fault(caused(psycopg.OperationalError("connection refused"))) == storage.AWAY
    assert storage.fault(InterfaceError("connection already closed")) == storage.AWAY


@pytest.fixture
def state(monkeypatch: pytest.MonkeyPatch) -> storage.StorageState:
    fresh = storage.StorageState()
    monkeypatch.setattr(storage, "state", fresh)
    return fresh


# S6
@pytest.mark.django_db
def test_a_try_leaves_no_row_and_ends_a_failure(state: storage.StorageState, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage, "QUIET", 0.0)
    assert state.failed(of_sqlite(sqlite3.SQLITE_FULL)) and state.reason == storage.FULL
    assert state.check() == "" and not Lease.objects.exists()
    assert not state.failed(IntegrityError("x"))


@pytest.mark.django_db
def test_a_try_that_fails_gives_the_reason(state: storage.StorageState, monkeypatch: pytest.MonkeyPatch) -> None:
    def full() -> None:
        raise of_sqlite(sqlite3.SQLITE_FULL)

    monkeypatch.setattr(storage, "try_to_write", full)
    assert state.check() == state.reason == storage.FULL


# S6
@pytest.mark.asyncio
async def test_a_write_of_a_turn_is_tried_again_until_the_storage_takes_it(
    state: storage.StorageState, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lasting_writes, "RETRY", 0.0)
    monkeypatch.setattr(lasting_writes, "database_sync_to_async", lambda work: partial(asyncio.to_thread, work))
    errors: list[Exception] = [of_sqlite(sqlite3.SQLITE_FULL), of_sqlite(sqlite3.SQLITE_BUSY)]

    def work(result: str) -> str:
        if errors:
            raise errors.pop()
        return result

    assert await lasting_writes.in_database(work)("kept") == "kept"
    errors.append(of_sqlite(sqlite3.SQLITE_ERROR))
    with pytest.raises(OperationalError):
        await lasting_writes.in_database(work)("kept")


# S6
@pytest.mark.asyncio
async def test_the_longest_answer_is_stopped_when_too_much_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(length: int) -> Any:
        live = SimpleNamespace(length=length, written=10)
        return SimpleNamespace(reply=SimpleNamespace(text=live, thinking=SimpleNamespace(length=0, written=0)))

    stopped: list[tuple[int, str]] = []
    runner: Any = SimpleNamespace(runs={1: run(30), 2: run(90)}, cancel=lambda *what: stopped.append(what))
    beat = heartbeat.TurnHeartbeat(runner)
    monkeypatch.setattr(heartbeat, "UNSAVED", 100)
    beat._limit_unsaved()
    assert stopped == []
    runner.runs[3] = run(50)
    beat._limit_unsaved()
    assert stopped == [(2, "unsaved")]


def test_a_read_only_database_is_one(tmp_path: Any) -> None:
    file = sqlite3.connect(tmp_path / "a.sqlite3")
    file.execute("PRAGMA query_only = ON")
    with pytest.raises(sqlite3.OperationalError) as caught:
        file.execute("CREATE TABLE a (b)")
    file.close()
    assert storage.fault(caused(caught.value)) == storage.READ_ONLY
