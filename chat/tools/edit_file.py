"""Defines the tool `edit_file`, which replaces one place in a file."""

from __future__ import annotations

from chat.sentences import sentence
from chat.tools.diff_preview import basis_of, current, growth, only_over
from chat.tools.tool import Preview, Tool, ToolContext, text
from toolsupport import cancellable_threads
from toolsupport.core.errors import NotFound, ToolError
from toolsupport.core.text_diff import TextChange
from toolsupport.core.types import JSON, ToolResult, ToolSpec

SPEC = ToolSpec(
    "edit_file",
    "Change one place in a text file of the workspace. The old text must occur exactly once, with all its "
    "spaces and line ends: read the file first.",
    {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "Where the file is, from the top of the workspace"},
            "old": {"type": "string", "description": "The text to replace, exactly as it stands in the file"},
            "new": {"type": "string", "description": "The text that replaces it"},
        },
        "required": ["path", "old", "new"],
        "additionalProperties": False,
    },
)


async def run(context: ToolContext, arguments: JSON) -> ToolResult:
    """Replace the one place, or return why that is impossible."""
    path, before, after = await cancellable_threads.run(_changed, context, arguments)
    chunks = only_over(context, path, basis_of(before), after)
    await cancellable_threads.run(context.workspace.write, path, chunks)
    return ToolResult(f"Changed {path}.")


def preview(context: ToolContext, arguments: JSON) -> Preview:
    """Show the change. Raises ToolError or NotFound if it is not possible."""
    path, before, after = _changed(context, arguments)
    asked = sentence("edit_file", path=path)
    return Preview(asked, change=TextChange(path, before, after), size=growth(before, after))


def _changed(context: ToolContext, arguments: JSON) -> tuple[str, str, str]:
    """Return (path, the text before, the text after)."""
    path, old, new = text(arguments, "path"), text(arguments, "old"), text(arguments, "new")
    before = current(context, path)
    if before is None:
        raise NotFound(f"{path!r} does not exist. Use write_file to make it.")
    old, new = _with_ends_of(before, old), _with_ends_of(before, new)
    places = _places(before, old) if old else 0
    if places != 1:
        raise ToolError(f"Nothing was changed: {_why_not(old, places)}")
    return path, before, before.replace(old, new)


def _with_ends_of(before: str, piece: str) -> str:
    """Return a text with the line ends of a file whose lines all end in CRLF: models write LF, whatever they read."""
    ends = before.count("\r\n")
    return piece if not ends or ends < before.count("\n") or "\r" in piece else piece.replace("\n", "\r\n")


def _why_not(old: str, places: int) -> str:
    if not old:
        return "the old text is empty. Give a piece of the file that occurs exactly once."
    if places:
        return f"the old text occurs {places} times in this file. Give a longer piece that occurs exactly once."
    return (
        "the old text does not occur in the file. Read the file again, and copy a piece of it exactly, with all its "
        "spaces."
    )


def _places(text: str, piece: str) -> int:
    """Count the occurrences of a text, including overlapping ones, up to two."""
    first = text.find(piece)
    if first < 0:
        return 0
    return 1 if text.find(piece, first + 1) < 0 else max(2, text.count(piece))


TOOL = Tool(SPEC, run, level="A2", phrase="Edit", target="path", preview=preview)
