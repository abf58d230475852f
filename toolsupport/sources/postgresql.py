"""Reads PostgreSQL, with a role that cannot write, in a read-only transaction."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.rows import TupleRow

from toolsupport.core.errors import ConfigError
from toolsupport.core.sentences import sentence
from toolsupport.core.server_address_rules import check_host, may_be_asked
from toolsupport.sources import postgresql_checks
from toolsupport.sources.types import (
    ROWS,
    SECONDS,
    Column,
    DatabaseSource,
    FailedConnection,
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
    # The check of a statement reads its texts by this rule, whatever the database has set.
    " -c standard_conforming_strings=on"
)
CONNECT_SECONDS = 3

# The server that runs and the database in it: two addresses of one database give the same.
IDENTITY = """SELECT 'postgresql ' || pg_postmaster_start_time()::text || ' ' || oid::text
FROM pg_database WHERE datname = current_database()"""

SHAPES = """SELECT n.nspname, c.relname, coalesce(obj_description(c.oid), ''), a.attname,
format_type(a.atttypid, a.atttypmod), coalesce(col_description(c.oid, a.attnum), '')
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname NOT IN ('pg_catalog', 'information_schema')
AND n.nspname NOT LIKE 'pg_toast%' AND has_table_privilege(c.oid, 'SELECT')
ORDER BY n.nspname, c.relname, a.attnum LIMIT 20000"""


def query(source: DatabaseSource, text: str, plan: str = "") -> Table:
    """Return the answer to one query, through a server-side cursor, which accepts only queries.

    With `plan`, a form of EXPLAIN, return how it would run.
    """
    with _open(source) as connection:
        postgresql_checks.check_statement(connection, text)
        if plan:
            return _plan(connection, f"{plan} {text}")
        with connection.cursor(name="question") as cursor:
            cursor.itersize = ROWS + 1
            cursor.execute(text.encode())
            names = [column.name for column in cursor.description or ()]
            return table(names, cursor.fetchmany(ROWS + 1))


def _plan(connection: psycopg.Connection[TupleRow], text: str) -> Table:
    """Cursors accept no EXPLAIN; the extended protocol (`binary`) refuses a second statement as well."""
    with connection.cursor(binary=True) as cursor:
        cursor.execute(text.encode())
        return table((column.name for column in cursor.description or ()), cursor.fetchmany(ROWS + 1))


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
    with closing(_connected(_judged(source.location))) as connection:
        connection.read_only = True
        if postgresql_checks.value(connection, IDENTITY) == source.forbidden:
            raise SourceError(sentence("own_database"))
        postgresql_checks.check_role(connection)
        yield connection
        connection.rollback()


def _connected(location: str) -> psycopg.Connection[TupleRow]:
    try:
        return psycopg.connect(
            location, connect_timeout=CONNECT_SECONDS, options=SETTINGS, client_encoding="utf8", autocommit=False
        )
    except psycopg.OperationalError as error:
        raise FailedConnection(str(error)) from None


def _judged(location: str) -> str:
    """Return the location with an address for each host: the one that is judged is connected to.

    Several hosts are separated by commas. Raises SourceError for a forbidden one.
    """
    fields = conninfo_to_dict(location)
    hosts, written, ports = (str(fields.get(name) or "").split(",") for name in ("host", "hostaddr", "port"))
    try:
        for host in (*hosts, *written):
            check_host(host.strip())
        written = written if any(written) else [""] * len(hosts)
        ports = ports if len(ports) > 1 else ports * len(hosts)
        if not len(hosts) == len(written) == len(ports):
            return location  # only addresses, or what psycopg refuses
        asked = zip(hosts, written, ports, strict=True)
        found = [(host, address, port) for host, given, port in asked for address in _addresses(host, given)]
    except ConfigError as error:
        raise SourceError(error.words) from None
    parts = dict(zip(("host", "hostaddr", "port"), map(",".join, zip(*found, strict=True)), strict=True))
    return make_conninfo(location, **{name: part for name, part in parts.items() if part.strip(",")})


def _addresses(host: str, given: str) -> list[str]:
    """Return the addresses that a name may be asked at; [""] for what is no name. Raises ConfigError without one."""
    if given or not host or host.startswith(("/", "@")) or ":" in host or host.replace(".", "").isdigit():
        return [given]
    try:
        found = [str(place[4][0]) for place in socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)]
    except (OSError, UnicodeError) as error:
        raise psycopg.OperationalError(f"failed to resolve host {host!r}: {error}") from None
    asked = list(filter(may_be_asked, found))
    if not asked:
        raise ConfigError(f"{host} leads to {found[0]}, which is never contacted.")
    return asked
