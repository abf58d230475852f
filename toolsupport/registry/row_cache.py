"""Keeps rows about people, models and settings that every answer reads, until any of them may have changed.

SQLite counts the commits of other connections (`PRAGMA data_version`) and the changes of this one. While both counts
stay, the database holds the same rows, so nothing is stale, not even for a moment. Statements of answers are not
counted: no kept row depends on them. Within a transaction that changed other rows, which may be undone,
nothing is kept; on other databases neither.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ParamSpec, TypeVar

from toolsupport.registry import direct_sqlite, raw_sql

MOST = 2_000
P = ParamSpec("P")
Found = TypeVar("Found")


@dataclass(slots=True)
class _KeptRows:
    """Rows that one connection read while neither count changed; `changes` is None until a transaction has ended.

    `inside`: commits were counted last within a transaction.
    """

    held: bool = False
    inside: bool = False
    changes: int | None = None
    commits: int = -1
    found: dict[tuple[Any, ...], Any] = field(default_factory=dict)

    def clear(self) -> None:
        self.found.clear()


def read(question: Callable[P, Found], *values: P.args, **named: P.kwargs) -> Found:
    """Return the result of a query, which runs again only if rows may have changed.

    Callers must not change the result. It must depend on rows and values alone.
    """
    if named:
        return question(*values, **named)
    return read_by(lambda: question(*values, **named), question, *values)


def read_newest(question: Callable[P, Found], *values: P.args, **named: P.kwargs) -> Found:
    """Return the same as `read`, but keep only the result for the values of the newest call.

    For values that differ often, such as all open sockets: each set would stay until any other row changes.
    """
    kept = _valid()
    if kept is None or named:
        return question(*values, **named)
    before = kept.get((question,))
    if before is None or before[0] != values:
        before = kept[(question,)] = values, question(*values, **named)
    found: Found = before[1]
    return found


def read_by(ask: Callable[[], Found], question: Callable[..., Found], *values: object) -> Found:
    """Return the same, where `ask` finds it in another way, such as together with other rows."""
    kept = _valid()
    if kept is None:
        return ask()
    key = (question, values)
    if key not in kept:
        if len(kept) >= MOST:
            kept.clear()
        kept[key] = ask()
    found: Found = kept[key]
    return found


def rows(statement: str, *values: object) -> list[tuple[Any, ...]]:
    """Return all rows of a statement, as `raw_sql.rows` does."""
    return read(raw_sql.rows, statement, *values)


def settle() -> None:
    """Note the state of the database before a transaction begins, so that kept rows can be used within it."""
    _valid()


@contextmanager
def held() -> Iterator[None]:
    """Count the commits of other connections once, for a transaction, or to prepare one answer.

    Within a transaction SQLite shows none of them. An answer that began a moment earlier would not have them either.
    They are counted again where a transaction begins meanwhile, as it may have waited for another writer.
    """
    kept = direct_sqlite.connection_here().connection.kept if _valid() is not None else None
    if kept is None or kept.held:
        yield
        return
    kept.held = True
    try:
        yield
    finally:
        kept.held = False


def _valid() -> dict[tuple[Any, ...], Any] | None:
    here = direct_sqlite.connection_here()
    if here.vendor != "sqlite":
        return None
    direct_sqlite.open_here(here)
    connection = here.connection
    kept: _KeptRows | None = connection.kept
    if kept is None:
        kept = connection.kept = _KeptRows()
    changes, inside = connection.other_changes, connection.in_transaction
    if changes != kept.changes:
        kept.clear()
        if inside:
            return None
        kept.changes = changes
    if kept.held and kept.inside == inside:
        return kept.found
    kept.inside = inside
    commits = direct_sqlite.run(here, "PRAGMA data_version", (), _first)
    if commits != kept.commits:
        kept.clear()
        kept.commits = commits
    return kept.found


def _first(cursor: Any) -> int:
    return int(cursor.fetchone()[0])
