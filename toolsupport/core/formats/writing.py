"""Writes the parts that most formats share: the list of tools, and results that cannot close their own block."""

from __future__ import annotations

import re
from collections.abc import Sequence

from toolsupport.core.call_building import compact
from toolsupport.core.types import ChatMessage, ToolSpec

# Text that opens or closes a block in any format: one character of it is replaced by a similar one.
MARKS = re.compile(
    r"<(?=/?\s*[a-zA-Z|｜_])|\[(?=/?(?:TOOL|ARGS|CALL_ID|THINK|INST|SYSTEM|AVAILABLE)[A-Z_]*\])|`(?=``)", re.IGNORECASE
)
LOOKS_ALIKE = {"<": "‹", "[": "⁅", "`": "ˋ"}
# The similar characters where they stand for those; of a long fence all but the last two are replaced.
REPLACED = re.compile(
    r"‹(?=/?\s*[a-zA-Z|｜_])|⁅(?=/?(?:TOOL|ARGS|CALL_ID|THINK|INST|SYSTEM|AVAILABLE)[A-Z_]*\])|(?<!ˋ)ˋ++(?=``)",
    re.IGNORECASE,
)


def listed(tools: Sequence[ToolSpec]) -> str:
    """Write the tools as servers list them, one JSON object per line."""
    return "\n".join(compact(tool.to_openai()) for tool in tools)


def blocks(results: Sequence[ChatMessage], opener: str, closer: str) -> str:
    """Write one block for each result, with the tool's name and its result."""
    return "\n".join(f"{opener}\n{name_line(result)}{harmless(result.content)}\n{closer}" for result in results)


def write_results(results: Sequence[ChatMessage]) -> str:
    """Write the results in the most common form."""
    return blocks(results, "<tool_response>", "</tool_response>")


def name_line(result: ChatMessage) -> str:
    return f"{harmless(result.name)}:\n" if result.name else ""


def harmless(content: str) -> str:
    """Return the content without anything that could open or close a block of any format."""
    return MARKS.sub(lambda found: LOOKS_ALIKE[found.group()], content)
