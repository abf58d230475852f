"""What a change would do to a file, shown before it is made."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from difflib import unified_diff

from chat.tools.tool import ToolContext
from toolsupport.core.errors import NotFound, ToolError

DIFF_LINES = 400
NO_FILE = "no file"


def current(context: ToolContext, path: str) -> str | None:
    """The text of a file that is to be changed; None where there is no file yet. Raises ToolError for a binary one."""
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
    """A unified diff, cut with a note where it is long."""
    old, new = _lines(before or ""), _lines(after)
    lines = list(unified_diff(old, new, path if before is not None else "(new file)", path, lineterm=""))
    if len(lines) > DIFF_LINES:
        lines = [*lines[:DIFF_LINES], f"… and {len(lines) - DIFF_LINES} more lines"]
    return "\n".join(lines)


def _lines(text: str) -> list[str]:
    """The lines as programs see them: other signs that break lines for people alone are not to hide a change."""
    return text.replace("\r\n", "\n").removesuffix("\n").split("\n") if text else []


def basis_of(before: str | None) -> str:
    """The digest of what stands in a file, as `current` gives it."""
    return NO_FILE if before is None else hashlib.sha256(before.encode()).hexdigest()


def only_over(context: ToolContext, path: str, basis: str, content: str) -> Iterator[bytes]:
    """The bytes of a file that may only replace what has this basis.

    The workspace asks for them when no other writer is at work, and raises what is raised here: ToolError.
    """
    if basis_of(current(context, path)) != basis:
        raise ToolError(
            f"Nothing was written: {path!r} changed after this change of it was prepared. "
            "Read the file again, then ask for the change anew."
        )
    yield content.encode()


def lines_in_words(text: str) -> str:
    """How long a text is: "1 line", "14 lines"."""
    count = len(text.splitlines())
    return f"{count} line{'' if count == 1 else 's'}"
