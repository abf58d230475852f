"""PostgreSQL and Redis for tests that need them: taken from the environment, left out with a reason where absent."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import uuid
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest

POSTGRESQL = os.environ.get("TOOLSUPPORT_TEST_DATABASE_URL", "")
REDIS = os.environ.get("TOOLSUPPORT_TEST_REDIS_URL", "")
ROOT = Path(__file__).resolve().parent.parent

# What is there until the last test of this process has ended.
KEPT = ExitStack()


def needed(name: str, value: str) -> str:
    """The address, or the test is left out; where nothing may be left out, it fails."""
    if value:
        return value
    if os.environ.get("CI") == "true":
        pytest.fail(f"{name} is not set, and here nothing may be left out.")
    pytest.skip(f"{name} names no server")


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


@cache
def migrated() -> str:
    """The name of a database with every migration and nothing else, made once: one like it is as good as new."""
    url = KEPT.enter_context(database())
    command = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
    subprocess.run(command, cwd=ROOT, env={**os.environ, "DATABASE_URL": url}, check=True)
    return urlsplit(url).path.strip("/")


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
    with psycopg.connect(url) as server:
        return server.execute(query.replace("?", "%s").encode(), values).fetchall()


def disconnect(name: str) -> None:
    """End what threads of ended tests left open to a database: PostgreSQL would not let it go before."""
    with psycopg.connect(urlsplit(POSTGRESQL)._replace(path="/postgres").geturl(), autocommit=True) as server:
        server.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", (name,))
