"""A site that starts loads only what every site needs, and ends with the reason where nothing can be saved."""

from __future__ import annotations

import errno
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from django.db import OperationalError

from toolsupport import __main__

# Each takes several MiB in every process, and most sites never need it.
LARGE = {"bm25s", "numpy", "pydantic_monty", "duckdb", "sqlglot", "psycopg", "mcp", "mcp_types"}
LOADED = f"import sys, toolsupport.config.asgi; print(*sorted({LARGE!r} & set(sys.modules)))"


def test_large_libraries_wait_until_they_are_needed(tmp_path: Path):
    environment = {**os.environ, "TOOLSUPPORT_DATA_DIR": str(tmp_path), "DATABASE_URL": ""}
    ran = subprocess.run([sys.executable, "-c", LOADED], env=environment, capture_output=True, text=True, check=True)
    assert ran.stdout.split() == []


NO_FILE_GROWS = 'ulimit -f 0; exec "$@"'  # as on a full disk


def test_a_first_start_on_a_full_disk_names_the_reason_and_the_next_one_makes_a_key(tmp_path: Path) -> None:  # S6
    environment = {**os.environ, "TOOLSUPPORT_DATA_DIR": str(tmp_path), "TOOLSUPPORT_SECRET_KEY": ""}
    command = [sys.executable, "-B", "-m", "toolsupport", "sign_in_link", "ana"]
    full = subprocess.run(["bash", "-c", NO_FILE_GROWS, "-", *command], env=environment, capture_output=True, text=True)
    assert full.returncode == 1 and not (tmp_path / "secret_key").exists()
    assert full.stderr.startswith("Error: The signing key cannot be read from or saved in")
    subprocess.run([sys.executable, "-c", LOADED], env=environment, capture_output=True, check=True)
    assert len((tmp_path / "secret_key").read_text()) > 50


def sqlite_error(code: int) -> OperationalError:
    error, cause = OperationalError("no words"), sqlite3.OperationalError("no words")
    cause.sqlite_errorcode = code
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "Error: the disk is full."),
        (sqlite_error(sqlite3.SQLITE_FULL), "Error: the disk is full."),
        (sqlite_error(sqlite3.SQLITE_BUSY), "Error: the database is locked."),
    ],
)
def test_a_command_that_cannot_save_ends_with_the_reason(
    monkeypatch: pytest.MonkeyPatch, error: Exception, words: str
) -> None:  # S6
    def failing(_: list[str]) -> None:
        raise error

    monkeypatch.setattr("django.core.management.execute_from_command_line", failing)
    with pytest.raises(SystemExit) as ended:
        __main__.run(["rotate_encryption_key"])
    assert ended.value.code == words


def test_any_other_error_of_a_command_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("django.core.management.execute_from_command_line", lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        __main__.run(["rotate_encryption_key"])
