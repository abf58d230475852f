"""The tools search_schemas and execute_sql: models get a bounded result, people can save all of it (T3 T10)."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest

from chat.templatetags import readable
from chat.tools import execute_sql, search_schemas
from chat.tools.database_interface import FoundTable
from chat.tools.tool import ToolContext
from toolsupport.core.errors import ToolError
from toolsupport.sources.types import Column, Table, TableShape, table

ORDERS = TableShape("orders", (Column("id", "INTEGER"), Column("day", "TEXT", "ISO 8601")), "What was sold")


@dataclass(frozen=True)
class Two:
    """A database with one table, and what it answers."""

    answer: Table

    async def tables(self, query: str, count: int) -> Sequence[FoundTable]:
        return [FoundTable("shop", "SQLite", ORDERS)] if query != "nothing" else []

    async def ask(self, name: str, query: str) -> Table:
        return self.answer


def with_answer(context: ToolContext, *rows: tuple[object, ...], more: bool = False) -> ToolContext:
    return replace(context, databases=Two(Table(("month", "orders"), rows, more)))


SQL = {"source": "shop", "query": "SELECT 1"}


@pytest.mark.asyncio
async def test_rows_are_csv_with_a_note(context: ToolContext) -> None:
    result = await execute_sql.run(with_answer(context, ("2025-01", 3), ('a "b", c', None)), SQL)
    assert result.content == 'month,orders\n2025-01,3\n"a ""b"", c",\n\n[2 rows.]'
    assert result.table == 'month,orders\n2025-01,3\n"a ""b"", c",\n'


@pytest.mark.asyncio
async def test_no_rows_are_said(context: ToolContext) -> None:
    assert (await execute_sql.run(with_answer(context), SQL)).content == "month,orders\n\n[No rows.]"


@pytest.mark.asyncio
async def test_a_model_reads_the_beginning_of_many_rows(context: ToolContext) -> None:
    rows = [(f"{number:04}", "x" * 90) for number in range(1000)]
    result = await execute_sql.run(with_answer(context, *rows, more=True), SQL)
    assert len(result.content) < execute_sql.READ + 200 and "of 1000 and more rows." in result.content
    assert result.table.count("\n") == 1001


@pytest.mark.asyncio
async def test_tables_are_told_with_their_columns(context: ToolContext) -> None:
    content = (await search_schemas.run(with_answer(context), {"query": "sales"})).content
    assert content == "source shop (SQLite), table orders: id INTEGER, day TEXT (ISO 8601) – What was sold"
    assert "no tables" in (await search_schemas.run(with_answer(context), {"query": "nothing"})).content


@pytest.mark.parametrize("tool", [execute_sql, search_schemas])
@pytest.mark.asyncio
async def test_without_a_database_it_says_so(context: ToolContext, tool: object) -> None:
    with pytest.raises(ToolError, match="no database"):
        await tool.run(context, SQL)  # type: ignore[attr-defined]


def test_their_results_are_text_of_others() -> None:  # SAFETY 3.5
    assert execute_sql.TOOL.taints and search_schemas.TOOL.taints
    assert (execute_sql.TOOL.level, search_schemas.TOOL.level) == ("A1", "A0")


# What CSV could mistake for the end of a line or of a cell, in a cell and in the name of a column.
AWKWARD = ["a\rb", "\r", "a\r\nb", "a\nb", "\r\n", 'a "b"\r', "a,b\r", " \r ", "'\r", "", "\u2028", "\x0b", "\x85"]


def rows_of(shown: dict[str, Any]) -> list[list[str]]:
    return [row for row, _bar in shown["lines"]]


@pytest.mark.asyncio
@pytest.mark.parametrize("cell", AWKWARD)
async def test_every_cell_can_be_shown_as_it_was(context: ToolContext, cell: str) -> None:
    answer = Table((cell, "b"), ((cell, 1), ("end", cell)))
    result = await execute_sql.run(replace(context, databases=Two(answer)), SQL)
    shown = readable.csv_table(result.content)
    assert (shown["head"], rows_of(shown)) == ([cell, "b"], [[cell, "1"], ["end", cell]])
    assert list(csv.reader(io.StringIO(result.table, newline=""))) == [[cell, "b"], [cell, "1"], ["end", cell]]


@pytest.mark.parametrize("kept", ["a,b\n1\rx,2\n\n[1 row.]", f"a\n{'x' * 200_000}\n\n[1 row.]"])
def test_a_result_that_cannot_be_read_as_a_table_is_shown_by_lines(kept: str) -> None:
    shown = readable.csv_table(kept)
    assert "\n".join(["".join(shown["head"]), *map("".join, rows_of(shown))]) in kept
    assert shown["note"] == "1 row."


def test_the_name_of_a_column_can_be_stored() -> None:
    assert table(["a\0b", "\ud800"], [(1, 2)]).columns == ("a\ufffdb", "\ufffd")
