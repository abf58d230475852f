"""Splits growing Markdown into blocks that no later text can change.

A block may hold more than one element of Markdown: as long as its end is uncertain, it continues. A list, for
example, ends only at a line that can belong to none of its items. What is inside a block never decides about another
one, with one exception: a definition of a link counts for the whole text, also for what stands before it.
"""

from __future__ import annotations

import re

FENCE = re.compile(r"(`{3,})[^`]*$|(~{3,})")
HEADING = re.compile(r"#{1,6}(?:[ \t]|$)")
MARKER = re.compile(r"(?:[-+*]|\d{1,9}[.)])(?: {1,4}(?! )| |\t|$)")
# A rule or a quotation that stands left of a list ends it without a blank line.
ENDS_LIST = re.compile(r">|([-_*])(?:[ \t]*+\1){2,}+[ \t]*+$")
# Text that may still become one of the above when more of its line arrives.
OPEN_FENCE = re.compile(r"`{1,2}$|`{3,}[^`]*$|~{1,2}$")
OPEN_HEADING = re.compile(r"#{1,6}$")
OPEN_MARKER = re.compile(r"(?:[-+*]|\d{1,9}[.)]?)$")
# Deeper indentation belongs to what came before, or is code.
DEEPEST = 3
# A line is judged by this many characters, so that the time is bounded however slowly a long one arrives.
JUDGED = 200


class BlockSplitter:
    """`feed` returns the blocks that are finished; `rest` is the text after them."""

    def __init__(self) -> None:
        self._open_line = ""
        self._pieces: list[str] = []
        # Whether it is certain already that the open line belongs to the open block.
        self._decided = False
        self._begin()

    def _begin(self) -> None:
        self._lines: list[str] = []
        self._fence = ""
        # Lines that are indented by as much belong to the open item of a list; 0 outside lists.
        self._item = 0
        self._filled = self._after_blank = self._ended = False

    def feed(self, piece: str) -> list[str]:
        """Add text; return the blocks that it finishes."""
        if self._decided and "\n" not in piece:
            self._pieces.append(piece)
            return []
        text = "".join((self._open_line, *self._pieces, piece))
        found: list[str] = []
        *lines, self._open_line = text.split("\n")
        self._pieces = []
        for line in lines:
            found += self._cut(f"{line}\n", complete=True)
            self._take(f"{line}\n")
            self._decided = False
        if self._open_line and not self._decided:
            found += self._cut(self._open_line, complete=False)
        return found

    @property
    def rest(self) -> str:
        """Return the text that is not in a finished block."""
        return "".join((*self._lines, self._open_line, *self._pieces))

    def _cut(self, line: str, complete: bool) -> list[str]:
        """Return the open block if this line begins another one."""
        if self._decided:
            return []
        begins = self._begins(line[:JUDGED].rstrip("\r\n"), complete or len(line) >= JUDGED)
        self._decided = begins is not None
        if not begins:
            return []
        block = "".join(self._lines)
        self._begin()
        return [block]

    def _begins(self, line: str, complete: bool) -> bool | None:
        """Return whether a line begins a block; None if that depends on the rest of the line."""
        if self._fence or not self._filled:
            return False
        words = line.lstrip(" \t")
        if not words:
            return False if complete else None
        if self._ended:
            return True
        return self._reaches(line) and self._interrupts(words, complete)

    def _interrupts(self, words: str, complete: bool) -> bool | None:
        """Return whether a line with these words cannot belong to the open block."""
        if self._after_blank and not self._item:
            return True
        open_forms = (OPEN_FENCE, OPEN_HEADING, OPEN_MARKER) if self._after_blank else (OPEN_FENCE, OPEN_HEADING)
        if not complete and any(form.match(words) for form in open_forms):
            return None
        if FENCE.match(words) or HEADING.match(words):
            return True
        return self._after_blank and not MARKER.match(words)

    def _reaches(self, line: str) -> bool:
        """Return whether a line is indented so little that it can begin a block."""
        indent = indent_of(line)
        return indent <= DEEPEST and line[indent : indent + 1] != "\t" and (not self._item or indent < self._item)

    def _take(self, line: str) -> None:
        """Add a whole line to the open block."""
        self._lines.append(line)
        words = line.strip(" \t\r\n")
        if self._fence:
            self._ended = self._reaches(line) and len(words) >= len(self._fence) and not words.strip(self._fence[0])
            self._fence = "" if self._ended else self._fence
        elif not words:
            self._after_blank = self._filled
        else:
            self._filled, self._after_blank = True, False
            self._read(line[:JUDGED].rstrip("\r\n"))

    def _read(self, line: str) -> None:
        """Note what a line that is not blank begins."""
        words = line.strip(" \t")
        if not self._reaches(line):
            return
        if opened := FENCE.match(words):
            self._fence = opened.group(1) or opened.group(2)
        elif HEADING.match(words):
            self._ended = True
        elif ENDS_LIST.match(words):
            self._item = 0
        elif marker := MARKER.match(words):
            self._item = indent_of(line) + max(marker.end(), len(marker.group().strip()) + 1)


def indent_of(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def split(text: str) -> list[str]:
    """Return the blocks of a whole text, which joined are the text."""
    splitter = BlockSplitter()
    blocks = splitter.feed(text)
    return [*blocks, splitter.rest] if splitter.rest else blocks
