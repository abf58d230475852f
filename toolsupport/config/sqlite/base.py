"""Gives each connection to SQLite a LOWER for letters of every language: its own leaves all but ASCII as they are.

It also counts the changes of answers apart from all others (`answer_changes`).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from django.db.backends.sqlite3 import base

from toolsupport.config.sqlite.answer_changes import AnswerConnection, AnswerCursor


class DatabaseWrapper(base.DatabaseWrapper):
    """One thread's connection."""

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        made = super().get_new_connection({**conn_params, "factory": AnswerConnection})
        made.create_function("LOWER", 1, lowered, deterministic=True)
        return made

    def _start_transaction_under_autocommit(self) -> None:
        here: Any = self
        above: Any = super()
        begin = f"BEGIN {here.transaction_mode or ''}"
        self._directly(above._start_transaction_under_autocommit, lambda: self.connection.execute(begin))

    def _commit(self) -> None:
        above: Any = super()
        self._directly(above._commit, lambda: self.connection.commit())

    def _directly(self, as_django: Callable[[], Any], work: Callable[[], Any]) -> None:
        """Begin or commit without Django's cursor and log, about 30 calls for both, unless statements are logged."""
        if self.connection is None or self.execute_wrappers or self.queries_logged:
            as_django()
            return
        try:
            work()
        except sqlite3.Error:
            with self.wrap_database_errors:
                raise

    def create_cursor(self, name: str | None = None) -> Any:
        return self.connection.cursor(factory=AnswerCursor)


@lru_cache(maxsize=2)  # a search compares the same text with several words
def lowered(text: Any) -> Any:
    """Return a text in lower case: İ is one i, not i and a dot above it, and σ ends no word differently."""
    if not isinstance(text, str):
        return text
    return text.lower() if text.isascii() else text.lower().replace("i\u0307", "i").replace("ς", "σ")
