"""A database that a query of a chat cannot read is shown with the reason, in the same words as after a check."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from chat.turns.databases import PersonDatabases
from tests.factories import UserFactory
from toolsupport.core.errors import ToolError
from toolsupport.registry.databases import sql_sources
from toolsupport.services import database_schema_refresh

pytestmark = pytest.mark.django_db(transaction=True)
Meanwhile = Callable[[Path], AbstractContextManager[None]]
ROWS = [("x" * 500,) for _ in range(2000)]


def make_database(path: Path) -> Path:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE t (a)")
        connection.executemany("INSERT INTO t VALUES (?)", ROWS)
    return path


@contextmanager
def as_it_is(_: Path) -> Iterator[None]:
    yield


@contextmanager
def locked(path: Path) -> Iterator[None]:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        yield


def no_database(path: Path) -> None:
    path.write_text("This is no database, and longer than its header: " + "-" * 100)


def damaged(path: Path) -> None:
    with make_database(path).open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * 4096 * 20)


def unfinished(path: Path) -> None:
    """A copy of a database in the middle of a change, with its journal."""
    first = make_database(path.with_name("first.db"))
    with closing(sqlite3.connect(first, isolation_level=None)) as connection:
        connection.execute("PRAGMA cache_size = 1")
        connection.execute("BEGIN")
        connection.execute("UPDATE t SET a = 'y' || a")
        shutil.copy(first, path)
        shutil.copy(f"{first}-journal", f"{path}-journal")
        connection.execute("ROLLBACK")


def directory_of_no_tables(path: Path) -> None:
    path.mkdir()
    (path / "t.parquet").write_text("no table")


def nothing(_: Path) -> None:
    """Leave the place empty."""


CASES = [
    ("sqlite", nothing, as_it_is, "There is no such file on the server."),
    ("sqlite", Path.mkdir, as_it_is, "This is a directory. Enter the path of a file."),
    ("sqlite", no_database, as_it_is, "This file is not an SQLite database, or it is encrypted."),
    ("sqlite", damaged, as_it_is, "This file is damaged."),
    ("sqlite", make_database, locked, "Another program has locked this database."),
    ("sqlite", unfinished, as_it_is, "A program did not finish a change of this file. Open it once with that program."),
    ("files", nothing, as_it_is, "There is no such directory on the server."),
    ("files", no_database, as_it_is, "This is a file. Enter the path of a directory."),
    ("files", directory_of_no_tables, as_it_is, "A file in this directory cannot be read: “"),
]


@pytest.mark.parametrize(("kind", "make", "meanwhile", "words"), CASES)
def test_a_query_shows_why_a_database_cannot_be_read(
    kind: str, make: Callable[[Path], object], meanwhile: Meanwhile, words: str, tmp_path: Path, client: Client
) -> None:
    place, person = tmp_path / "place", UserFactory(role="admin")
    make(place)
    source = sql_sources.add(sql_sources.NewSource("shop", kind, str(place), ["admin"]))
    with meanwhile(place), pytest.raises(ToolError) as refused:
        asyncio.run(PersonDatabases(person.pk).ask("shop", "SELECT COUNT(*), MAX(a) FROM t"))
    (shown,) = sql_sources.listed()
    assert str(refused.value) == shown.why and str(shown.why).startswith(words) and shown.looked_at is not None
    assert str(tmp_path) not in shown.why
    client.force_login(person)
    page = client.get(reverse("sources")).content.decode()
    assert "Cannot be read" in page and words in page and "Not checked yet" not in page
    with meanwhile(place):
        assert asyncio.run(database_schema_refresh.refresh_schema(source)) == shown.why or make is damaged


def test_an_answer_takes_the_reason_away(tmp_path: Path) -> None:
    place, person = make_database(tmp_path / "place"), UserFactory(role="admin")
    sql_sources.add(sql_sources.NewSource("shop", "sqlite", str(place), ["admin"]))
    with locked(place), pytest.raises(ToolError):
        asyncio.run(PersonDatabases(person.pk).ask("shop", "SELECT 1 FROM t"))
    assert sql_sources.listed()[0].why
    asyncio.run(PersonDatabases(person.pk).ask("shop", "SELECT 1 FROM t"))
    assert not sql_sources.listed()[0].why
