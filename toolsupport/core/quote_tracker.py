"""Tracks whether the end of an answer stands in a fence of code, or in a quote of its line."""

from __future__ import annotations

import re

from toolsupport.core.scanner import Steps, TextSource

FENCE = re.compile(r"[ \t]{0,3}(`{3,}(?!.*`)|~{3,})")  # a backquote after them makes it code within a line
PAIRS = {"`": "`", '"': '"', "“": "”", "«": "»", "„": "“"}
ANY_QUOTE = re.compile(f"[{''.join({*PAIRS, *PAIRS.values()})}]")
LONGEST_HEAD = 24  # characters at the beginning of a line that show a fence
CALL = "\0"  # stands for a call at the beginning of a line
APOSTROPHES = frozenset("'‘’")
LOOK_AHEAD = 300  # characters in which a quote that was opened before a mark is looked for


class QuoteTracker:
    """Tracks the end of the answer so far: in a fence, or in a quote of its line."""

    __slots__ = ("_fence", "_head", "_open", "last", "unclosed")

    def __init__(self) -> None:
        # `unclosed`: a fence in which another one with a language began, so that its own end is missing.
        self._fence = self._head = self.last = self.unclosed = ""
        self._open: dict[str, int] = dict.fromkeys(PAIRS, 0)

    def add(self, text: str) -> None:
        first, *others = text.split("\n")
        self._grow(first)
        for line in others:
            self._end_line()
            self._grow(line)
        self.last = text[-1:] or self.last

    def add_call(self, raw: str) -> None:
        """Add a call: what it holds opens nothing, but text after it on its line does not begin the line."""
        self._head = "" if raw.endswith("\n") else CALL
        self._open = dict.fromkeys(PAIRS, 0)
        self.last = raw[-1:]

    @property
    def fence(self) -> str:
        """Return the backquotes of the open fence, "" if none is."""
        found = FENCE.match(self._head)
        return self._fence or (found[1] if found else "")

    @property
    def begins_line(self) -> bool:
        return not self._head.strip()

    @property
    def awaited(self) -> str:
        """Return the closer of the open quote, "" if none is."""
        return next((end for begin, end in PAIRS.items() if self._open[begin]), "")

    def _grow(self, piece: str) -> None:
        if len(self._head) < LONGEST_HEAD:
            self._head = (self._head + piece)[:LONGEST_HEAD]
        if not ANY_QUOTE.search(piece):
            return
        for begin, end in PAIRS.items():
            opened = self._open[begin] + piece.count(begin)
            self._open[begin] = opened % 2 if begin == end else max(0, opened - piece.count(end))

    def _end_line(self) -> None:
        found = FENCE.match(self._head)
        if found and not self._fence:
            self._fence = found[1]
        elif found and found[1].startswith(self._fence):
            named = self._head[found.end() :].strip()
            self._fence, self.unclosed = (self._fence, self._fence) if named else ("", self.unclosed)
        self._head = ""
        self._open = dict.fromkeys(PAIRS, 0)

    def holds(self, source: TextSource) -> Steps[bool]:
        """Return whether the mark that was just taken from the source is only quoted."""
        if self.fence:
            return True
        if self.last in APOSTROPHES:
            yield from source.ready(1)
            return source.peek() in APOSTROPHES
        end = self.awaited
        while end:
            ahead = source.buffer[source.at : source.at + LOOK_AHEAD].partition("\n")
            if end in ahead[0] or ahead[1] or source.ended or len(ahead[0]) >= LOOK_AHEAD:
                return end in ahead[0]
            yield
        return False
