"""Lays out a unified diff for people: line numbers, changed words, and gaps between places."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

PLACE = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
LEFT_OUT = re.compile(r"… ([\d,]{1,12}) more lines …")
WORD = re.compile(r"\w+|\s+|[^\w\s]")
# Longest line whose changed words are marked.
MOST_CHARACTERS = 2_000
KINDS = {"+": "added", "-": "removed", " ": "same", "": "same"}
SIGNS = {"added": "+", "removed": "−"}

Piece = tuple[str, bool]


@dataclass(frozen=True, slots=True)
class DiffRow:
    """A line of a diff with its numbers; `pieces` are parts of its text, True for changed ones. A gap has only text."""

    kind: str
    text: str
    old: int | None = None
    new: int | None = None
    marks: tuple[Piece, ...] = ()

    @property
    def sign(self) -> str:
        return SIGNS.get(self.kind, "")

    @property
    def pieces(self) -> tuple[Piece, ...]:
        return self.marks or ((self.text, False),)


@dataclass(frozen=True, slots=True)
class DiffLayout:
    """The rows of a diff of one file."""

    path: str
    rows: tuple[DiffRow, ...] = field(default=())

    @property
    def added(self) -> int:
        return sum(row.kind == "added" for row in self.rows)

    @property
    def removed(self) -> int:
        return sum(row.kind == "removed" for row in self.rows)


def layout(diff: str) -> DiffLayout:
    """Return the rows of a unified diff, in linear time. A text that is not a diff becomes plain rows."""
    lines = diff.split("\n")
    has_head = len(lines) > 1 and lines[0].startswith("--- ") and lines[1].startswith("+++ ")
    path = lines[1][4:] if has_head else ""
    return DiffLayout(path, tuple(_marked(list(_numbered(lines[2:] if has_head else lines)))))


def _numbered(lines: Iterable[str]) -> Iterator[DiffRow]:
    old, new, last = 1, 1, ""
    for line in lines:
        place = PLACE.match(line)
        if place is not None:
            # A side without lines is numbered by the line before it.
            start = int(place[1]) + (place[2] == "0")
            if start > old:
                yield DiffRow("gap", f"{start - old:,} unchanged line{'' if start - old == 1 else 's'}")
            old, new = start, int(place[3]) + (place[4] == "0")
            continue
        kind = KINDS.get(line[:1])
        if kind is None:
            yield DiffRow("gap", line)
            left_out = LEFT_OUT.fullmatch(line)
            count = int(left_out[1].replace(",", "")) if left_out else 0
            old, new = (old + count, new) if last == "removed" else (old, new + count)
            continue
        last = kind
        yield DiffRow(kind, line[1:], old if kind != "added" else None, new if kind != "removed" else None)
        old, new = old + (kind != "added"), new + (kind != "removed")


def _marked(rows: list[DiffRow]) -> Iterator[DiffRow]:
    """Mark the changed words where removed lines are followed by the added ones that replace them."""
    at = 0
    while at < len(rows):
        removed = _run(rows, at, "removed")
        added = _run(rows, at + len(removed), "added") if removed else []
        if not added:
            yield from removed or rows[at : at + 1]
            at += max(1, len(removed))
            continue
        pairs = [_compared(old, new) for old, new in zip(removed, added, strict=False)]
        yield from [old for old, _ in pairs] + removed[len(pairs) :]
        yield from [new for _, new in pairs] + added[len(pairs) :]
        at += len(removed) + len(added)


def _run(rows: Sequence[DiffRow], start: int, kind: str) -> list[DiffRow]:
    end = start
    while end < len(rows) and rows[end].kind == kind:
        end += 1
    return list(rows[start:end])


def _compared(old: DiffRow, new: DiffRow) -> tuple[DiffRow, DiffRow]:
    """Mark the words between the equal words at both ends of two lines; none if they have no word in common."""
    if max(len(old.text), len(new.text)) > MOST_CHARACTERS:
        return old, new
    before, after = WORD.findall(old.text), WORD.findall(new.text)
    shorter, first, last = min(len(before), len(after)), 0, 0
    while first < shorter and before[first] == after[first]:
        first += 1
    while last < shorter - first and before[-1 - last] == after[-1 - last]:
        last += 1
    if not any(word.strip() for word in before[:first] + before[len(before) - last :]):
        return old, new
    return _split(old, before, first, last), _split(new, after, first, last)


def _split(row: DiffRow, words: Sequence[str], first: int, last: int) -> DiffRow:
    end = len(words) - last
    parts = ("".join(words[:first]), False), ("".join(words[first:end]), True), ("".join(words[end:]), False)
    return replace(row, marks=tuple(part for part in parts if part[0]))
