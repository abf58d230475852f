"""The table of built-in tools: a new tool is one file here and one line in the table."""

from __future__ import annotations

from chat.tools import (
    bash,
    edit_file,
    execute_sql,
    hot_swap,
    list_directory,
    memory_dump,
    python_execution,
    read_file,
    search_schemas,
    tool_search,
    write_file,
)
from chat.tools.tool import Tool

BUILTINS: dict[str, Tool] = {
    tool.spec.name: tool
    for tool in (
        read_file.TOOL,
        list_directory.TOOL,
        write_file.TOOL,
        edit_file.TOOL,
        tool_search.TOOL,
        bash.TOOL,
        python_execution.TOOL,
        memory_dump.TOOL,
        hot_swap.TOOL,
        search_schemas.TOOL,
        execute_sql.TOOL,
    )
}
