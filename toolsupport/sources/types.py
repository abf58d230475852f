"""Defines the queries to a database and their answers."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from toolsupport.core import sanitize
from toolsupport.core.sentences import sentence

KINDS = {
    "sqlite": "SQLite: the path of a file on the server",
    "postgresql": "PostgreSQL: postgresql://reader:password@host/name",
    "files": "CSV and Parquet: the path of a directory on the server",
}
SECONDS = 5.0
ROWS = 1000
BYTES = 1024 * 1024
CELL = 10_000


class SourceError(Exception):
    """A database cannot be used, or a query was refused or failed; the message is for people and models."""

    @property
    def words(self) -> str:
        """The message; one that a row may hold is a sentence with its code."""
        return self.args[0] if self.args else ""


class FailedConnection(Exception):
    """No connection to a database; the message may hold its address."""


class UnreadableFile(Exception):
    """A file of tables cannot be read; the message may hold its path."""


def no_place(error: Exception, missing: str) -> SourceError:
    """Return why a path leads to no file or directory that can be read; `missing` is the code for one without any."""
    return SourceError(sentence("may_not_read" if isinstance(error, PermissionError) else missing))


@dataclass(frozen=True, slots=True)
class DatabaseSource:
    """A database. `location` may hold a password. `forbidden` is the site's own database, which is not allowed."""

    kind: str
    location: str = field(repr=False)
    forbidden: str = ""


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    type: str = ""
    comment: str = ""


@dataclass(frozen=True, slots=True)
class TableShape:
    """A table, as a search finds it."""

    name: str
    columns: tuple[Column, ...] = ()
    comment: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """The answer to a query. `more`: there were more rows, or larger ones, than are included."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    more: bool = False

    def to_csv(self, most: int = BYTES) -> tuple[str, int]:
        """Return header and rows as CSV of at most so many characters, with the number of rows in it."""
        text = line(self.columns)
        for number, row in enumerate(self.rows):
            added = line(row)
            if len(text) + len(added) > most:
                return text, number
            text += added
        return text, len(self.rows)


def line(cells: Sequence[Any]) -> str:
    """Return one line of CSV; NULL is empty."""
    written = io.StringIO()
    # With this end of a line the writer puts a cell that holds a lone carriage return in quotes: without them the
    # line could not be read back.
    csv.writer(written, lineterminator="\r\n").writerow(["" if cell is None else cell for cell in cells])
    return written.getvalue().removesuffix("\r\n") + "\n"


def table(columns: Iterable[str], rows: Iterable[Sequence[Any]]) -> Table:
    """Return the first rows of an answer, within the limits; cells as JSON values."""
    names = tuple(sanitize.text(name) for name in columns)
    kept: list[tuple[Any, ...]] = []
    size = 0
    for row in rows:
        cells = tuple(plain(cell) for cell in row)
        size += sum(len(cell) if isinstance(cell, str) else 8 for cell in cells)
        if len(kept) == ROWS or size > BYTES:
            return Table(names, tuple(kept), more=True)
        kept.append(cells)
    return Table(names, tuple(kept))


def plain(cell: Any) -> Any:
    """Return a cell as a JSON value; bytes as the beginning of their hexadecimal form."""
    if cell is None or isinstance(cell, bool | int):
        return cell
    if isinstance(cell, float):
        return cell if cell == cell and abs(cell) != float("inf") else str(cell)
    if isinstance(cell, bytes | bytearray | memoryview):
        return f"\\x{bytes(cell[:100]).hex()}"
    return sanitize.text(str(cell)[:CELL])
