"""Chooses which messages of a long branch a page shows first, and where the earlier ones begin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

# Messages of one window; it begins at a question, so it may have some more.
SIZE = 50


@dataclass(frozen=True, slots=True)
class MessageWindow:
    """A part of a branch: the last messages, or those from `since` on, before `until` (ids; 0: not set)."""

    since: int = 0
    until: int = 0


@dataclass(frozen=True, slots=True)
class WindowBounds:
    """The part of a branch that is shown, as positions, and the message (id) where the part before it begins."""

    start: int
    end: int
    earlier: int | None


def bounds(ids: Sequence[int], questions: Sequence[bool], window: MessageWindow) -> WindowBounds:
    """Return the part of the branch `ids` that a window shows; `questions` marks the messages of a person.

    An id that is not on the branch counts as not set.
    """
    end = ids.index(window.until) if window.until in ids else len(ids)
    start = ids.index(window.since) if window.since in ids[:end] else _start(questions, end)
    return WindowBounds(start, end, ids[_start(questions, start)] if start else None)


def _start(questions: Sequence[bool], end: int) -> int:
    start = max(0, end - SIZE)
    while start > 0 and not questions[start]:
        start -= 1
    return start
