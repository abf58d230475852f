"""Defines the tool `search_schemas`, which finds tables and their columns."""

from __future__ import annotations

from chat.tools.database_interface import FoundTable
from chat.tools.tool import Tool, ToolContext, text
from toolsupport.core.errors import ToolError
from toolsupport.core.types import JSON, ToolResult, ToolSpec

NAME = "search_schemas"
TABLES = 8
COLUMNS = 60

SPEC = ToolSpec(
    NAME,
    "Find tables of the databases by what they hold. Use it before execute_sql, to learn the names of tables and "
    "columns.",
    {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "What you look for, for example: orders of customers"},
        },
        "required": ["query"],
        "additionalProperties": False,
    },
)


async def run(context: ToolContext, arguments: JSON) -> ToolResult:
    """Return the best matching tables, each with its columns on a line."""
    query = text(arguments, "query")
    if context.databases is None:
        raise ToolError("There is no database that this chat may read.")
    found = await context.databases.tables(query, TABLES)
    if not found:
        return ToolResult("The databases hold no tables that can be read.")
    return ToolResult("\n".join(map(_line, found)))


def _line(found: FoundTable) -> str:
    columns = [
        f"{column.name} {column.type}".strip() + (f" ({column.comment})" if column.comment else "")
        for column in found.table.columns
    ]
    listed = ", ".join(columns[:COLUMNS]) + (", …" if len(columns) > COLUMNS else "")
    about = f" – {found.table.comment}" if found.table.comment else ""
    return f"source {found.database} ({found.dialect}), table {found.table.name}: {listed}{about}"


TOOL = Tool(SPEC, run, level="A0", phrase="Search tables", target="query", taints=True)
