"""Reads text that arrives in pieces: tracks unread text, consumed text, and the markers in it.

In: pieces of the text of one reply (`push`), then `ended = True`. Out: what a grammar takes from it.
Callers: every call format (core/formats), the JSON walk and the reader of reasoning. Each is a generator that
yields where it needs more text, and is resumed when more has come.
- A decision depends on the whole text, never on how it was cut: wait while a marker may still become a longer one.
- Each character is looked at once, but for the few at the end that may begin a marker: linear in the text.
- Taken text is recorded until `cut`; `back_to` unreads it, so that what was no call is shown as text, unchanged.
It never drops or changes a character, and has no notion of calls, tools or JSON.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from functools import lru_cache
from typing import TypeVar

Result = TypeVar("Result")
Steps = Generator[None, None, Result]

SPACE = re.compile(r"\s*")


@lru_cache(maxsize=1024)
def _patterns(markers: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str], frozenset[str]]:
    """Return what finds any marker, what finds its first character, and the beginnings of all markers.

    Cached: each reply has readers of its own, which look for the same few sets of markers.
    """
    return (
        re.compile("|".join(map(re.escape, markers)) or r"(?!)"),
        re.compile("|".join(sorted({re.escape(marker[0]) for marker in markers})) or r"(?!)"),
        frozenset(marker[:size] for marker in markers for size in range(len(marker))),
    )


class MarkerSet:
    """A set of markers that are searched for all at once; the longest match wins."""

    def __init__(self, markers: Iterable[str]) -> None:
        self.markers = tuple(sorted(markers, key=len, reverse=True))
        self.longest = max(map(len, self.markers), default=0)
        self._any, self._first, self._beginnings = _patterns(self.markers)

    @property
    def first_characters(self) -> frozenset[str]:
        return frozenset(marker[0] for marker in self.markers)

    def search(self, text: str, at: int) -> re.Match[str] | None:
        return self._any.search(text, at)

    def all(self, text: str) -> Iterator[re.Match[str]]:
        return self._any.finditer(text)

    def last(self, text: str) -> re.Match[str] | None:
        """Return the last marker in the text."""
        return next(iter(deque(self.all(text), 1)), None)

    def match(self, text: str, at: int) -> str:
        """Return the marker at this position, or ""."""
        found = self._any.match(text, at)
        return found.group() if found else ""

    def begins(self, text: str) -> bool:
        """Return True if more text could make a (longer) marker of this one."""
        return text in self._beginnings

    def unsure_from(self, text: str, at: int) -> int:
        """Return where the end of the text may be the beginning of a marker; the text's length if nowhere."""
        start = max(at, len(text) - self.longest + 1)
        for possible in self._first.finditer(text, start):
            if text[possible.start() :] in self._beginnings:
                return possible.start()
        return len(text)


class TextSource:
    """The text of one reply. Consumed text is recorded until the record is cut or given back."""

    def __init__(self) -> None:
        self.buffer = ""
        self.at = 0
        self.ended = False
        self._record: list[str] = []
        self.recorded = 0

    def push(self, text: str) -> None:
        self.buffer = self.buffer[self.at :] + text
        self.at = 0

    def unread(self, text: str) -> None:
        """Put this text back before the rest."""
        self.buffer, self.at = text + self.buffer[self.at :], 0

    @property
    def left(self) -> int:
        return len(self.buffer) - self.at

    def peek(self) -> str:
        """Return the next character, "" if none has arrived (yet)."""
        return self.buffer[self.at : self.at + 1]

    def skip(self, to: int) -> str:
        """Remove the text before that position of the buffer, unrecorded, and return it."""
        piece, self.at = self.buffer[self.at : to], to
        return piece

    def take(self, to: int) -> str:
        """Consume the text up to that position of the buffer."""
        piece = self.skip(to)
        self._record.append(piece)
        self.recorded += len(piece)
        return piece

    def cut(self) -> str:
        """Return the text consumed since the last cut."""
        text = "".join(self._record)
        self._record, self.recorded = [], 0
        return text

    def since(self, recorded: int) -> str:
        """Return the text consumed after that length of the record."""
        wanted = self.recorded - recorded
        pieces: list[str] = []
        for piece in reversed(self._record):
            if wanted <= 0:
                break
            pieces.append(piece[-wanted:])
            wanted -= len(piece)
        return "".join(reversed(pieces))

    def back_to(self, recorded: int) -> None:
        """Put back the text consumed after that length of the record."""
        pieces: list[str] = []
        while self.recorded > recorded:
            pieces.append(self._record.pop())
            self.recorded -= len(pieces[-1])
        text = "".join(reversed(pieces))
        kept = recorded - self.recorded
        if kept:
            self._record.append(text[:kept])
            self.recorded = recorded
        unread = len(text) - kept
        if unread > self.at:
            self.buffer, self.at = text[kept:] + self.buffer[self.at :], unread
        self.at -= unread

    def ready(self, characters: int) -> Steps[bool]:
        """Wait for this many characters; return False if the text ends earlier."""
        while self.left < characters:
            if self.ended:
                return False
            yield
        return True

    def space(self) -> Steps[str]:
        """Consume all white space; return the character after it, "" at the end."""
        while True:
            end = SPACE.match(self.buffer, self.at).end()  # type: ignore[union-attr]  # matches everywhere
            if end > self.at:
                self.take(end)
            if self.left:
                return self.peek()
            if self.ended:
                return ""
            yield

    def marker(self, markers: MarkerSet) -> Steps[str]:
        """Return the marker at this position without consuming it, or "" as soon as none is possible."""
        while not self.ended and markers.begins(self.buffer[self.at : self.at + markers.longest]):
            yield
        return markers.match(self.buffer, self.at)

    def through(self, pattern: re.Pattern[str]) -> Steps[str]:
        """Consume the characters that the pattern (a class with a star) allows; return them as one string."""
        pieces = []
        while True:
            found = pattern.match(self.buffer, self.at)
            pieces.append(self.take(found.end() if found else self.at))
            if self.left or self.ended:
                return "".join(pieces)
            yield

    def word(self, pattern: re.Pattern[str], most: int) -> Steps[str]:
        """Consume the characters that the pattern (a class with a star) allows, up to a maximum number."""
        while True:
            end = pattern.match(self.buffer, self.at).end()  # type: ignore[union-attr]  # matches everywhere
            if end < len(self.buffer) or self.ended or end - self.at > most:
                return self.take(min(end, self.at + most))
            yield

    def found(self, marker: MarkerSet) -> Steps[str]:
        """Consume the marker if one stands at this position."""
        found = yield from self.marker(marker)
        self.take(self.at + len(found))
        return found

    def repeated(self, mark: str) -> Steps[None]:
        """Consume repetitions of the mark that was just taken: some models open a call twice."""
        again, found, end = MarkerSet([mark]), mark, 0
        while found:
            end = self.recorded
            yield from self.space()
            found = yield from self.found(again)
        self.back_to(end)

    def closed(self, ends: MarkerSet) -> Steps[str]:
        """Consume the end mark if one stands at this position, and its repetitions: some models close a call twice."""
        first = found = yield from self.found(ends)
        while found and "`" not in found:  # the second of two fences opens another one
            end = self.recorded
            yield from self.space()
            found = yield from self.found(ends)
            if not found:
                self.back_to(end)
        return first
