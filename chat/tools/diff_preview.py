"""Previews how a call would change a file."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterator

from chat.sentences import sentence
from chat.tools.tool import ToolContext
from toolsupport.core import text_diff
from toolsupport.core.errors import NotFound, ToolError
from toolsupport.core.text_diff import TextChange
from toolsupport.work_pool.pool import work_pool
from toolsupport.work_pool.types import Task, WorkError

COMPARE = Task("toolsupport.core.text_diff:compared", cpu=1.0)
# Seconds that a person waits for a comparison before the approval comes without it.
PATIENCE = 4.0
NO_FILE = "no file"


def current(context: ToolContext, path: str) -> str | None:
    """Return the text of a file to change; None if it does not exist. Raises ToolError for a binary file."""
    try:
        content = context.workspace.read(path, context.text_bytes)
    except NotFound:
        return None
    if content.size > context.text_bytes:
        raise ToolError(f"{path!r} is too large to be changed this way ({content.size:,} bytes).")
    try:
        return content.data.decode()
    except UnicodeDecodeError:
        raise ToolError(f"{path!r} is not a text file in UTF-8, so it cannot be changed this way.") from None


async def difference(person: int, change: TextChange) -> str:
    """Return a unified diff, or an outline of it where that takes too long. A cancellation ends the work."""
    texts = change.path, change.before, change.after
    if await asyncio.to_thread(text_diff.is_short, change):
        return text_diff.compared(*texts)
    try:
        async with asyncio.timeout(PATIENCE):
            diff: str = await work_pool().run(person, COMPARE, *texts)
            return diff
    except (WorkError, TimeoutError):
        return await asyncio.to_thread(text_diff.outlined, *texts)


def basis_of(before: str | None) -> str:
    """Return the digest of a file's content, as `current` returns it."""
    return NO_FILE if before is None else hashlib.sha256(before.encode()).hexdigest()


def only_over(context: ToolContext, path: str, basis: str, content: str) -> Iterator[bytes]:
    """Return a check that allows replacing a file only if it has this digest.

    The workspace calls it while no other writer is active, and passes on its error: ToolError.
    """
    if basis_of(current(context, path)) != basis:
        raise ToolError(
            f"Nothing was written: {path!r} changed after this change was prepared. "
            "Read the file again, then request the change again."
        )
    yield content.encode()


def lines_in_words(text: str) -> str:
    """Return the length of a text: "1 line", "14 lines"."""
    count = len(text.splitlines())
    return sentence("one_line") if count == 1 else sentence("lines", count=count)


def growth(before: str, after: str) -> str:
    """Return how the length of a text changes: "5 lines become 3", "5 lines, as before"."""
    old, new = len(before.splitlines()), len(after.splitlines())
    if old == new:
        return sentence("as_long_as_before", lines=lines_in_words(before))
    return sentence("line_becomes", after=new) if old == 1 else sentence("lines_become", before=old, after=new)
