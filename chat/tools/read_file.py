"""Defines the tool `read_file`, which reads a text file."""

from __future__ import annotations

import re
from difflib import get_close_matches
from itertools import islice
from pathlib import PurePosixPath

from chat.tools.file_cache import beginning, ending
from chat.tools.files import text_decoding
from chat.tools.files.paths import shown
from chat.tools.files.workspace import FileContent
from chat.tools.tool import Tool, ToolContext, text
from toolsupport import cancellable_threads
from toolsupport.core.errors import NotFound, ToolError
from toolsupport.core.types import JSON, ToolResult, ToolSpec

SPEC = ToolSpec(
    "read_file",
    "Read a text file of the workspace and get its content. Use it before you answer about a file or change one.",
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


LINE = re.compile(rb"[^\n]*\n|[^\n]+")

# Comparing names is quadratic in their length: 500 names of 190 characters took 1.5 s.
LONGEST_LIKELY, MOST_LIKELY = 80, 200


async def run(context: ToolContext, arguments: JSON) -> ToolResult:
    """Return the content; longer files are cut with a note that gives the whole size.

    The arguments `first` and `last`, which only a translated command has, are numbers of lines.
    """
    path = text(arguments, "path")
    if not path.strip():
        raise ToolError("The path is empty: name a file, for example README.md.")
    content = await cancellable_threads.run(_content, context, path, arguments)
    return ToolResult(text_decoding.read(content.data, content.size))


def _content(context: ToolContext, path: str, arguments: JSON) -> FileContent:
    first, last = arguments.get("first"), arguments.get("last")
    try:
        if isinstance(last, int):
            return _last_lines(ending(context, path), last)
        content = beginning(context, path)
    except NotFound as missing:
        raise NotFound(f"{missing}{_suggestion(context, path)}") from None
    return _first_lines(content, first) if isinstance(first, int) else content


def _first_lines(content: FileContent, count: int) -> FileContent:
    lines = [line[0] for line in islice(LINE.finditer(content.data), count)]
    whole = len(lines) == count and lines[-1].endswith(b"\n")
    data = b"".join(lines)
    return FileContent(data, len(data) if whole else content.size)


def _last_lines(content: FileContent, count: int) -> FileContent:
    lines = LINE.findall(content.data)
    if len(lines) <= count and len(content.data) < content.size:
        raise ToolError("These lines are longer than can be read at once: ask for fewer.")
    data = b"".join(lines[-count:])
    return FileContent(data, len(data))


def _suggestion(context: ToolContext, path: str) -> str:
    """Return the path that was probably meant: one of the same file name first, then a similar one."""
    paths = [entry.path for entry in context.workspace.entries(recursive=True, limit=context.entries).entries]
    same_name = [known for known in paths if PurePosixPath(known).name == PurePosixPath(path).name]
    likely = [known for known in paths if len(known) <= LONGEST_LIKELY][:MOST_LIKELY]
    close = same_name or get_close_matches(path[:LONGEST_LIKELY], likely, n=1)
    return f" Did you mean {shown(close[0])!r}?" if close else ""


TOOL = Tool(SPEC, run, level="A1", phrase="Read", target="path", taints=True)
