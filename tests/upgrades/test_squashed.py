"""Squashed migrations give the tables that the replaced ones gave, from every state that a database may have."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from tests import databases
from tests.databases import ENGINES
from tests.serving import Site
from tests.upgrades import archives
from tests.upgrades.archives import empty_site

LAST = ("toolsupport=0017_reasoning_starts", "chat=0010_served_otherwise")
SQUASHED = [("0001_squashed_0010_served_otherwise",), ("0001_squashed_0017_reasoning_starts",)]
# How far a site may have come.
STATES = {
    "both on the way": ("toolsupport=0011_sql_sources", "chat=0009_result_tables"),
}
BY_NIGHT = {
    "one at its end": ("toolsupport=0017_reasoning_starts", "chat=0004_share"),
    "first": ("toolsupport=0002_roles", "chat=0001_initial"),
    "both at their end": LAST,
}
CHOSEN = [*STATES, *(pytest.param(state, marks=pytest.mark.nightly) for state in BY_NIGHT)]


@cache
def fresh(engine: str) -> dict[str, Any]:
    """The schema of a new site of today: that of the database that all tests have a copy of."""
    with TemporaryDirectory() as directory, migrated_site(Path(directory), engine) as site:
        applied = {name for (name,) in site.rows("SELECT name FROM django_migrations")}
        assert {name for (name,) in SQUASHED} <= applied
        assert site.rows("SELECT count(*) FROM auth_group") == [(4,)]
        return ours(archives.schema(site))


@contextmanager
def migrated_site(directory: Path, engine: str) -> Iterator[Site]:
    """A new site of today, with the squashed migrations alone."""
    if engine == "postgresql":
        with databases.database(databases.migrated()) as url:
            yield Site(directory, {"DATABASE_URL": url})
        return
    file = directory / "toolsupport.sqlite3"
    file.write_bytes(databases.migrated_file())
    yield Site(directory, {"DATABASE_URL": f"sqlite:///{file}"})


def ours(schema: dict[str, Any]) -> dict[str, Any]:
    return {table: found for table, found in schema.items() if table.startswith(("toolsupport_", "chat_"))}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("state", CHOSEN)
def test_a_database_goes_on_from_its_state(tmp_path: Path, engine: str, state: str) -> None:
    """The replaced files make the same schema as the squashed ones, names included."""
    with empty_site(tmp_path, engine) as site:
        archives.migrate_by_old_files(site, *{**STATES, **BY_NIGHT}[state])
        before = ours(archives.schema(site))
        site.manage("migrate", "--verbosity", "0")
        # From here on the replaced files could go.
        assert site.rows("SELECT name FROM django_migrations WHERE name LIKE ? ORDER BY 1", "%squashed%") == SQUASHED
        old, new = ours(archives.schema(site)), fresh(engine)
    assert len(old) >= 30 and old.keys() == new.keys()
    assert [table for table, found in old.items() if found != new[table]] == []
    # The comparison can fail: columns, indexes and constraints that the state lacked are seen.
    lacking = before.get("toolsupport_historyentry", ((), ()))
    assert all(part != now for part, now in zip(lacking, new["toolsupport_historyentry"], strict=True))
