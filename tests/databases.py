"""PostgreSQL and Redis for tests that need them: taken from the environment, left out with a reason where absent."""

from __future__ import annotations

import fcntl
import hashlib
import os
import sqlite3
import subprocess
import sys
import uuid
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, nullcontext
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

import django
import psycopg
import pytest

POSTGRESQL = os.environ.get("TOOLSUPPORT_TEST_DATABASE_URL", "")
# What a test of both kinds runs on. Where nothing may be left out, `.ci/run` runs these tests again with PostgreSQL.
ENGINES = ("sqlite",) if os.environ.get("CI") == "true" and not POSTGRESQL else ("sqlite", "postgresql")
REDIS = os.environ.get("TOOLSUPPORT_TEST_REDIS_URL", "")
ROOT = Path(__file__).resolve().parent.parent
# Where what is made once is kept between runs; `make clean` takes it away. (Playwright empties test-results.)
MADE = ROOT / ".pytest_cache" / "made" / "migrated"


def needed(name: str, value: str) -> str:
    """The address, or the test is left out."""
    return value or pytest.skip(f"{name} names no server")


@contextmanager
def database(like: str = "template1") -> Iterator[str]:
    """The address of a new database of that server, empty or like another one; it is gone afterwards."""
    url = urlsplit(needed("TOOLSUPPORT_TEST_DATABASE_URL", POSTGRESQL))
    name = f"toolsupport_{uuid.uuid4().hex}"
    with psycopg.connect(url._replace(path="/postgres").geturl(), autocommit=True) as server:
        server.execute(f'CREATE DATABASE "{name}" TEMPLATE "{like}"')
        try:
            yield url._replace(path=f"/{name}").geturl()
        finally:
            server.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


def key() -> str:
    """Names what a migrated database is made from: another migration, another key."""
    made = hashlib.sha256(django.__version__.encode())
    for path in sorted(ROOT.glob("*/migrations/*.py")):
        made.update(path.name.encode() + path.read_bytes())
    return made.hexdigest()[:20]


def migrate(url: str) -> None:
    """Run every migration on an empty database."""
    with TemporaryDirectory(prefix="toolsupport-migrated-") as directory:
        environment = {**os.environ, "DATABASE_URL": url, "TOOLSUPPORT_DATA_DIR": directory}
        command = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
        subprocess.run(command, cwd=ROOT, env=environment, check=True)


@cache
def migrated_file(folder: Path = MADE) -> bytes:
    """An SQLite file with every migration and nothing else: made once, then kept for later runs as well."""
    folder.mkdir(parents=True, exist_ok=True)
    file, making = folder / f"{key()}.sqlite3", folder / "making"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # the processes of a run all want it at once
        if not file.exists():
            for outdated in (*folder.glob("making*"), *folder.glob("*.sqlite3")):
                outdated.unlink(missing_ok=True)
            migrate(f"sqlite:///{making}")
            making.rename(file)
        return file.read_bytes()


@cache
def migrated() -> str:
    """The name of a PostgreSQL database with every migration and nothing else; it stays on the server."""
    url, name = urlsplit(needed("TOOLSUPPORT_TEST_DATABASE_URL", POSTGRESQL)), f"toolsupport_migrated_{key()}"
    with psycopg.connect(url._replace(path="/postgres").geturl(), autocommit=True) as server:
        server.execute("SELECT pg_advisory_lock(hashtext(%s))", (name,))
        if not server.execute("SELECT FROM pg_database WHERE datname = %s", (name,)).fetchall():
            # Renamed when it is complete: a run that was ended meanwhile leaves nothing that looks complete.
            server.execute(f'DROP DATABASE IF EXISTS "{name}_making"')
            server.execute(f'CREATE DATABASE "{name}_making"')
            migrate(url._replace(path=f"/{name}_making").geturl())
            server.execute(f'ALTER DATABASE "{name}_making" RENAME TO "{name}"')
    return name


def copy(name: str) -> None:
    """Give the PostgreSQL database of this process's tests its tables; one that an ended run left behind goes."""
    with psycopg.connect(urlsplit(POSTGRESQL)._replace(path="/postgres").geturl(), autocommit=True) as server:
        server.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
        server.execute(f'CREATE DATABASE "{name}" TEMPLATE "{migrated()}"')


# What migrations write; no test changes these rows, but for the people in a group.
MIGRATED = ("auth_group", "auth_group_permissions", "auth_permission", "django_content_type", "django_migrations")


def empty(server: psycopg.Connection) -> None:
    """Delete the rows that tests wrote. Without triggers, as the order of foreign keys does not matter for all rows."""
    listed = "SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND NOT tablename = ANY(%s)"
    tables = [f'"{name}"' for (name,) in server.execute(listed, (list(MIGRATED),)).fetchall()]
    filled = " UNION ALL ".join(f"SELECT '{name}' WHERE EXISTS (SELECT FROM {name})" for name in tables)
    written = [name for (name,) in server.execute(filled.encode()).fetchall()]
    deletions = "".join(f"DELETE FROM {name};" for name in written)
    server.execute(
        f"SET session_replication_role = replica; {deletions} SET session_replication_role = DEFAULT".encode()
    )


@contextmanager
def for_site(environment: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """What a site's environment needs so that it runs on the kind of database that the tests run on."""
    if not POSTGRESQL or "DATABASE_URL" in environment:
        yield {}
        return
    with database(migrated()) as url:
        yield {"DATABASE_URL": url}


def rows(url: str, query: str, *values: object) -> list[tuple[Any, ...]]:
    """What a query gives that reads the database beside the site; `?` stands for a value."""
    if url.startswith("sqlite:///"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"), timeout=20)) as file:
            return file.execute(query, values).fetchall()
    with nullcontext(_kept[url]) if url in _kept else psycopg.connect(url) as server:
        return server.execute(query.replace("?", "%s").encode(), values).fetchall()


_kept: dict[str, psycopg.Connection] = {}


@contextmanager
def connected(url: str) -> Iterator[None]:
    """One connection for all that `rows` reads meanwhile: the server starts a process for each."""
    if url.startswith("sqlite:///"):
        yield
        return
    with psycopg.connect(url, autocommit=True) as _kept[url]:
        try:
            yield
        finally:
            del _kept[url]


def drop(name: str) -> None:
    """Take a database away; threads of ended tests may have left connections to it open."""
    with psycopg.connect(urlsplit(POSTGRESQL)._replace(path="/postgres").geturl(), autocommit=True) as server:
        server.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
