"""Names the tasks that format messages, and the plain form for when the task gives nothing."""

from __future__ import annotations

from html import escape
from importlib.metadata import version

from toolsupport.work_pool.types import Task

FORMAT = Task("toolsupport.rendering.messages:render", cpu=1.0)
FORMAT_BLOCKS = Task("toolsupport.rendering.messages:render_blocks", cpu=1.0)
# Beyond this many characters a text, or a block of it, is shown plain; a longer text is not given to a worker.
LONGEST, LONGEST_BLOCK = 1_000_000, 100_000
TOO_LONG = "Shown as plain text: it is too long to be formatted."
TOO_COSTLY = "Shown as plain text: formatting it would take too long."
# HTML of another version is made again: the number counts our changes, the rest those of the libraries.
VERSION = " ".join(["3", *(version(name) for name in ("markdown-it-py", "Pygments", "nh3"))])


def plain(text: str, note: str = "") -> str:
    """Return a text as it is, with a note above it."""
    words = f"<p><em>{escape(note)}</em></p>" if note else ""
    return f'{words}<div class="toolong">{escape(text)}</div>'
