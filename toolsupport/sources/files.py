"""Reads the CSV and Parquet files of one directory through DuckDB, which may open no other file."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import duckdb

from toolsupport.core.sentences import sentence
from toolsupport.sources import duckdb_checks
from toolsupport.sources.types import (
    ROWS,
    Column,
    DatabaseSource,
    SourceError,
    Table,
    TableShape,
    UnreadableFile,
    no_place,
    table,
)

READERS = {".csv": "read_csv", ".tsv": "read_csv", ".parquet": "read_parquet"}
MOST_FILES = 200
SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "threads": 1,
    "memory_limit": "256MB",
    "max_temp_directory_size": "0B",
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "allow_unsigned_extensions": False,
    "python_enable_replacements": False,
}


def query(source: DatabaseSource, text: str, plan: str = "") -> Table:
    """Return the answer to one query; each file is a table of the same name. With `plan` return how it would run."""
    with _open(source) as connection:
        _check_kind(connection, text, duckdb.StatementType.SELECT)
        duckdb_checks.check(connection, text, tables(source))
        asked = f"{plan} {text}"
        _check_kind(connection, asked, duckdb.StatementType.EXPLAIN if plan else duckdb.StatementType.SELECT)
        answer = connection.execute(asked)
        names = [column[0] for column in answer.description or ()]
        return table(names, answer.fetchmany(ROWS + 1))


def _check_kind(connection: duckdb.DuckDBPyConnection, text: str, kind: duckdb.StatementType) -> None:
    statements = connection.extract_statements(text)
    if len(statements) != 1 or statements[0].type != kind:
        raise SourceError("Only one query runs here: begin with SELECT or WITH.")


def shapes(source: DatabaseSource) -> list[TableShape]:
    """Return the files with their columns."""
    found = []
    with _open(source) as connection:
        for name in tables(source):
            rows = connection.execute(f"DESCRIBE {_quoted(name)}").fetchall()
            found.append(TableShape(name, tuple(Column(row[0], row[1]) for row in rows)))
    return found


def tables(source: DatabaseSource) -> dict[str, Path]:
    """Return the regular files of the directory by table name, without links. Raises SourceError."""
    root = Path(source.location)
    try:
        entries = sorted(os.scandir(root), key=lambda entry: entry.name)
    except NotADirectoryError:
        raise SourceError(sentence("file_for_directory" if root.is_file() else "no_such_directory")) from None
    except (OSError, ValueError) as error:
        raise no_place(error, "no_such_directory") from None
    found: dict[str, Path] = {}
    for entry in entries:
        path = root.resolve() / entry.name
        if path.suffix.lower() in READERS and _ordinary(entry) and len(found) < MOST_FILES:
            found.setdefault(re.sub(r"\W+", "_", path.stem), path)
    if not found:
        raise SourceError(sentence("no_files_of_tables"))
    return found


def _ordinary(entry: os.DirEntry[str]) -> bool:
    status = entry.stat(follow_symlinks=False)
    return stat.S_ISREG(status.st_mode) and status.st_nlink == 1


@contextmanager
def _open(source: DatabaseSource) -> Iterator[duckdb.DuckDBPyConnection]:
    files = tables(source)
    with closing(duckdb.connect(":memory:", config=SETTINGS)) as connection:
        for name, path in files.items():
            reader = READERS[path.suffix.lower()]
            try:
                connection.execute(f"CREATE VIEW {_quoted(name)} AS SELECT * FROM {reader}({_text(str(path))})")
            except duckdb.Error as error:
                raise UnreadableFile(str(error)) from None
        allowed = ", ".join(_text(str(path)) for path in files.values())
        connection.execute(f"SET allowed_paths = [{allowed}]")
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
        yield connection


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
