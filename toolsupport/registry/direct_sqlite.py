"""Runs written statements on SQLite's own connection, without the cursors that Django puts around each.

The cursors cost more than most of these statements. Their services are here as well: errors are Django's, a
transaction that must be undone accepts no statement, and none runs in the event loop. Statements that are counted or
logged (tests, traces) use Django's cursors.
"""

from __future__ import annotations

import re
import sqlite3
import threading
from asyncio import _get_running_loop
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper

from toolsupport.config.sqlite import answer_changes

MARK = re.compile(r"(?<!%)%s")


class _ThreadConnection(threading.local):
    connection: BaseDatabaseWrapper | None = None


_here = _ThreadConnection()


def connection_here() -> BaseDatabaseWrapper:
    """Return Django's connection of this thread, which it keeps: looking it up took longer than some statements."""
    if _here.connection is None:
        _here.connection = connections[DEFAULT_DB_ALIAS]
    return _here.connection


def open_here(here: BaseDatabaseWrapper) -> None:
    """Open a connection, if it is closed. Raises SynchronousOnlyOperation in the event loop."""
    if here.connection is None or _get_running_loop() is not None:
        here.ensure_connection()


def able(here: BaseDatabaseWrapper) -> bool:
    """Return whether statements may run directly."""
    return here.vendor == "sqlite" and not here.execute_wrappers and not here.force_debug_cursor


def run(here: BaseDatabaseWrapper, statement: str, values: Sequence[Any], take: Callable[[Any], Any]) -> Any:
    """Run a statement; return what `take` reads from its cursor."""
    text, of_answers = _checked(here, statement)
    connection = here.connection
    before = connection.total_changes
    try:
        return take(connection.execute(text, values))
    except sqlite3.Error:
        with here.wrap_database_errors:
            raise
    finally:
        if of_answers:
            connection.rows_of_answers += connection.total_changes - before


def run_each(here: BaseDatabaseWrapper, statement: str, rows: Sequence[Sequence[Any]]) -> None:
    """Run a statement once for each row of values."""
    text, of_answers = _checked(here, statement)
    connection = here.connection
    with here.wrap_database_errors:
        if of_answers:
            connection.counted(lambda: connection.executemany(text, rows))
        else:
            connection.executemany(text, rows)


def _checked(here: BaseDatabaseWrapper, statement: str) -> tuple[str, bool]:
    """Return a statement as SQLite takes it, and whether it writes rows of answers, if a statement may run here now."""
    open_here(here)
    if here.needs_rollback:
        here.validate_no_broken_transaction()
    return _translated(statement)


@lru_cache(maxsize=512)
def _translated(statement: str) -> tuple[str, bool]:
    """Return a statement with SQLite's marks, and whether it writes rows of answers."""
    return MARK.sub("?", statement).replace("%%", "%"), answer_changes.of_answers(statement)
