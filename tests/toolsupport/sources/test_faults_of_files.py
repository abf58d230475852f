"""An error of SQLite about its file is a reason of its own, whichever part of the error's code names it."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from toolsupport.core.sentences import sentence
from toolsupport.sources import sqlite
from toolsupport.sources.types import DatabaseSource, SourceError

DAMAGED, LOCKED, CLOSED = "file_damaged", "file_locked", "file_not_opened"
DISK, UNFINISHED = "file_not_read", "file_not_finished"


def raised_in_a_query(code: int, path: Path) -> Exception:
    """Return the error of a query that fails with this code of SQLite."""
    path.touch()
    error = sqlite3.OperationalError("an error of SQLite")
    error.sqlite_errorcode = code
    try:
        with sqlite._open(DatabaseSource("sqlite", str(path))):
            raise error
    except (SourceError, sqlite3.Error) as found:
        return found


@pytest.mark.parametrize(
    "code, reason",
    [
        (sqlite3.SQLITE_CORRUPT_INDEX, DAMAGED),
        (sqlite3.SQLITE_CORRUPT, DAMAGED),
        (sqlite3.SQLITE_BUSY_TIMEOUT, LOCKED),
        (sqlite3.SQLITE_BUSY_RECOVERY, LOCKED),
        (sqlite3.SQLITE_CANTOPEN_ISDIR, CLOSED),
        (sqlite3.SQLITE_IOERR_READ, DISK),
        (sqlite3.SQLITE_IOERR_SHORT_READ, DISK),
        (sqlite3.SQLITE_READONLY_RECOVERY, UNFINISHED),
        (sqlite3.SQLITE_READONLY_ROLLBACK, UNFINISHED),
    ],
)
def test_an_error_about_the_file_has_a_reason(code: int, reason: str, tmp_path: Path) -> None:
    found = raised_in_a_query(code, tmp_path / "a.db")
    assert isinstance(found, SourceError) and found.words == sentence(reason)


@pytest.mark.parametrize("code", [sqlite3.SQLITE_IOERR_NOMEM, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_READONLY])
def test_an_error_about_the_query_stays_one(code: int, tmp_path: Path) -> None:
    found = raised_in_a_query(code, tmp_path / "a.db")
    assert isinstance(found, sqlite3.OperationalError)
