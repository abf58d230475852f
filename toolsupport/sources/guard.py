"""Checks that a query is a single read-only statement, as a second guard before the database's own."""

from __future__ import annotations

import re
from collections.abc import Iterator

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from toolsupport.sources.types import SourceError

DIALECTS = {"sqlite": "sqlite", "postgresql": "postgres", "files": "duckdb"}
LONGEST = 20_000

# Parts of a query that change something or reserve it.
CHANGES = (exp.DML, exp.DDL, exp.Create, exp.Drop, exp.Alter, exp.Command, exp.Into, exp.Lock, exp.Set, exp.Pragma)
# Statements of DuckDB that show the columns of a table.
DESCRIBES = {"files": (exp.Describe, exp.Summarize, exp.Show)}

# Functions with access outside the data, even if a database would refuse them.
REACHING = (
    "pg_read",
    "pg_ls",
    "pg_stat_file",
    "pg_write",
    "pg_terminate",
    "pg_cancel",
    "pg_reload",
    "pg_rotate",
    "pg_notify",
    "pg_logical",
    "pg_create",
    "pg_drop",
    "pg_switch",
    "pg_promote",
    "pg_backup",
    "pg_start",
    "pg_stop",
    "pg_export",
    "pg_import",
    "pg_replication",
    "pg_advisory",
    "pg_try_advisory",
    "pg_sleep",
    "pg_file",
    "pg_hba",
    "pg_show_all_file",
    "pg_config",
    "lo_",
    "loread",
    "lowrite",
    "dblink",
    "set_config",
    "setval",
    "nextval",
    "query_to_xml",
    "cursor_to_xml",
    "table_to_xml",
    "schema_to_xml",
    "database_to_xml",
    "load_extension",
    "readfile",
    "writefile",
    "edit",
    "fts3_tokenizer",
    "read_",
    "parquet_",
    "glob",
    "sniff_csv",
    "getenv",
    "duckdb_secrets",
    "which_secret",
    "query",
    "query_table",
    "json_execute_serialized_sql",
    "sqlite_scan",
    "sqlite_attach",
    "postgres_",
    "mysql_",
    "iceberg_",
    "delta_scan",
    "st_read",
)


# A plan is shown, never one that runs the query (ANALYZE) or shows settings.
PLAN = re.compile(
    r"(?:\s|--[^\n]*\n|/\*(?:[^*]|\*(?!/))*\*/)*EXPLAIN\b"
    r"(?:\s+QUERY\s+PLAN\b|\s+VERBOSE\b|\s*\((?P<options>[^()]{0,200})\))?(?P<query>.*)",
    re.IGNORECASE | re.DOTALL,
)
OPTION = re.compile(
    r"\s*(?:(?:VERBOSE|COSTS|SUMMARY|GENERIC_PLAN)(?:\s+(?:on|off|true|false|1|0))?|FORMAT\s+(?:TEXT|JSON|XML|YAML))\s*",
    re.IGNORECASE,
)


def checked(kind: str, query: str) -> tuple[str, str]:
    """Return the form of EXPLAIN before a query, or "", and the query. Raises SourceError if it does not read."""
    if len(query) > LONGEST:
        raise SourceError(f"The query is longer than {LONGEST:,} characters.")
    if "\0" in query:
        raise SourceError("The query holds a NUL character.")
    plan, text = _split(kind, query)
    try:
        statements = [one for one in sqlglot.parse(text, dialect=DIALECTS[kind]) if one is not None]
    except (SqlglotError, RecursionError, ValueError) as error:
        raise SourceError(f"The query cannot be read: {_first_line(error)}") from None
    if len(statements) != 1:
        raise SourceError("Send exactly one statement.")
    _check_reads(kind, statements[0])
    return plan, text


def _split(kind: str, query: str) -> tuple[str, str]:
    found = PLAN.fullmatch(query)
    if found is None:
        return "", query
    if kind == "sqlite":
        return "EXPLAIN QUERY PLAN", found["query"]
    if kind == "files":
        return "EXPLAIN", found["query"]
    options = found["options"]
    if options is not None and not all(map(OPTION.fullmatch, options.split(","))):
        raise SourceError("EXPLAIN has the options VERBOSE, COSTS, SUMMARY and FORMAT here.")
    return f"EXPLAIN ({options})" if options else "EXPLAIN", found["query"]


def _check_reads(kind: str, statement: exp.Expr) -> None:
    if not isinstance(statement, (exp.Query, exp.Values, *DESCRIBES.get(kind, ()))):
        raise SourceError("Only queries run here: begin with SELECT, WITH, VALUES or EXPLAIN SELECT.")
    for part in statement.walk():
        if isinstance(part, CHANGES) and not isinstance(part, exp.Query):
            raise SourceError(f"Only reading is allowed, and {part.key.upper()} does more.")
        for name in _called(part):
            if name.startswith(REACHING):
                raise SourceError(f"The function {name} may not be called here.")


def _called(part: exp.Expr) -> Iterator[str]:
    """Return the names of a function, in lower case."""
    if isinstance(part, exp.Anonymous):
        yield part.name.lower()
    elif isinstance(part, exp.Func):
        yield part.sql_name().lower()


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or ["it is not SQL"])[0][:300]
