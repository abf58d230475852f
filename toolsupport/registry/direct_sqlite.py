"""Runs written statements on SQLite's own connection, without the cursors that Django puts around each.

The cursors cost more than most of these statements. Their services are here as well: errors are Django's, a
transaction that must be undone accepts no statement, and none runs in the event loop. Statements that are counted or
logged (tests, traces) use Django's cursors.
"""

from __future__ import annotations

import re
import sqlite3
from asyncio import _get_running_loop
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any
from weakref import WeakKeyDictionary

from django.db.backends.base.base import BaseDatabaseWrapper

# Writes of every answer. They are counted separately: no kept row (`row_cache`) depends on them.
OF_ANSWERS = re.compile(
    r"\s*(?:(?:INSERT\s+INTO|UPDATE|DELETE\s+FROM)\s+\"?chat_"
    r"(?:conversation|turn|message|toolrun|formattedmessage|rawexchange)\b"
    r"|UPDATE\s+toolsupport_apikey\s+SET\s+used_at\s+=\s+%s\s+WHERE\b)"
)
MARK = re.compile(r"(?<!%)%s")

# By Django's connection: the connection of SQLite, and how many rows statements of answers changed on it.
_changed: WeakKeyDictionary[BaseDatabaseWrapper, tuple[Any, int]] = WeakKeyDictionary()


def able(here: BaseDatabaseWrapper) -> bool:
    """Return whether statements may run directly."""
    return here.vendor == "sqlite" and not here.execute_wrappers and not here.force_debug_cursor


def run(here: BaseDatabaseWrapper, statement: str, values: Sequence[Any], take: Callable[[Any], Any]) -> Any:
    """Run a statement; return what `take` reads from its cursor."""
    if here.connection is None or _get_running_loop() is not None:
        here.ensure_connection()  # it refuses to work in the event loop
    if here.needs_rollback:
        here.validate_no_broken_transaction()
    text, of_answers = _translated(statement)
    try:
        if not of_answers:
            return take(here.connection.execute(text, values))
        before = here.connection.total_changes
        found = take(here.connection.execute(text, values))
    except sqlite3.Error:
        with here.wrap_database_errors:
            raise
    kept, count = _changed.get(here, (None, 0))
    count = count if kept is here.connection else 0
    _changed[here] = here.connection, count + here.connection.total_changes - before
    return found


@lru_cache(maxsize=512)
def _translated(statement: str) -> tuple[str, bool]:
    """Return a statement with SQLite's marks, and whether it writes rows of answers."""
    return MARK.sub("?", statement).replace("%%", "%"), OF_ANSWERS.match(statement) is not None


def other_changes(here: BaseDatabaseWrapper) -> int:
    """Return how many rows other statements changed on this connection."""
    kept, count = _changed.get(here, (None, 0))
    return int(here.connection.total_changes) - (count if kept is here.connection else 0)
