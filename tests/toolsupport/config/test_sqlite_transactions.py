"""Transactions of SQLite begin and end without Django's cursors, and raise Django's errors."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.utils import ConnectionHandler

pytestmark = pytest.mark.django_db


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "rows.sqlite3"
    with closing(sqlite3.connect(path, isolation_level=None)) as made:
        made.execute("CREATE TABLE thing (name)")
    return path


@pytest.fixture
def here(rows: Path) -> Iterator[BaseDatabaseWrapper]:
    options = {"transaction_mode": "IMMEDIATE", "timeout": 0}
    made: Any = ConnectionHandler(
        {"default": {"ENGINE": "toolsupport.config.sqlite", "NAME": str(rows), "OPTIONS": options}}
    )["default"]
    yield made
    made.close()


def names(rows: Path) -> list[str]:
    with closing(sqlite3.connect(rows)) as other:
        return [name for (name,) in other.execute("SELECT name FROM thing")]


def begin(here: BaseDatabaseWrapper) -> None:
    here.set_autocommit(False, force_begin_transaction_with_broken_autocommit=True)


def test_it_is_stored_by_its_commit(here: BaseDatabaseWrapper, rows: Path) -> None:
    begin(here)
    with here.cursor() as cursor:
        cursor.execute("INSERT INTO thing VALUES ('new')")
    assert names(rows) == []
    here.commit()
    assert names(rows) == ["new"]


def test_it_locks_out_other_writers_from_its_beginning(here: BaseDatabaseWrapper, rows: Path) -> None:
    begin(here)
    with (
        closing(sqlite3.connect(rows, timeout=0)) as other,
        pytest.raises(sqlite3.OperationalError, match="locked"),
    ):
        other.execute("BEGIN IMMEDIATE")


def test_a_lock_of_another_writer_is_an_error_of_django(here: BaseDatabaseWrapper, rows: Path) -> None:
    with closing(sqlite3.connect(rows, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(OperationalError, match="locked"):
            begin(here)
