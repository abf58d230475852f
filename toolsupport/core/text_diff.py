"""Compares two texts line by line: in full, or by their changed region where that would take too long.

The equal beginning and end are cut off first, in linear time. `compared` is quadratic or worse in the number of lines
between them, so it runs in a worker unless they are `few`; `outlined` is linear.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import unified_diff

CONTEXT = 3
# Limits of a comparison, and of one line of it.
MOST_LINES, MOST_CHARACTERS = 400, 200_000
# Lines of one text times those of the other that are compared at once: at most some milliseconds.
FEW = 40_000
# Lines that an outline shows at each end of a change.
AT_EACH_END = 20
PLACE = re.compile(r"@@ -(\d+)(,\d+)? \+(\d+)(,\d+)? @@")


@dataclass(frozen=True, slots=True)
class TextChange:
    """A text `path` before (None: there is none) and after a change; `was` is the name of the old one, if another."""

    path: str
    before: str | None
    after: str
    was: str = ""


@dataclass(frozen=True, slots=True)
class ChangedRegion:
    """The lines between the equal beginning and end, with `lead` and `trail` equal lines around them.

    They begin at line `start`, counted from 0.
    """

    start: int
    old: Sequence[str]
    new: Sequence[str]
    lead: int
    trail: int

    @property
    def few(self) -> bool:
        return len(self.old) * len(self.new) <= FEW


def lines_of(text: str) -> list[str]:
    """Split into lines as programs do: other line-breaking characters must not hide a change."""
    return text.replace("\r\n", "\n").removesuffix("\n").split("\n") if text else []


def region(old: Sequence[str], new: Sequence[str]) -> ChangedRegion:
    """Return where two lists of lines differ."""
    shorter, first, last = min(len(old), len(new)), 0, 0
    while first < shorter and old[first] == new[first]:
        first += 1
    while last < shorter - first and old[-1 - last] == new[-1 - last]:
        last += 1
    lead, trail = min(first, CONTEXT), min(last, CONTEXT)
    ends = len(old) - last + trail, len(new) - last + trail
    return ChangedRegion(first - lead, old[first - lead : ends[0]], new[first - lead : ends[1]], lead, trail)


def is_short(change: TextChange) -> bool:
    """Return whether `compared` takes no more than some milliseconds."""
    return _region_of(change).few


def compared(path: str, before: str | None, after: str) -> str:
    """Return a unified diff, cut with a note if it is long."""
    return _cut(compared_lines(TextChange(path, before, after)))


def outlined(path: str, before: str | None, after: str) -> str:
    """Return the changed region as one replacement, of which the first and last lines are shown."""
    change = TextChange(path, before, after)
    removed, added = _changed_lines(_region_of(change))
    note = f"… Too large to compare line by line: {len(removed):,} lines are replaced by {len(added):,} lines."
    lines = replaced_lines(change, AT_EACH_END)
    return _cut([*lines[:2], note, *lines[2:]]) if lines else ""


def compared_lines(change: TextChange) -> list[str]:
    """Return all lines of a unified diff."""
    found = _region_of(change)
    written = list(unified_diff(found.old, found.new, *_names(change), n=CONTEXT, lineterm=""))
    return [line if number < 2 else _moved(line, found.start) for number, line in enumerate(written)]


def replaced_lines(change: TextChange, at_each_end: int | None = None) -> list[str]:
    """Return the lines of a diff that replaces the whole changed region; `at_each_end` shortens what is long."""
    found = _region_of(change)
    removed, added = _changed_lines(found)
    if not removed and not added:
        return []
    old, new = _names(change)
    first = found.start + 1
    return [
        f"--- {old}",
        f"+++ {new}",
        f"@@ -{first},{len(found.old)} +{first},{len(found.new)} @@",
        *(f" {line}" for line in found.old[: found.lead]),
        *_ends("-", removed, at_each_end),
        *_ends("+", added, at_each_end),
        *(f" {line}" for line in found.old[len(found.old) - found.trail :]),
    ]


def _changed_lines(found: ChangedRegion) -> tuple[Sequence[str], Sequence[str]]:
    ends = len(found.old) - found.trail, len(found.new) - found.trail
    return found.old[found.lead : ends[0]], found.new[found.lead : ends[1]]


def _region_of(change: TextChange) -> ChangedRegion:
    return region(lines_of(change.before or ""), lines_of(change.after))


def _names(change: TextChange) -> tuple[str, str]:
    return change.was or (change.path if change.before is not None else "(new file)"), change.path


def _moved(line: str, by: int) -> str:
    """Return a line with the numbers of a place counted from the beginning of the text; content begins otherwise."""
    found = PLACE.fullmatch(line)
    if found is None:
        return line
    old, old_count, new, new_count = found.groups(default="")
    return f"@@ -{int(old) + by}{old_count} +{int(new) + by}{new_count} @@"


def _ends(sign: str, lines: Sequence[str], most: int | None) -> list[str]:
    signed = [f"{sign}{line}" for line in lines]
    if most is None or len(lines) <= 2 * most:
        return signed
    return [*signed[:most], f"… {len(lines) - 2 * most:,} more lines …", *signed[-most:]]


def _cut(lines: list[str]) -> str:
    kept = lines[:MOST_LINES]
    if len(lines) > MOST_LINES:
        kept.append(f"… and {len(lines) - MOST_LINES} more lines")
    text = "\n".join(kept)
    left_out = len(text) - MOST_CHARACTERS
    return f"{text[:MOST_CHARACTERS]}\n… and {left_out:,} more characters" if left_out > 0 else text
