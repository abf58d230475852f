"""Fresh databases of either kind, archives loaded into them, their rows and their schema."""

from __future__ import annotations

import gzip
import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests import databases
from tests.serving import Site
from tests.upgrades.make_archive import SECRET_KEY

HERE = Path(__file__).parent
Row = dict[str, Any]


@contextmanager
def empty_site(directory: Path, engine: str) -> Iterator[Site]:
    """A site without tables. On PostgreSQL where the tests were given a server, or where none may be left out."""
    environment, forked = {"TOOLSUPPORT_SECRET_KEY": SECRET_KEY}, sys.platform == "linux"
    if engine == "sqlite":
        address = f"sqlite:///{directory / 'toolsupport.sqlite3'}"
        yield Site(directory, environment | {"DATABASE_URL": address}, forked=forked)
        return
    if not databases.POSTGRESQL:
        # .ci/run runs this folder a second time with a server.
        pytest.skip("TOOLSUPPORT_TEST_DATABASE_URL names no server")
    with databases.database() as url:
        yield Site(directory, environment | {"DATABASE_URL": url}, forked=forked)


def file_of(site: Site) -> str:
    """The path of a SQLite database, "" for PostgreSQL."""
    kind, _, path = site.environment["DATABASE_URL"].partition(":///")
    return path if kind == "sqlite" else ""


def load(site: Site, archive: Path) -> None:
    """Run the statements of an archive."""
    statements = gzip.decompress(archive.read_bytes()).decode()
    if file := file_of(site):
        with closing(sqlite3.connect(file)) as database:
            database.executescript(statements)
        return
    with psycopg.connect(site.environment["DATABASE_URL"], autocommit=True) as server:
        server.execute(statements.encode())


def migrate_by_old_files(site: Site, *targets: str) -> None:
    command = [sys.executable, "-m", "tests.upgrades.old_files", *targets]
    subprocess.run(command, cwd=databases.ROOT, env=site.environ(), check=True)


def tables(site: Site) -> list[str]:
    if file_of(site):
        listed = site.rows("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    else:
        listed = site.rows("SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'")
    return sorted(name for (name,) in listed)


def columns(site: Site, table: str) -> list[tuple[Any, ...]]:
    """Name, type, default and whether it may be null, in order."""
    if file_of(site):
        return site.rows(f"SELECT name, type, dflt_value, \"notnull\", pk FROM pragma_table_info('{table}')")
    return site.rows(
        "SELECT column_name, udt_name, column_default, is_nullable, character_maximum_length, is_identity"
        " FROM information_schema.columns WHERE table_schema = 'public' AND table_name = ? ORDER BY ordinal_position",
        table,
    )


def rules(site: Site, table: str) -> list[Any]:
    """Constraints, indexes and triggers of a table, with their names."""
    if file_of(site):
        written = site.rows("SELECT type, name, sql FROM sqlite_master WHERE tbl_name = ?", table)
        return sorted((kind, name, parts(sql or "")) for kind, name, sql in written)
    return sorted(
        site.rows("SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = ?::regclass", table)
        + site.rows("SELECT indexname, indexdef FROM pg_indexes WHERE tablename = ?", table)
        + site.rows(
            "SELECT tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE tgrelid = ?::regclass AND NOT tgisinternal",
            table,
        )
    )


def parts(statement: str) -> list[str]:
    """The parts of a definition, sorted: a table that was made again lists its columns in another order."""
    head, _, rest = statement.partition("(")
    body, _, tail = rest.rpartition(")")
    return [head, *sorted(part.strip() for part in re.split(r",\s*(?![^()]*\))", body)), tail]


def schema(site: Site) -> dict[str, Any]:
    """What each table is. The order of columns does not count: SQLite adds a reference to its own table last."""
    with databases.connected(site.environment["DATABASE_URL"]):
        return {table: (sorted(columns(site, table), key=str), rules(site, table)) for table in tables(site)}


def contents(site: Site) -> dict[str, list[Row]]:
    """Every row of every table, by the names of its columns."""
    with databases.connected(site.environment["DATABASE_URL"]):
        named = {table: [column[0] for column in columns(site, table)] for table in tables(site)}
        return {
            table: [dict(zip(names, row, strict=True)) for row in site.rows(selected(table, names))]
            for table, names in named.items()
        }


def selected(table: str, names: list[str]) -> str:
    listed = ", ".join(f'"{name}"' for name in names)
    return f'SELECT {listed} FROM "{table}" ORDER BY 1'
