"""Raw statements for the queries of every answer: building them from the models takes ten times as long.

A statement is plain SQL for both databases; where they differ it has `{now}`, `{later}` (a time from now, such as
"+5 seconds"), `{ids}` (a list of numbers) or `{lock}` (after a SELECT: other writers of these rows wait until the
transaction ends).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from functools import cache, lru_cache
from typing import Any, TypeVar
from uuid import UUID

import orjson
from django.db import connection, models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Model
from django.db.models.sql import Query

from toolsupport.registry import direct_sqlite, row_objects, sqlite_values

WORDS = {
    # A transaction of SQLite is alone: there are no writers to lock out.
    "sqlite": {
        "now": "STRFTIME('%%Y-%%m-%%d %%H:%%M:%%f', 'NOW')",
        "later": "STRFTIME('%%Y-%%m-%%d %%H:%%M:%%f', 'NOW', %s)",
        "ids": "(SELECT value FROM JSON_EACH(%s))",
        "lock": "",
    },
    "postgresql": {
        "now": "STATEMENT_TIMESTAMP()",
        "later": "STATEMENT_TIMESTAMP() + %s::interval",
        "ids": "(SELECT value::bigint FROM JSONB_ARRAY_ELEMENTS_TEXT(%s::jsonb))",
        "lock": "FOR NO KEY UPDATE",
    },
}


def rows(statement: str, *values: object) -> list[tuple[Any, ...]]:
    """Return all rows of a statement."""
    found: list[tuple[Any, ...]] = _run(statement, values, _fetch)
    return found


def _run(statement: str, values: Sequence[object], take: Callable[[Any], Any]) -> Any:
    """Run a statement; return what `take` reads from its cursor."""
    here = direct_sqlite.connection_here()
    given = [value if type(value) in _UNCHANGED else adapted(value, here) for value in values]
    return _run_on(here, for_vendor(here.vendor, statement), given, take)


def _run_on(here: BaseDatabaseWrapper, statement: str, values: Sequence[Any], take: Callable[[Any], Any]) -> Any:
    if direct_sqlite.able(here):
        return direct_sqlite.run(here, statement, values, take)
    with here.cursor() as cursor:
        cursor.execute(statement, values)
        return take(cursor)


def _fetch(cursor: Any) -> list[tuple[Any, ...]]:
    return list(cursor.fetchall())


def _count(cursor: Any) -> int:
    return int(cursor.rowcount)


def _fetch_named(cursor: Any) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    return tuple([column[0] for column in cursor.description]), cursor.fetchall()


def row(statement: str, *values: object) -> tuple[Any, ...] | None:
    """Return the first row of a statement."""
    found = rows(statement, *values)
    return found[0] if found else None


def change(statement: str, *values: object) -> int:
    """Return the number of rows that a statement changed."""
    changed: int = _run(statement, values, _count)
    return changed


def change_each(statement: str, rows: Iterable[Sequence[object]]) -> None:
    """Run a statement that changes rows once for each of these rows of values."""
    here = direct_sqlite.connection_here()
    text, values = for_vendor(here.vendor, statement), [[adapted(value, here) for value in row] for row in rows]
    if direct_sqlite.able(here):
        direct_sqlite.run_each(here, text, values)
    elif values:
        with here.cursor() as cursor:
            cursor.executemany(text, values)


def store(rows: Sequence[Model], columns: Sequence[str]) -> None:
    """Write these columns of rows, as `bulk_update` does, which takes seconds for thousands of them."""
    if not rows:
        return
    options, quote = rows[0]._meta, connection.ops.quote_name
    fields = [field for field in options.concrete_fields if field.name in columns]
    assigned = ", ".join(f"{quote(field.column or field.name)} = %s" for field in fields)
    statement = f"UPDATE {quote(options.db_table)} SET {assigned} WHERE id = %s"
    values = [
        [*(field.get_db_prep_save(getattr(row, field.attname), connection) for field in fields), row.pk] for row in rows
    ]
    with connection.cursor() as cursor:
        cursor.executemany(statement, values)


Row = TypeVar("Row", bound=Model)


Converter = Callable[[Any, Any, Any], Any]


def made(model: type[Row], statement: str, *values: object) -> list[Row]:
    """Return the rows of a statement as models; a column that is not a field becomes an attribute."""
    columns, found = _run(statement, values, _fetch_named)
    return [row_of(model, columns, each) for each in found]


@dataclass(frozen=True, slots=True)
class _ColumnPlan:
    """Maps columns to a model: its fields, each as (place, expression, converters), and the other columns."""

    names: list[str]
    fields: list[tuple[int, Any, list[Converter]]]
    others: list[tuple[str, int]]


def row_of(model: type[Row], columns: tuple[str, ...], values: tuple[Any, ...]) -> Row:
    """Return a row that a statement gave as a model, from the names of its columns and their values."""
    here = direct_sqlite.connection_here()
    plan, found = _plan(model, columns), []
    for place, expression, converters in plan.fields:
        value = values[place]
        for convert in converters:
            value = convert(value, expression, here)
        found.append(value)
    row = row_objects.stored(model, plan.names, found, here.alias)
    for name, place in plan.others:
        setattr(row, name, values[place])
    return row


@cache
def _plan(model: type[Model], columns: tuple[str, ...]) -> _ColumnPlan:
    here, names, fields = direct_sqlite.connection_here(), [], list[tuple[int, Any, list[Converter]]]()
    for field in model._meta.concrete_fields:
        if field.column in columns:
            expression: Any = field.get_col(model._meta.db_table)
            converters = sqlite_values.converters(field, here) if here.vendor == "sqlite" else None
            if converters is None:
                converters = here.ops.get_db_converters(expression) + expression.get_db_converters(here)
            names.append(field.attname)
            fields.append((columns.index(field.column), expression, converters))
    own = {field.column for field in model._meta.concrete_fields}
    return _ColumnPlan(names, fields, [(name, place) for place, name in enumerate(columns) if name not in own])


_NONE: frozenset[type] = frozenset((type(None),))
_TEXT: frozenset[type] = frozenset((str, type(None)))
_NUMBER: frozenset[type] = frozenset((int, type(None)))
# The fields of exactly these classes store such a value unchanged.
PLAIN: dict[type, frozenset[type]] = {
    models.CharField: _TEXT,
    models.TextField: _TEXT,
    models.IntegerField: _NUMBER,
    models.BigIntegerField: _NUMBER,
    models.PositiveIntegerField: _NUMBER,
    models.ForeignKey: _NUMBER,
    models.BooleanField: frozenset((bool,)),
    models.DateTimeField: _NONE,
}
_InsertedField = tuple[Any, str, frozenset[type]]


def insert(row: Model) -> None:
    """Store a new row as `save(force_insert=True)` does, with a statement that is built once; it gets its id.

    For models without signal receivers.
    """
    here = direct_sqlite.connection_here()
    begin, end, fields = _insertion(type(row), row.pk is None, here.vendor)
    own, places, values = row.__dict__, list[str](), list[Any]()
    for field, name, plain in fields:
        value = own[name] if name else field.pre_save(row, True)
        if type(value) in plain:
            places.append("%s")
            values.append(value)
        else:
            place, given = _placed(row, value, field, here)
            places.append(place)
            values += given
    stored = _run_on(here, f"{begin} ({', '.join(places)}){end}", values, _fetch if end else _count)
    if end:
        row.pk = stored[0][0]
    row._state.adding, row._state.db = False, here.alias


def _placed(row: Model, value: Any, field: Any, here: BaseDatabaseWrapper) -> tuple[str, Sequence[Any]]:
    """Return the part of a statement for a value, and its parameters; expressions are times by the database's clock."""
    if isinstance(value, StrEnum) and type(field) is models.CharField:
        return "%s", (value.value,)
    if hasattr(value, "resolve_expression"):
        return _compiled(type(row), here.vendor, value)
    text = sqlite_values.written(field, value) if here.vendor == "sqlite" else None
    return "%s", (field.get_db_prep_save(value, here) if text is None else text,)


@lru_cache(maxsize=64)
def _compiled(model: type[Model], vendor: str, value: Any) -> tuple[str, Sequence[Any]]:
    query = Query(model)
    resolved = value.resolve_expression(query, allow_joins=False, for_save=True)
    place, parameters = query.get_compiler(connection=connection).compile(resolved)
    return place, parameters


@cache
def _insertion(model: type[Model], numbered: bool, vendor: str) -> tuple[str, str, list[_InsertedField]]:
    """Return an insertion before and after its values, and their fields; `numbered`: the database gives the id.

    Each field has the attribute with its value ("": `pre_save` returns it), and the types that are passed unchanged.
    """
    fields = [field for field in model._meta.concrete_fields if not (numbered and field.primary_key)]
    quoted = connection.ops.quote_name
    columns = ", ".join(quoted(str(field.column)) for field in fields)
    planned = [(field, "" if _is_stamp(field) else field.attname, PLAIN.get(type(field), _NONE)) for field in fields]
    end = f" RETURNING {quoted(str(model._meta.pk.column))}" if numbered else ""
    return f"INSERT INTO {quoted(model._meta.db_table)} ({columns}) VALUES", end, planned


def _is_stamp(field: Any) -> bool:
    """Return whether a field sets its own value when a row is stored."""
    own = type(field).pre_save is models.Field.pre_save
    return not own and (not isinstance(field, models.DateTimeField) or field.auto_now or field.auto_now_add)


def hold(statement: str, *values: object) -> None:
    """Lock the rows of this SELECT against other writers, on databases that need it."""
    if connection.features.has_select_for_update:
        rows(statement, *values)


@cache
def for_vendor(vendor: str, statement: str) -> str:
    """Return the statement in this database's dialect."""
    return statement.format(**WORDS[vendor])


def parsed(value: Any) -> Any:
    """Return a column of JSON, which one driver parses and the other returns as text."""
    return orjson.loads(value) if isinstance(value, str) else value


_UNCHANGED = frozenset((str, int, bool, type(None)))


def adapted(value: object, here: BaseDatabaseWrapper) -> Any:
    """Return a value for the driver; a mapping or a list becomes JSON. Raises ValueError for NaN and infinities."""
    if type(value) in _UNCHANGED:
        return value
    if isinstance(value, UUID) and not here.features.has_native_uuid_field:
        return value.hex
    if isinstance(value, datetime):
        if value.tzinfo is UTC and here.vendor == "sqlite":
            return str(value.replace(tzinfo=None))
        return here.ops.adapt_datetimefield_value(value)
    return _json(value) if isinstance(value, dict | list) else value


def _json(value: object) -> str:
    written = orjson.dumps(value)
    if sqlite_values.loses_numbers(value, written):
        raise ValueError("a number in it is NaN or infinite, which JSON has not")
    return written.decode()
