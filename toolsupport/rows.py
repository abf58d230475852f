"""Statements written out, for what every answer asks: building them from the models takes ten times as long.

A statement is plain SQL that both databases know; where they differ it says `{now}`, `{in_5_seconds}` or `{lock}`
(behind a SELECT: nobody else writes to these rows until the transaction ends).
"""

from __future__ import annotations

from datetime import datetime
from functools import cache
from typing import Any, TypeVar
from uuid import UUID

import orjson
from django.db import connection
from django.db.models import Model

_MOMENT = "STRFTIME('%%Y-%%m-%%d %%H:%%M:%%f', 'NOW'{})"
WORDS = {
    # A transaction of SQLite is alone: there is nobody to lock out.
    "sqlite": {"now": _MOMENT.format(""), "in_5_seconds": _MOMENT.format(", '+5 seconds'"), "lock": ""},
    "postgresql": {
        "now": "STATEMENT_TIMESTAMP()",
        "in_5_seconds": "STATEMENT_TIMESTAMP() + INTERVAL '5 seconds'",
        "lock": "FOR NO KEY UPDATE",
    },
}


def rows(statement: str, *values: object) -> list[tuple[Any, ...]]:
    """All rows that a statement gives."""
    with connection.cursor() as cursor:
        cursor.execute(said(connection.vendor, statement), [adapted(value) for value in values])
        return list(cursor.fetchall())


def row(statement: str, *values: object) -> tuple[Any, ...] | None:
    """The first row that a statement gives."""
    found = rows(statement, *values)
    return found[0] if found else None


def change(statement: str, *values: object) -> int:
    """How many rows a statement changed."""
    with connection.cursor() as cursor:
        cursor.execute(said(connection.vendor, statement), [adapted(value) for value in values])
        return int(cursor.rowcount)


Row = TypeVar("Row", bound=Model)


def made(model: type[Row], statement: str, *values: object) -> list[Row]:
    """The rows that a statement gives, as models; its columns must be named as theirs are."""
    return list(model._default_manager.raw(said(connection.vendor, statement), [adapted(value) for value in values]))


def hold(statement: str, *values: object) -> None:
    """Keep other writers out of the rows of this SELECT, where the database would let them in."""
    if connection.features.has_select_for_update:
        rows(statement, *values)


@cache
def said(vendor: str, statement: str) -> str:
    """The statement in the words of this database."""
    return statement.format(**WORDS[vendor])


def adapted(value: object) -> Any:
    """A value as the driver takes it; a mapping or a list becomes JSON."""
    if isinstance(value, UUID) and not connection.features.has_native_uuid_field:
        return value.hex
    if isinstance(value, datetime):
        return connection.ops.adapt_datetimefield_value(value)
    return orjson.dumps(value).decode() if isinstance(value, dict | list) else value
