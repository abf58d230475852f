"""Reads an SQLite file, with an authoriser that allows reading only."""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from urllib.parse import quote

from toolsupport.core.sentences import sentence
from toolsupport.sources.types import (
    BYTES,
    SECONDS,
    Column,
    DatabaseSource,
    SourceError,
    Table,
    TableShape,
    no_place,
    table,
)

# What a statement may do: select, read a column, recurse in a WITH, call one of FUNCTIONS.
READS = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE})
FUNCTIONS = frozenset(
    """abs avg bm25 ceil ceiling changes char coalesce concat concat_ws count cume_dist current_date current_time
    current_timestamp date datetime degrees dense_rank exp first_value floor format group_concat highlight hex ifnull
    iif instr json json_array json_array_length json_each json_error_position json_extract json_group_array
    json_group_object json_object json_patch json_quote json_set json_tree json_type json_valid julianday lag last_value
    lead length like likelihood likely ln log log10 log2 lower ltrim match max median min mod nth_value ntile nullif
    octet_length percent_rank pi pow power printf quote radians random rank regexp replace round row_number rtrim sign
    sin cos tan asin acos atan snippet sqrt strftime string_agg substr substring subtype sum time timediff total trim
    trunc typeof unhex unicode unixepoch unlikely upper glob -> ->>""".split()  # noqa: SIM905
)
STEPS = 5000  # of the virtual machine, between two looks at the clock
LIMITS = {
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_LENGTH: 4 * BYTES,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 200,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 50,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 500,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}
# Error of SQLite, whole or its first byte → why the file cannot be read, whatever the query is.
FAULTS = {
    sqlite3.SQLITE_NOTADB: "no_sqlite_file",
    sqlite3.SQLITE_CORRUPT: "file_damaged",
    sqlite3.SQLITE_BUSY: "file_locked",
    sqlite3.SQLITE_CANTOPEN: "file_not_opened",
    sqlite3.SQLITE_PERM: "may_not_read",
    sqlite3.SQLITE_IOERR: "file_not_read",
    sqlite3.SQLITE_READONLY_CANTINIT: "file_not_finished",
    sqlite3.SQLITE_READONLY_RECOVERY: "file_not_finished",
    sqlite3.SQLITE_READONLY_ROLLBACK: "file_not_finished",
}
QUERY_FAULTS = frozenset({sqlite3.SQLITE_IOERR_NOMEM})
# Tables that SQLite offers without a definition in the file; others of them show the server's paths and raw pages.
READABLE = frozenset({"json_each", "json_tree", "sqlite_master", "sqlite_schema", "sqlite_sequence"})
MODULES = "SELECT lower(name) FROM pragma_module_list"
TABLES = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"


def query(source: DatabaseSource, text: str, plan: str = "") -> Table:
    """Return the answer to one query; with `plan`, a form of EXPLAIN, how it would run."""
    with _open(source) as connection:
        # The first use of these declares a table, which the authoriser would refuse.
        connection.execute("SELECT 1 FROM json_each('[]'), json_tree('[]')")
        connection.set_authorizer(_authoriser(_hidden_tables(connection)))
        cursor = connection.execute(f"{plan} {text}")
        return table((column[0] for column in cursor.description or ()), cursor)


def shapes(source: DatabaseSource) -> list[TableShape]:
    """Return the tables and views, with their columns."""
    with _open(source) as connection:
        names = [row[0] for row in connection.execute(TABLES)]
        return [TableShape(name, _columns(connection, name)) for name in names]


def _columns(connection: sqlite3.Connection, name: str) -> tuple[Column, ...]:
    rows = connection.execute("SELECT name, type FROM pragma_table_info(?)", (name,))
    return tuple(Column(*row) for row in rows)


def identity(path: str) -> str:
    """Return the file that a path refers to, under any name. Raises SourceError if there is none."""
    try:
        status = os.stat(path)
    except (OSError, ValueError) as error:
        raise no_place(error, "no_such_file") from None
    if stat.S_ISDIR(status.st_mode):
        raise SourceError(sentence("directory_for_file"))
    if not stat.S_ISREG(status.st_mode):
        raise SourceError(sentence("no_ordinary_file"))
    return f"sqlite {status.st_dev} {status.st_ino}"


@contextmanager
def _open(source: DatabaseSource) -> Iterator[sqlite3.Connection]:
    if identity(source.location) == source.forbidden:
        raise SourceError(sentence("own_database"))
    try:
        open(source.location, "rb").close()
        with _connected(source) as connection:
            yield connection
    except OSError as error:
        raise no_place(error, "file_not_opened") from None
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0)
        found = FAULTS.get(code) or (None if code in QUERY_FAULTS else FAULTS.get(code & 0xFF))
        if not found:
            raise
        raise SourceError(sentence(found)) from None


@contextmanager
def _connected(source: DatabaseSource) -> Iterator[sqlite3.Connection]:
    address = f"file:{quote(os.path.abspath(source.location))}?mode=ro"
    with closing(sqlite3.connect(address, uri=True, timeout=2, isolation_level=None)) as connection:
        for limit, most in LIMITS.items():
            connection.setlimit(limit, most)
        connection.execute("PRAGMA query_only=ON")
        connection.execute("PRAGMA trusted_schema=OFF")
        # What is sorted stays within the limit on memory, and nothing is left on the disk.
        connection.execute("PRAGMA temp_store=MEMORY")
        end = time.monotonic() + SECONDS
        connection.set_progress_handler(lambda: time.monotonic() > end, STEPS)
        connection.text_factory = lambda data: data.decode(errors="replace")
        yield connection


def _hidden_tables(connection: sqlite3.Connection) -> frozenset[str]:
    """Return the tables of this build of SQLite that are neither READABLE nor in the file."""
    own = {row[0].lower() for row in connection.execute(TABLES)}
    return frozenset(row[0] for row in connection.execute(MODULES)) - own - READABLE


def _authoriser(hidden: frozenset[str]) -> Callable[..., int]:
    def authorise(action: int, first: str | None, second: str | None, *_: str | None) -> int:
        allowed = action in READS or (action == sqlite3.SQLITE_FUNCTION and (second or "").lower() in FUNCTIONS)
        if action == sqlite3.SQLITE_READ:
            name = (first or "").lower()
            allowed = name not in hidden and not name.startswith(("pragma_", "sqlite_temp_"))
        return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY

    return authorise
