"""Counts the rows that answers change on a connection of SQLite.

No kept row (`toolsupport.registry.row_cache`) depends on the tables of answers, so their changes are counted apart from
all others: kept rows may have changed only if `total_changes - rows_of_answers` has.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, TypeVar

from django.db.backends.sqlite3.base import SQLiteCursorWrapper

OF_ANSWERS = re.compile(
    r"\s*(?:(?:INSERT\s+INTO|UPDATE|DELETE\s+FROM)\s+\"?chat_"
    r"(?:conversation|turn|message|toolrun|formattedmessage|rawexchange)\b"
    r"|UPDATE\s+toolsupport_apikey\s+SET\s+used_at\s+=\s+%s\s+WHERE\b)"
)
Result = TypeVar("Result")


class AnswerConnection(sqlite3.Connection):
    """SQLite's own connection, with the number of rows that statements of answers changed on it.

    `kept` are the rows that were read on it before (`toolsupport.registry.row_cache`).
    """

    rows_of_answers = 0
    kept: Any = None

    @property
    def other_changes(self) -> int:
        """The number of rows that other statements changed."""
        return self.total_changes - self.rows_of_answers

    def counted(self, work: Callable[[], Result]) -> Result:
        """Return the result of work that changes only rows of answers."""
        before = self.total_changes
        try:
            return work()
        finally:
            self.rows_of_answers += self.total_changes - before


class AnswerCursor(SQLiteCursorWrapper):
    """Django's cursor, on an AnswerConnection.

    SQLite counts a row as changed when its statement ends: at the first fetch, if it returns its row.
    """

    connection: AnswerConnection
    counts = False  # the last statement was one of answers

    def execute(self, query: str, params: Any = None) -> Any:
        return self._run(query, super().execute, params)

    def executemany(self, query: str, param_list: Iterable[Any]) -> Any:
        return self._run(query, super().executemany, param_list)

    def _run(self, query: str, run: Callable[[str, Any], Any], values: Any) -> Any:
        self.counts = of_answers(query)
        return self.connection.counted(lambda: run(query, values)) if self.counts else run(query, values)

    def fetchone(self) -> Any:
        fetch = super().fetchone
        return self.connection.counted(fetch) if self.counts else fetch()


@lru_cache(maxsize=512)
def of_answers(statement: str) -> bool:
    """Return whether a statement writes rows of answers only."""
    return OF_ANSWERS.match(statement) is not None
