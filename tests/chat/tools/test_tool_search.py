"""The tool tool_search: found tools are listed with their parameters, and can be called from then on (T5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from chat.tools.tool import ToolContext
from chat.tools.tool_search import run
from toolsupport.core.errors import ToolError
from toolsupport.core.types import ToolSpec

pytestmark = pytest.mark.asyncio

KNOWN = (
    ToolSpec("create_issue", "Report\n something. " + "x" * 500, {"type": "object", "properties": {"title": {}}}),
    ToolSpec("odd", "", {"type": "object", "properties": True}),
)


async def finder(query: str) -> Sequence[ToolSpec]:
    return KNOWN if "issue" in query else ()


async def test_what_is_found_is_listed(context: ToolContext) -> None:
    content = (await run(replace(context, find_tools=finder), {"query": "an issue"})).content
    first, issue, odd = content.splitlines()
    assert first == "These tools can be called from now on:"
    assert issue.startswith("- create_issue(title): Report something. xxx") and len(issue) < 250
    assert odd == "- odd()"


async def test_nothing_found_is_no_error(context: ToolContext) -> None:
    result = await run(replace(context, find_tools=finder), {"query": "bread"})
    assert "No tool was found" in result.content and not result.is_error


@pytest.mark.parametrize("arguments", [{}, {"query": 1}, {"query": "  "}])
async def test_it_needs_words(context: ToolContext, arguments: dict[str, object]) -> None:
    with pytest.raises(ToolError):
        await run(replace(context, find_tools=finder), arguments)


async def test_without_anything_to_find_it_says_so(context: ToolContext) -> None:
    with pytest.raises(ToolError, match="no tools"):
        await run(context, {"query": "an issue"})
