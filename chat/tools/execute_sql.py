"""Defines the tool `execute_sql`, which runs one read-only query."""

from __future__ import annotations

from chat.tools.sandbox import concurrency
from chat.tools.tool import Tool, ToolContext, text
from toolsupport.core.errors import ToolError
from toolsupport.core.types import JSON, ToolResult, ToolSpec
from toolsupport.sources.types import Table

NAME = "execute_sql"
# Characters of an answer that a model reads; people get all of it.
READ = 16_000

SPEC = ToolSpec(
    NAME,
    "Run one SQL query (SELECT or WITH) on a database and get its rows as CSV. Queries are read-only. "
    "Let the database count and sum instead of requesting many rows.",
    {
        "type": "object",
        "properties": {
            "source": {"type": "string", "description": "The name of the database"},
            "query": {"type": "string", "description": "One SQL query, in the dialect of that database"},
        },
        "required": ["source", "query"],
        "additionalProperties": False,
    },
)


async def run(context: ToolContext, arguments: JSON) -> ToolResult:
    """Return the rows as CSV, with a note if there are more."""
    source, query = text(arguments, "source"), text(arguments, "query")
    if context.databases is None:
        raise ToolError("There is no database that this chat may read.")
    async with concurrency.QUERIES.entered(context):
        return table_result(await context.databases.ask(source, query))


def table_result(table: Table) -> ToolResult:
    """Return the part of an answer that a model reads; `table` is all of it."""
    shown, count = table.to_csv(READ)
    if not table.rows:
        return ToolResult(f"{shown}\n[No rows.]", table=shown)
    rows = len(table.rows)
    if count == rows and not table.more:
        return ToolResult(f"{shown}\n[{rows} row{'' if rows == 1 else 's'}.]", table=shown)
    many = f"{rows} and more" if table.more else str(rows)
    note = f"[The first {count} of {many} rows. Count, sum or filter in the query to see less.]"
    return ToolResult(f"{shown}\n{note}", table=table.to_csv()[0])


TOOL = Tool(
    SPEC, run, level="A1", phrase="Run SQL on", target="source", timeout=concurrency.PATIENCE + 20.0, taints=True
)
