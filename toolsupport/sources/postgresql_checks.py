"""Checks by PostgreSQL's own catalog what a role can do and what a statement calls."""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg.rows import TupleRow

from toolsupport.core.sentences import sentence
from toolsupport.sources import postgresql_lexer
from toolsupport.sources.types import SourceError

Connection = psycopg.Connection[TupleRow]

# Functions whose result depends on more than their arguments (time zone, text search, the catalog), or is random, and
# that show nothing of the server. All immutable functions are allowed as well; any other function is refused.
FUNCTIONS = """age array_to_json array_to_string bernoulli clock_timestamp col_description concat concat_ws convert
    convert_from convert_to current_database current_schema current_schemas date date_part date_trunc enum_first
    enum_last enum_range extract format format_type gen_random_uuid generate_series get_current_ts_config
    has_any_column_privilege has_column_privilege has_schema_privilege has_table_privilege json_agg json_build_array
    json_build_object json_object_agg json_populate_record json_populate_recordset json_to_record json_to_recordset
    json_to_tsvector jsonb_agg jsonb_build_array jsonb_build_object jsonb_object_agg jsonb_path_exists_tz
    jsonb_path_match_tz jsonb_path_query_array_tz jsonb_path_query_first_tz jsonb_path_query_tz jsonb_populate_record
    jsonb_populate_recordset jsonb_to_record jsonb_to_recordset jsonb_to_tsvector length make_timestamptz money now
    numeric obj_description overlaps pg_column_size pg_get_constraintdef pg_get_expr pg_get_indexdef
    pg_indexes_size pg_relation_size pg_size_pretty pg_table_is_visible pg_table_size pg_total_relation_size pg_typeof
    phraseto_tsquery plainto_tsquery quote_literal quote_nullable random row_to_json statement_timestamp system time
    timeofday timestamp timestamptz timetz timezone to_char to_date to_json to_jsonb to_number to_timestamp to_tsquery
    to_tsvector transaction_timestamp ts_headline websearch_to_tsquery xml xml_is_well_formed""".split()  # noqa: SIM905
# Tables of the system that describe the tables of a database.
RELATIONS = """pg_attrdef pg_attribute pg_class pg_constraint pg_description pg_enum pg_index pg_indexes pg_inherits
    pg_matviews pg_namespace pg_partitioned_table pg_sequences pg_stat_user_tables pg_tables pg_type pg_views
    check_constraints column_privileges columns constraint_column_usage constraint_table_usage domains element_types
    key_column_usage referential_constraints schemata sequences table_constraints table_privileges tables
    views""".split()  # noqa: SIM905

# An aggregate is called immutable whatever its parts do. A function with the rights of its owner may read files,
# whatever it is called. In a view, whose arguments no query chooses, a function of the owner may read tables (stable).
CALLS = """SELECT DISTINCT p.proname FROM pg_proc p
LEFT JOIN pg_aggregate a ON a.aggfnoid = p.oid AND p.pronamespace <> 'pg_catalog'::regnamespace
LEFT JOIN pg_proc step ON step.oid = a.aggtransfn LEFT JOIN pg_proc last ON last.oid = a.aggfinalfn
WHERE lower(p.proname) = ANY(%(called)s)
AND NOT (p.pronamespace = 'pg_catalog'::regnamespace AND p.proname = ANY(%(functions)s))
AND NOT (p.provolatile = 'i' AND coalesce(step.provolatile, 'i') = 'i' AND coalesce(last.provolatile, 'i') = 'i'
AND NOT p.prosecdef AND NOT coalesce(step.prosecdef OR last.prosecdef, false))
AND NOT (%(in_view)s AND p.provolatile = 's' AND NOT p.prosecdef AND p.pronamespace <> 'pg_catalog'::regnamespace)
ORDER BY 1"""
TABLES = """SELECT DISTINCT relname FROM pg_class WHERE lower(relname) = ANY(%(names)s)
AND (relnamespace = 'pg_catalog'::regnamespace AND relkind IN ('r', 'v') OR 'information_schema' = ANY(%(names)s)
AND relnamespace = 'information_schema'::regnamespace)
AND NOT relname = ANY(%(relations)s) ORDER BY 1"""
# Operators and casts of the database's owner that run a function with effects. (Those of PostgreSQL run none.)
OPERATORS = """SELECT 'the operator ' || oprname FROM pg_operator JOIN pg_proc p ON p.oid = oprcode
WHERE (provolatile = 'v' OR prosecdef) AND pronamespace <> 'pg_catalog'::regnamespace
AND strpos(%(text)s, oprname) > 0
UNION ALL SELECT 'a cast to ' || typname
FROM pg_cast JOIN pg_proc p ON p.oid = castfunc JOIN pg_type t ON t.oid = casttarget
WHERE (provolatile = 'v' OR prosecdef) AND pronamespace <> 'pg_catalog'::regnamespace
AND lower(typname) = ANY(%(names)s)"""
# Views of the database's owner, and the views in them. A view reads tables with the rights of its owner, a superuser's
# those of the system, and may call what a query must not.
VIEWS = """SELECT c.oid::regclass::text, pg_get_viewdef(c.oid) FROM pg_class c WHERE relkind = 'v'
AND relnamespace <> ALL(ARRAY['pg_catalog', 'information_schema']::regnamespace[])
AND lower(relname) = ANY(%(names)s)
AND NOT c.oid::regclass::text = ANY(%(seen)s)"""


def check_statement(connection: Connection, text: str) -> None:
    """Raise SourceError if a statement, or a view in it, does what is not allowed."""
    waiting, seen = [("", text)], [""]
    while waiting:
        view, text = waiting.pop()
        found = postgresql_lexer.names(text)
        try:
            _check_names(connection, text, found, bool(view))
        except SourceError as error:
            raise SourceError(f"{error} The view {view} does so." if view else str(error)) from None
        values = {"names": sorted({name.text.lower() for name in found}), "seen": seen}
        views = connection.execute(VIEWS.encode(), values).fetchall()
        waiting += views
        seen += [name for name, _ in views]


def _check_names(connection: Connection, text: str, found: list[postgresql_lexer.Name], in_view: bool) -> None:
    """Raise SourceError if a text calls a function or reads a system table that is not allowed."""
    values: dict[str, Any] = {
        "called": sorted({name.text.lower() for name in found if name.called}),
        "names": sorted({name.text.lower() for name in found}),
        "functions": FUNCTIONS,
        "relations": RELATIONS,
        "text": text,
        "in_view": in_view,
    }
    for statement, words in (
        (CALLS, "The function {} may not be called here."),
        (TABLES, "The system table {} may not be read here."),
        (OPERATORS, "This database runs a function of its own for {}, so the query is refused."),
    ):
        row = connection.execute(statement.encode(), values).fetchone()
        if row:
            raise SourceError(words.format(row[0]))


POWERS = """SELECT rolsuper OR rolcreatedb OR rolcreaterole OR rolreplication OR rolbypassrls
FROM pg_roles WHERE rolname = current_user"""
MEMBER = """SELECT string_agg(rolname, ', ') FROM pg_roles WHERE pg_has_role(current_user, oid, 'MEMBER') AND
(rolsuper OR rolcreaterole OR rolname IN ('pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program',
'pg_write_all_data', 'pg_signal_backend', 'pg_maintain', 'pg_create_subscription', 'pg_checkpoint', 'pg_monitor',
'pg_read_all_settings', 'pg_read_all_stats', 'pg_stat_scan_tables', 'pg_use_reserved_connections'))"""
WRITES = """SELECT string_agg(name, ', ') FROM (
SELECT c.oid::regclass::text AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname NOT IN ('pg_catalog', 'information_schema')
AND n.nspname NOT LIKE 'pg_toast%' AND n.nspname NOT LIKE 'pg_temp%'
AND (has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')
OR has_any_column_privilege(c.oid, 'INSERT, UPDATE'))
UNION ALL
SELECT 'the schema ' || nspname FROM pg_namespace WHERE nspname NOT LIKE 'pg_temp%'
AND has_schema_privilege(oid, 'CREATE')
UNION ALL
SELECT 'the database itself' WHERE has_database_privilege(current_database(), 'CREATE')
) AS writable"""
# What reaches other servers, files or programs: extensions that do, functions that are closed to others, wrappers.
REACHES = """SELECT string_agg(DISTINCT name, ', ') FROM (
SELECT 'the extension ' || extname AS name FROM pg_extension e
JOIN pg_depend d ON d.refobjid = e.oid AND d.refclassid = 'pg_extension'::regclass AND d.classid = 'pg_proc'::regclass
WHERE extname IN ('dblink', 'postgres_fdw', 'file_fdw', 'adminpack', 'plsh', 'http', 'pg_net', 'pg_cron', 'oracle_fdw',
'mysql_fdw', 'tds_fdw', 'multicorn', 'plpython3u', 'plperlu', 'pltclu') AND has_function_privilege(d.objid, 'EXECUTE')
UNION ALL
SELECT 'the function ' || p.proname FROM pg_proc p WHERE p.pronamespace = 'pg_catalog'::regnamespace
AND p.proacl IS NOT NULL AND has_function_privilege(p.oid, 'EXECUTE')
AND NOT EXISTS (SELECT 1 FROM aclexplode(p.proacl) WHERE grantee = 0 AND privilege_type = 'EXECUTE')
UNION ALL
SELECT 'the foreign data wrapper ' || fdwname FROM pg_foreign_data_wrapper
WHERE has_foreign_data_wrapper_privilege(oid, 'USAGE')
UNION ALL
SELECT 'the foreign server ' || srvname FROM pg_foreign_server WHERE has_server_privilege(oid, 'USAGE')
) AS reaching"""


def check_role(connection: Connection) -> None:
    """Raise SourceError for a role that can do more than read the tables of its database."""
    if value(connection, POWERS):
        raise SourceError(sentence("role_has_powers"))
    for statement, code in ((MEMBER, "role_belongs_to"), (WRITES, "role_can_change"), (REACHES, "role_can_reach")):
        found = value(connection, statement)
        if found:
            raise SourceError(sentence(code, found=str(found)[:200]))


def value(connection: Connection, statement: str) -> object:
    """Return the first cell of an answer."""
    row = connection.execute(statement.encode()).fetchone()
    return row[0] if row else None
