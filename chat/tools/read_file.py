"""The tool `read_file`."""

from __future__ import annotations

import asyncio
from difflib import get_close_matches
from pathlib import PurePosixPath

from chat.tools import plain_text
from chat.tools.paths import shown
from chat.tools.tool import Tool, ToolContext, text
from chat.tools.workspace import Content
from toolsupport.core.errors import NotFound, ToolError
from toolsupport.core.words import JSON, ToolResult, ToolSpec

SPEC = ToolSpec(
    "read_file",
    "Read a text file of the workspace and get its content. Use it before you speak about a file or change one.",
    {
        "type": "object",
        "properties": {
            "path": {
                "type": "string",
                "description": "Where the file is, from the top of the workspace, for example src/app.py",
            },
        },
        "required": ["path"],
        "additionalProperties": False,
    },
)


async def run(context: ToolContext, arguments: JSON) -> ToolResult:
    """The content as it stands; longer files are cut with a note that names the whole size."""
    path = text(arguments, "path")
    if not path.strip():
        raise ToolError("The path is empty: name a file, for example README.md.")
    content = await asyncio.to_thread(_content, context, path)
    return ToolResult(plain_text.read(content.data, content.size))


def _content(context: ToolContext, path: str) -> Content:
    try:
        return context.workspace.read(path, context.text_bytes)
    except NotFound as missing:
        raise NotFound(f"{missing}{_suggestion(context, path)}") from None


def _suggestion(context: ToolContext, path: str) -> str:
    """The path that was probably meant: one of the same file name first, then one that looks alike."""
    paths = [entry.path for entry in context.workspace.entries(recursive=True, limit=context.entries).entries]
    same_name = [known for known in paths if PurePosixPath(known).name == PurePosixPath(path).name]
    close = same_name or get_close_matches(path, paths, n=1)
    return f" Did you mean {shown(close[0])!r}?" if close else ""


TOOL = Tool(SPEC, run, level="A1", phrase="Read", target="path", taints=True)
