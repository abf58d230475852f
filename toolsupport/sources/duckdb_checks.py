"""Checks what a query for DuckDB reads and calls, by the syntax tree that DuckDB itself makes of it."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from typing import Any

import duckdb

from toolsupport.sources.types import SourceError

# Functions are allowed that DuckDB calls consistent (the result depends on the arguments only), except UNSAFE ones.
UNSAFE = re.compile(r"__internal|version$|json_(de)?serialize_|parse_duckdb|pg_|duckdb_|getenv")
# Others whose result shows nothing of the server, DuckDB's macros, and names that table functions have as well.
SAFE = frozenset(
    """ago array_append array_pop_back array_pop_front array_prepend array_push_back array_push_front array_reverse
    array_to_string current_date date_add days_in_month fdiv fmod gen_random_uuid generate_subscripts geomean
    geometric_mean get_current_time get_current_timestamp histogram if json json_group_array json_group_object
    json_group_structure list_any_value list_append list_approx_count_distinct list_avg list_bit_and list_bit_or
    list_bit_xor list_bool_and list_bool_or list_count list_entropy list_first list_histogram list_kurtosis
    list_kurtosis_pop list_last list_mad list_max list_median list_min list_mode list_prepend list_product list_reverse
    list_sem list_skewness list_stddev_pop list_stddev_samp list_string_agg list_sum list_var_pop list_var_samp
    map_contains_entry map_contains_value now nullif random repeat regexp_split_to_table split_part stats today
    transaction_timestamp unnest uuid uuidv4 uuidv7 wavg weighted_avg""".split()  # noqa: SIM905
)
# Functions without a body of their own: the parser turns them into window functions or operators.
BUILT_IN = frozenset(
    """coalesce count_star cume_dist dense_rank exists fill first_value grouping grouping_id lag last_value lead
    nth_value ntile percent_rank rank rank_dense row_number try columns""".split()  # noqa: SIM905
)
TABLE_FUNCTIONS = frozenset({"range", "generate_series", "unnest", "json_each", "json_tree"})
DESCRIBING = frozenset({"tables", "columns"})  # of the information schema
SHOWN = frozenset({"", "tables"})  # SHOW TABLES; others show settings and the server's paths
PLAIN_NAME = re.compile(r"[^\W\d]\w*")
RESERVED = ("duckdb_", "pg_", "pragma_", "sqlite_")


def check(connection: duckdb.DuckDBPyConnection, text: str, tables: Collection[str]) -> None:
    """Raise SourceError unless a query reads the given tables only, by functions that are allowed."""
    row = connection.execute("SELECT json_serialize_sql(?::VARCHAR)", [text]).fetchone()
    tree = json.loads(row[0]) if row else {"error": True}
    if tree["error"]:
        raise SourceError(f"The query cannot be read: {str(tree.get('error_message', ''))[:300]}")
    parts = list(_parts(tree))
    own = {name.lower() for name in tables} | set(_named_queries(parts))
    for part in parts:
        if part.get("type") == "BASE_TABLE":
            _check_table(part, own)
        elif part.get("type") == "TABLE_FUNCTION" and _name(part["function"]) not in TABLE_FUNCTIONS:
            raise SourceError(f"The table function {_name(part['function'])} may not be called here.")
        elif part.get("type") == "SHOW_REF" and part["table_name"].strip('"').lower() not in SHOWN:
            raise SourceError("Only SHOW TABLES, DESCRIBE and SUMMARIZE are allowed.")
    called = {_name(part) for part in parts if part.get("class") in ("FUNCTION", "WINDOW")}
    _check_functions(connection, called - SAFE - BUILT_IN - TABLE_FUNCTIONS)


def _parts(tree: Any) -> Iterator[dict[str, Any]]:
    """Yield every object of a JSON value."""
    waiting = [tree]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            yield one
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one


def _named_queries(parts: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the names of WITH. Raises SourceError for one that could stand for something else in another place."""
    for part in parts:
        for entry in part.get("cte_map", {}).get("map", ()):
            name = str(entry["key"]).lower()
            if not PLAIN_NAME.fullmatch(name) or name.startswith(RESERVED):
                raise SourceError(f"Give the query {name!r} of WITH another name.")
            yield name


def _check_table(part: dict[str, Any], own: Collection[str]) -> None:
    path = [part["catalog_name"].lower(), part["schema_name"].lower()]
    name = part["table_name"].lower()
    is_own = path in (["", ""], ["", "main"], ["memory", "main"]) and name in own
    if not is_own and not (path == ["", "information_schema"] and name in DESCRIBING):
        raise SourceError(f"There is no table {part['table_name']!r} here.")


def _name(function: dict[str, Any]) -> str:
    return str(function["function_name"]).lower()


def _check_functions(connection: duckdb.DuckDBPyConnection, called: Collection[str]) -> None:
    known = connection.execute(
        """SELECT lower(function_name) FROM duckdb_functions() WHERE lower(function_name) IN (SELECT unnest(?))
        GROUP BY 1 HAVING bool_and(function_type IN ('scalar', 'aggregate') AND stability = 'CONSISTENT')""",
        [sorted(called)],
    ).fetchall()
    allowed = {name for (name,) in known if not UNSAFE.match(name)}
    for name in sorted(set(called) - allowed):
        raise SourceError(f"The function {name} may not be called here.")
