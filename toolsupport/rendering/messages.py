"""Formats the blocks of a message, within the processor time that a message may have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toolsupport.core.markdown_blocks import split
from toolsupport.rendering import markdown
from toolsupport.rendering.code_colors import CodeColors
from toolsupport.rendering.format_tasks import LONGEST, LONGEST_BLOCK, TOO_COSTLY, TOO_LONG, plain
from toolsupport.work_pool.cpu_time_limit import CpuBudget, Interrupted, used

# Seconds of one block and of all blocks of a message: less than the task has, so that it ends on its own.
SECONDS, SECONDS_OF_ALL = 0.5, 0.9
# Padded tables make more HTML than text; a page has many messages.
LARGEST_HTML = 4_000_000
MOST_DEFINITIONS = 500

Progress = dict[str, Any]


def render(text: str) -> str:
    """Return the HTML of a whole message. Never raises, whatever the text."""
    if len(text) > LONGEST:
        return plain(text, TOO_LONG)
    html = "".join(render_blocks(split(text), {})["html"])
    # A text of link definitions only would be an empty answer.
    return html if html.strip() or not text.strip() else plain(text)


def render_blocks(blocks: Sequence[str], progress: Progress) -> dict[str, Any]:
    """Return {"html": one for each block, "progress": what the next blocks of the message need}."""
    began = used() - progress.get("seconds", 0.0)
    references = progress.get("references", {})
    for block in blocks:
        if len(references) < MOST_DEFINITIONS:
            markdown.define(block, references)
    shared = _Shared(progress, references)
    html = [shared.render(block, SECONDS_OF_ALL - (used() - began)) for block in blocks]
    return {"html": html, "progress": shared.progress(used() - began)}


class _Shared:
    """What the blocks of a message share."""

    def __init__(self, progress: Progress, references: dict[str, Any]) -> None:
        self._references = references
        self._outline = markdown.Outline(*progress.get("outline", ()))
        self._colors = CodeColors(*progress.get("colors", ()))
        self._size = progress.get("size", 0)
        self._notes = set(progress.get("notes", ()))

    def progress(self, seconds: float) -> Progress:
        return {
            "references": self._references,
            "outline": [self._outline.highest, self._outline.before],
            "colors": [self._colors.characters, self._colors.seconds],
            "size": self._size,
            "notes": sorted(self._notes),
            "seconds": seconds,
        }

    def render(self, block: str, left: float) -> str:
        """Return the HTML of a block; the plain form if it is too long, or nothing is left for it."""
        if len(block) > LONGEST_BLOCK:
            return self._plain(block, TOO_LONG)
        if left <= 0 or self._size > LARGEST_HTML:
            return self._plain(block, TOO_COSTLY)
        # A block that defines links would add them, beyond the number that counts.
        references = dict(self._references) if "]:" in block else self._references
        env = {"references": references, "outline": self._outline, "colors": self._colors}
        try:
            with CpuBudget(min(SECONDS, left)):
                html = markdown.render(block, env)
        except (Interrupted, RecursionError):
            return self._plain(block, TOO_COSTLY)
        self._size += len(html)
        return html if self._size <= LARGEST_HTML else self._plain(block, TOO_COSTLY)

    def _plain(self, block: str, note: str) -> str:
        """Return the plain form; a message has each note once."""
        shown = "" if note in self._notes else note
        self._notes.add(note)
        return plain(block, shown) if block.strip() else ""
