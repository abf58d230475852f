"""Defines the tool `write_file`, which writes a whole file."""

from __future__ import annotations

from collections.abc import Iterable

from chat.sentences import sentence
from chat.tools.diff_preview import basis_of, current, growth, lines_in_words, only_over
from chat.tools.tool import Preview, Tool, ToolContext, switch, text
from toolsupport import cancellable_threads
from toolsupport.core.text_diff import TextChange
from toolsupport.core.types import JSON, ToolResult, ToolSpec

SPEC = ToolSpec(
    "write_file",
    "Write a whole text file of the workspace; earlier content is replaced. Directories are created as needed. "
    "To change a part of a file use edit_file.",
    {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "Where the file is, from the top of the workspace"},
            "content": {"type": "string", "description": "The whole new content of the file"},
        },
        "required": ["path", "content"],
        "additionalProperties": False,
    },
)


async def run(context: ToolContext, arguments: JSON) -> ToolResult:
    """Write the whole file or nothing, and never over content newer than a person has seen.

    The argument `append`, which only a translated command has, adds the content at the end.
    """
    path, content = text(arguments, "path"), text(arguments, "content")
    chunks = await cancellable_threads.run(_chunks, context, arguments)
    written = await cancellable_threads.run(context.workspace.write, path, chunks)
    return ToolResult(f"{_verb(arguments)} {lines_in_words(content)} to {written}.")


def _chunks(context: ToolContext, arguments: JSON) -> Iterable[bytes]:
    path, content = text(arguments, "path"), text(arguments, "content")
    if not switch(arguments, "append"):
        return only_over(context, path, context.basis, content) if context.basis else [content.encode()]
    before = current(context, path)
    return only_over(context, path, context.basis or basis_of(before), (before or "") + content)


def preview(context: ToolContext, arguments: JSON) -> Preview:
    """Show the change."""
    path, content = text(arguments, "path"), text(arguments, "content")
    before = current(context, path)
    after = (before or "") + content if switch(arguments, "append") else content
    change = TextChange(path, before, after)
    if before is None:
        asked = sentence("create_file", path=path)
        return Preview(asked, change=change, basis=basis_of(before), size=lines_in_words(content))
    asked = sentence("add_to_file" if switch(arguments, "append") else "replace_file", path=path)
    return Preview(asked, change=change, basis=basis_of(before), size=growth(before, after))


def _verb(arguments: JSON) -> str:
    return "Added" if switch(arguments, "append") else "Wrote"


TOOL = Tool(SPEC, run, level="A2", phrase="Write", target="path", where="path", preview=preview)
