"""Defines the tool `list_directory`, which lists a directory."""

from __future__ import annotations

from chat.tools.files.text_decoding import size_in_words
from chat.tools.files.workspace import WorkspaceEntry
from chat.tools.tool import Tool, ToolContext, switch, text
from toolsupport import cancellable_threads
from toolsupport.core.types import JSON, ToolResult, ToolSpec

SPEC = ToolSpec(
    "list_directory",
    "List the files and directories in a directory of the workspace. "
    "Each line is a path that read_file takes; directories end with a slash, files show their size.",
    {
        "type": "object",
        "properties": {
            "path": {
                "type": "string",
                "description": "Which directory, from the top of the workspace; a dot means the top itself",
            },
            "recursive": {
                "type": "boolean",
                "description": "True to list everything in the directories below as well",
                "default": False,
            },
        },
        "required": ["path"],
        "additionalProperties": False,
    },
)


async def run(context: ToolContext, arguments: JSON) -> ToolResult:
    """Return one entry per line, directories first; a note if there are more than the limit."""
    path, recursive = text(arguments, "path", "."), switch(arguments, "recursive")
    listing = await cancellable_threads.run(context.workspace.entries, path, recursive=recursive, limit=context.entries)
    lines = [_line(entry) for entry in listing.entries] or ["[The directory is empty.]"]
    if listing.more:
        lines.append(f"[Only the first {context.entries} are listed.]")
    return ToolResult("\n".join(lines))


def _line(entry: WorkspaceEntry) -> str:
    if entry.kind == "directory":
        return f"{entry.path}/"
    if entry.kind == "other":
        return f"{entry.path} (a link or something else that cannot be read)"
    return f"{entry.path} ({size_in_words(entry.size)})"


TOOL = Tool(SPEC, run, level="A1", phrase="Listed", target="path", taints=True)
