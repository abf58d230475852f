"""Defines the tool `tool_search`, which finds more tools."""

from __future__ import annotations

from collections.abc import Sequence

from chat.tools.tool import Tool, ToolContext, text
from toolsupport.core.errors import ToolError
from toolsupport.core.types import JSON, ToolResult, ToolSpec

NAME = "tool_search"
LONGEST_DESCRIPTION = 200

SPEC = ToolSpec(
    NAME,
    "Find more tools by what you want to do. What is found can be called in your next step. "
    "Use it when none of your tools fits.",
    {
        "type": "object",
        "properties": {
            "query": {
                "type": "string",
                "description": "What you want to do, in a few words, for example: create an issue on GitHub",
            },
        },
        "required": ["query"],
        "additionalProperties": False,
    },
)


async def run(context: ToolContext, arguments: JSON) -> ToolResult:
    """Return the matching tools, each on a line; from now on they are offered."""
    query = text(arguments, "query")
    if not query.strip():
        raise ToolError("The query is empty: write what you want to do.")
    if context.find_tools is None:
        raise ToolError("There are no tools to search here.")
    found = await context.find_tools(query)
    if not found:
        return ToolResult("No tool was found for this. Use other words, or continue with the tools you have.")
    return ToolResult(listed(found))


def listed(found: Sequence[ToolSpec]) -> str:
    """The tools that were found, each on a line, as the model reads them."""
    return "\n".join(["These tools can be called from now on:", *map(_line, found)])


def _line(spec: ToolSpec) -> str:
    properties = spec.parameters.get("properties")
    names = ", ".join(properties) if isinstance(properties, dict) else ""
    described = " ".join(spec.description.split())[:LONGEST_DESCRIPTION]
    return f"- {spec.name}({names}): {described}" if described else f"- {spec.name}({names})"


TOOL = Tool(SPEC, run, level="A0", phrase="Search tools", target="query", retold=True)
