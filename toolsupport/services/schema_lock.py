"""Excludes the other processes of a site on PostgreSQL, on any machine, while one of them changes its tables.

The lock belongs to a transaction of a connection of its own: PostgreSQL releases it when the process dies, and a
pooler in transaction mode keeps the connection for as long as the transaction is open.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from django.db import DatabaseError, connection

from toolsupport.core.errors import ConfigError

if TYPE_CHECKING:
    import psycopg

NUMBER = 0x746F6F6C  # "tool" in ASCII: the same number for all processes of a site
WAITING = "waiting: another process creates, upgrades or restores the tables of this database"
BUSY = "Another process creates, upgrades or restores the tables of this database. Wait until it has ended."
LEAVING = 5  # seconds until PostgreSQL has noticed the end of a process
log = logging.getLogger(__name__)


@contextmanager
def held(*, wait: bool) -> Iterator[None]:
    """Hold the lock. Raises ConfigError if another process has it and this one should not wait, DatabaseError."""
    with _connected() as server:
        # An operator may have set a timeout for idle transactions.
        server.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
        if not _taken(server):
            if not wait:
                raise ConfigError(BUSY)
            log.warning(WAITING)
            server.execute("SELECT pg_advisory_xact_lock(%s)", [NUMBER])
        yield


def others_connected() -> int:
    """Return how many connections other processes have, after those of a process that has just ended are gone."""
    deadline = time.monotonic() + LEAVING
    with _connected() as server:
        server.autocommit = True  # within a transaction the list would not change
        while (found := _others(server)) and time.monotonic() < deadline:
            time.sleep(0.1)
    return found


def _others(server: psycopg.Connection[Any]) -> int:
    row = server.execute(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
        " AND backend_type = 'client backend' AND application_name <> current_setting('application_name')"
    ).fetchone()
    return int(row[0]) if row else 0


def through_a_pooler() -> bool:
    """Return whether there is a pooler before PostgreSQL: the process id at connecting is not that of the server."""
    with _connected() as server:
        row = server.execute("SELECT pg_backend_pid()").fetchone()
        return row is None or row[0] != server.info.backend_pid


def _taken(server: psycopg.Connection[Any]) -> bool:
    """Take the lock, also from a process that has just ended."""
    from psycopg.errors import LockNotAvailable

    server.execute("SAVEPOINT before")
    server.execute(f"SET LOCAL lock_timeout = '{LEAVING}s'")
    try:
        server.execute("SELECT pg_advisory_xact_lock(%s)", [NUMBER])
    except LockNotAvailable:
        server.execute("ROLLBACK TO before")
        return False
    return True


@contextmanager
def _connected() -> Iterator[psycopg.Connection[Any]]:
    import psycopg  # imported here: a site on SQLite saves 8 MiB

    from toolsupport.config.postgresql.watched_connection import time_to_answer

    words = time_to_answer.at_least(connection.get_connection_params())
    words.pop("cursor_factory", None)
    try:
        server = psycopg.connect(**words)
    except psycopg.Error as error:
        raise DatabaseError(str(error)) from error
    try:
        yield server
    except psycopg.Error as error:
        raise DatabaseError(str(error)) from error
    finally:
        server.close()
