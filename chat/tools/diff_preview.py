"""Previews how a call would change a file."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from difflib import unified_diff

from chat.tools.tool import ToolContext
from toolsupport.core.errors import NotFound, ToolError

DIFF_LINES = 400
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
        raise ToolError(f"{path!r} is not a text file.") from None


def diff(path: str, before: str | None, after: str) -> str:
    """Return a unified diff, cut with a note if it is long."""
    old, new = _lines(before or ""), _lines(after)
    lines = list(unified_diff(old, new, path if before is not None else "(new file)", path, lineterm=""))
    if len(lines) > DIFF_LINES:
        lines = [*lines[:DIFF_LINES], f"… and {len(lines) - DIFF_LINES} more lines"]
    return "\n".join(lines)


def _lines(text: str) -> list[str]:
    """Split into lines as programs do: other line-breaking characters must not hide a change."""
    return text.replace("\r\n", "\n").removesuffix("\n").split("\n") if text else []


def basis_of(before: str | None) -> str:
    """Return the digest of a file's content, as `current` returns it."""
    return NO_FILE if before is None else hashlib.sha256(before.encode()).hexdigest()


def only_over(context: ToolContext, path: str, basis: str, content: str) -> Iterator[bytes]:
    """Return a check that allows replacing a file only if it has this digest.

    The workspace calls it while no other writer is active, and passes on its error: ToolError.
    """
    if basis_of(current(context, path)) != basis:
        raise ToolError(
            f"Nothing was written: {path!r} changed after this change of it was prepared. "
            "Read the file again, then ask for the change anew."
        )
    yield content.encode()


def lines_in_words(text: str) -> str:
    """Return the length of a text: "1 line", "14 lines"."""
    count = len(text.splitlines())
    return f"{count} line{'' if count == 1 else 's'}"
