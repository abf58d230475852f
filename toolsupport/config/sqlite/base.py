"""Gives each connection to SQLite a LOWER for letters of every language: its own leaves all but ASCII as they are."""

from __future__ import annotations

from typing import Any

from django.db.backends.sqlite3 import base


class DatabaseWrapper(base.DatabaseWrapper):
    """One thread's connection."""

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        made = super().get_new_connection(conn_params)
        made.create_function("LOWER", 1, lowered, deterministic=True)
        return made


def lowered(text: Any) -> Any:
    """Return a text in lower case, with as many characters: of İ, Python makes an i and a dot above it."""
    if not isinstance(text, str):
        return text
    return text.lower() if text.isascii() else text.lower().replace("i\u0307", "i")
