"""Stores the databases that models may read, and whose chats may read which."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.contrib.auth.models import Group
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from toolsupport.core.errors import ConfigError, NotFound
from toolsupport.core.name_order import by_name
from toolsupport.core.sentence_codes import CODE, Sentence
from toolsupport.core.sentences import QUERIES
from toolsupport.models import SqlSource
from toolsupport.registry import row_cache
from toolsupport.registry.servers import key_encryption
from toolsupport.sources import sqlite
from toolsupport.sources.types import KINDS, Column, DatabaseSource, SourceError, TableShape

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,39}")
# The name of a kind for models, so that they write the right SQL.
DIALECTS = {"sqlite": "SQLite", "postgresql": "PostgreSQL", "files": "DuckDB"}


@dataclass(frozen=True, slots=True)
class NewSource:
    """A database to add; `groups` are the names of the groups whose chats may read it."""

    name: str
    kind: str
    location: str
    groups: Collection[str] = ()


@dataclass(frozen=True, slots=True)
class ShownSource:
    """A database as its page shows it, without its address."""

    id: int
    name: str
    kind: str
    enabled: bool
    groups: tuple[str, ...]
    tables: tuple[TableShape, ...]
    looked_at: datetime | None
    why: str


@dataclass(frozen=True, slots=True)
class GrantedSource:
    """A database that a person's chats may read."""

    id: int
    name: str
    dialect: str
    tables: tuple[TableShape, ...]


@transaction.atomic
def add(new: NewSource) -> int:
    """Return the new row's id. Raises ConfigError for a bad or taken name, an unknown kind, no location."""
    if not NAME.fullmatch(new.name):
        raise ConfigError("A name begins with a letter and has up to 40 letters, digits, _ and -.")
    if new.kind not in KINDS or not new.location.strip():
        raise ConfigError("Enter the kind of the database and where it is.")
    location = key_encryption.encrypt(new.location.strip())
    try:
        with transaction.atomic():
            row = SqlSource.objects.create(name=new.name, kind=new.kind, location=location)
    except IntegrityError:
        raise ConfigError(f"There is already a database called {new.name!r}; choose another name.") from None
    row.groups.set(Group.objects.filter(name__in=new.groups))
    return row.pk


@transaction.atomic
def set_enabled(source_id: int, enabled: bool) -> None:
    """Allow or forbid chats to read it. Raises NotFound."""
    if not SqlSource.objects.filter(pk=source_id).update(enabled=enabled):
        raise NotFound("This database does not exist.")


@transaction.atomic
def set_groups(source_id: int, groups: Collection[str]) -> None:
    """Set the groups whose chats may read it. Raises NotFound."""
    _row(source_id).groups.set(Group.objects.filter(name__in=groups))


@transaction.atomic
def remove(source_id: int) -> None:
    """Delete it, with its address. Raises NotFound."""
    _row(source_id).delete()


def reached(source_id: int) -> DatabaseSource:
    """Return its address. Raises NotFound, ConfigError (its address cannot be decrypted)."""
    row = _row(source_id)
    return DatabaseSource(row.kind, key_encryption.decrypt(row.location), own_database(row.kind))


def own_database(kind: str) -> str:
    """Return the name of the site's own database in this kind's notation, "" if it is of another kind."""
    if kind == "postgresql" and connection.vendor == "postgresql":
        from toolsupport.sources import postgresql  # its driver is large, and needed only if it is in use

        with connection.cursor() as cursor:
            cursor.execute(postgresql.IDENTITY)
            return str(cursor.fetchone()[0])
    if kind == "sqlite" and connection.vendor == "sqlite":
        try:
            return sqlite.identity(str(settings.DATABASES["default"]["NAME"]))
        except SourceError:  # it is kept in memory
            return ""
    return ""


@transaction.atomic
def keep_tables(source_id: int, tables: Sequence[TableShape]) -> None:
    """Store its tables."""
    found = [asdict(table) for table in tables]
    SqlSource.objects.filter(pk=source_id).update(tables=found, looked_at=timezone.now(), why="")


@transaction.atomic
def keep_failure(source_id: int, why: str) -> None:
    """Store the reason why it could not be read; the tables found before stay."""
    SqlSource.objects.filter(pk=source_id).update(looked_at=timezone.now(), why=why)


@transaction.atomic
def keep_query(source_id: int, why: str = "") -> None:
    """Store that a query was answered, or the reason `why` the database was not read; a failed query shows nothing."""
    if why and not (isinstance(why, Sentence) and why.stored[CODE] not in QUERIES):
        return
    SqlSource.objects.filter(pk=source_id).update(looked_at=timezone.now(), why=why)


def listed() -> tuple[ShownSource, ...]:
    """Return all databases, those in use first."""
    rows = SqlSource.objects.prefetch_related("groups")
    return tuple(map(_shown, sorted(rows, key=lambda row: (not row.enabled, by_name(row.name)))))


def granted(person: int) -> tuple[GrantedSource, ...]:
    """Return the databases that a person's chats may read now."""
    groups = Group.objects.filter(user=person, user__is_active=True)
    rows = SqlSource.objects.filter(enabled=True, groups__in=groups).distinct()
    return tuple(GrantedSource(row.pk, row.name, DIALECTS[row.kind], _tables(row.tables)) for row in rows)


# Every turn asks.
NAMES = """SELECT DISTINCT toolsupport_sqlsource.name, kind FROM toolsupport_sqlsource
JOIN toolsupport_sqlsource_groups ON sqlsource_id = toolsupport_sqlsource.id
JOIN auth_user_groups ON auth_user_groups.group_id = toolsupport_sqlsource_groups.group_id
WHERE enabled AND auth_user_groups.user_id = %s ORDER BY toolsupport_sqlsource.name"""


def names(person: int) -> str:
    """Return the names of a person's databases for the model, "" if there are none."""
    return in_words(row_cache.rows(NAMES, person))


def in_words(rows: Iterable[tuple[str, str]]) -> str:
    """Return the same from the rows of `NAMES`, read before."""
    return ", ".join(f"{name} ({DIALECTS[kind]})" for name, kind in rows)


def _row(source_id: int) -> SqlSource:
    try:
        return SqlSource.objects.get(pk=source_id)
    except SqlSource.DoesNotExist:
        raise NotFound("This database does not exist.") from None


def _shown(row: SqlSource) -> ShownSource:
    groups = tuple(sorted((group.name for group in row.groups.all()), key=by_name))
    kind, tables = KINDS[row.kind].partition(":")[0], _tables(row.tables)
    return ShownSource(row.pk, row.name, kind, row.enabled, groups, tables, row.looked_at, row.why)


def _tables(stored: Sequence[dict[str, Any]]) -> tuple[TableShape, ...]:
    return tuple(
        TableShape(one["name"], tuple(Column(**column) for column in one["columns"]), one["comment"]) for one in stored
    )
