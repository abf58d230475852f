"""Reads PostgreSQL, with a role that cannot write, in a read-only transaction."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import TupleRow

from toolsupport.core.errors import ConfigError
from toolsupport.core.http_address import check_host
from toolsupport.sources.types import (
    ROWS,
    SECONDS,
    Column,
    DatabaseSource,
    SourceError,
    Table,
    TableShape,
    table,
)

SETTINGS = (
    "-c default_transaction_read_only=on"
    f" -c statement_timeout={SECONDS * 1000:.0f}"
    " -c lock_timeout=1000"
    " -c idle_in_transaction_session_timeout=10000"
)
CONNECT_SECONDS = 3

# The server that runs and the database in it: two addresses of one database give the same.
IDENTITY = """SELECT 'postgresql ' || pg_postmaster_start_time()::text || ' ' || oid::text
FROM pg_database WHERE datname = current_database()"""

POWERS = """SELECT rolsuper OR rolcreatedb OR rolcreaterole OR rolreplication OR rolbypassrls
FROM pg_roles WHERE rolname = current_user"""
MEMBER = """SELECT string_agg(rolname, ', ') FROM pg_roles WHERE pg_has_role(current_user, oid, 'MEMBER') AND
(rolsuper OR rolname IN ('pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program',
'pg_write_all_data', 'pg_signal_backend', 'pg_maintain', 'pg_create_subscription', 'pg_checkpoint'))"""
WRITES = """SELECT string_agg(name, ', ') FROM (
SELECT c.oid::regclass::text AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname NOT IN ('pg_catalog', 'information_schema')
AND n.nspname NOT LIKE 'pg_toast%' AND n.nspname NOT LIKE 'pg_temp%'
AND has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')
UNION ALL
SELECT 'the schema ' || nspname FROM pg_namespace WHERE nspname NOT LIKE 'pg_temp%'
AND has_schema_privilege(oid, 'CREATE')
UNION ALL
SELECT 'the database itself' WHERE has_database_privilege(current_database(), 'CREATE')
) AS writable"""
SHAPES = """SELECT n.nspname, c.relname, coalesce(obj_description(c.oid), ''), a.attname,
format_type(a.atttypid, a.atttypmod), coalesce(col_description(c.oid, a.attnum), '')
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname NOT IN ('pg_catalog', 'information_schema')
AND n.nspname NOT LIKE 'pg_toast%' AND has_table_privilege(c.oid, 'SELECT')
ORDER BY n.nspname, c.relname, a.attnum LIMIT 20000"""


def query(source: DatabaseSource, text: str) -> Table:
    """Return the answer to one query, through a server-side cursor, which accepts only queries."""
    with _open(source) as connection, connection.cursor(name="question") as cursor:
        cursor.itersize = ROWS + 1
        cursor.execute(text.encode())
        names = [column.name for column in cursor.description or ()]
        return table(names, cursor.fetchmany(ROWS + 1))


def shapes(source: DatabaseSource) -> list[TableShape]:
    """Return the tables and views that the role may read, with their columns and comments."""
    found: dict[tuple[str, str, str], list[Column]] = {}
    with _open(source) as connection:
        for schema, name, comment, *column in connection.execute(SHAPES):
            found.setdefault((schema, name, comment), []).append(Column(*column))
    return [
        TableShape(name if schema == "public" else f"{schema}.{name}", tuple(columns), comment)
        for (schema, name, comment), columns in found.items()
    ]


@contextmanager
def _open(source: DatabaseSource) -> Iterator[psycopg.Connection[TupleRow]]:
    _check_hosts(source.location)
    with closing(
        psycopg.connect(source.location, connect_timeout=CONNECT_SECONDS, options=SETTINGS, autocommit=False)
    ) as connection:
        connection.read_only = True
        if _value(connection, IDENTITY) == source.forbidden:
            raise SourceError("That is the database of toolsupport itself, which is never a source.")
        _check_role(connection)
        yield connection
        connection.rollback()


def _check_hosts(location: str) -> None:
    """Raise SourceError for a forbidden host. Several hosts are separated by commas."""
    fields = conninfo_to_dict(location)
    for host in f"{fields.get('host') or ''},{fields.get('hostaddr') or ''}".split(","):
        try:
            check_host(host.strip())
        except ConfigError as error:
            raise SourceError(str(error)) from None


def _check_role(connection: psycopg.Connection[TupleRow]) -> None:
    """Raise SourceError for a role that can do more than read."""
    if _value(connection, POWERS):
        raise SourceError("Its role has special powers (superuser or the like): name one that can only read.")
    roles = _value(connection, MEMBER)
    if roles:
        raise SourceError(f"Its role belongs to {roles}: name one that can only read.")
    writable = _value(connection, WRITES)
    if writable:
        raise SourceError(f"Its role can change {str(writable)[:200]}: name one that can only read.")


def _value(connection: psycopg.Connection[TupleRow], statement: str) -> object:
    row = connection.execute(statement).fetchone()
    return row[0] if row else None
