"""Finds where a JSON value that is still being written ends, in sound JSON and in most that is not.

In: a source that stands at `{` or `[`, and the markers that may end the value. Out: the source stands after the last
bracket, before such a marker, or at the end of the text; the observer gets each part while it is read.
Callers: the formats whose arguments are JSON; `read_json` then reads what was walked.
- A marker inside a string ends nothing: a file may hold `</tool_call>`.
- Where a string seems never to end, a marker inside it was the end after all. The next quote settles that, or the
  end of the text; until then the observer gets nothing after the marker, so what it showed never changes.
- Linear in the text, and no recursion: callers compare `deepest` with DEEPEST before they read the value.
It never builds a value and repairs nothing.
"""

from __future__ import annotations

import re
from typing import Protocol

from toolsupport.core.scanner import MarkerSet, Steps, TextSource

DEEPEST = 64
QUOTES = ('"', "'")
OPENING, CLOSING = frozenset("{["), frozenset("}]")
BEFORE_A_VALUE = frozenset("{[,:")
BEHIND_A_STRING = frozenset(",:}]")
# The text after the mark of another call and a few blanks; before any other text the mark is only mentioned.
CALL_BEGINS = frozenset("{[<`")
BLANKS = 4
# A mark that begins like this stands in many texts, so inside a string it ends nothing: a word, a fence, a prompt.
PROSE = re.compile(r"[\w`>]")
BARE = re.compile(r"""[^"'{}\[\],:<\s]*""")


class WalkObserver(Protocol):
    """Receives each part of a value while it is read. `depth` is the number of open brackets (after an opening one)."""

    def mark(self, character: str, depth: int) -> None: ...

    def string_began(self, depth: int) -> None: ...

    def string(self, piece: str, depth: int) -> None: ...

    def string_ended(self, depth: int) -> None: ...

    def bare(self, piece: str, depth: int) -> None: ...

    def strange(self) -> None:
        """The rest is not JSON."""


class JsonWalk:
    """Consumes one value, from `{` or `[` to its end.

    `settled`: nothing of the record can be unread any more. After the end `whole` is True if all brackets were closed,
    `cut_off` if the text ended within a value.
    """

    def __init__(
        self, source: TextSource, ends: MarkerSet, listener: WalkObserver, openers: frozenset[str] = frozenset()
    ) -> None:
        """`openers` are those of `ends` that begin another call."""
        self._source = source
        self._openers = openers
        self._ends = ends
        self._first = ends.first_characters
        self._inside = MarkerSet(mark for mark in ends.markers if not PROSE.match(mark))
        self._first_inside = self._inside.first_characters
        special = re.escape("".join(sorted(self._first_inside)))
        self._unmarked = {quote: re.compile(rf"[^{quote}\\{special}]*") for quote in QUOTES}
        self._listener = listener
        self._before = ""
        self._suspect = -1
        self._doubtful: list[str] = []
        self.cut_off = False
        self.settled = True
        self.depth = self.deepest = 0

    @property
    def whole(self) -> bool:
        return self.depth == 0

    def value(self) -> Steps[None]:
        """Stop after the last bracket, before a marker that ends the value, or at the end of the text."""
        source = self._source
        while True:
            character = yield from source.space()
            self.cut_off = not character and self.cut_off
            if not character or (character in self._first and (yield from source.marker(self._ends))):
                return
            # Models of the Hermes format write Python's single quotes. After anything else ' is no quote.
            if character == '"' or (character == "'" and self._before in BEFORE_A_VALUE):
                if not (yield from self._string(character)):
                    return
            elif character in OPENING or character in CLOSING:
                self._bracket(character)
                if self.depth <= 0:
                    return
            else:
                yield from self._other(character)

    def _bracket(self, character: str) -> None:
        self._source.take(self._source.at + 1)
        self.depth += 1 if character in OPENING else -1
        self.deepest = max(self.deepest, self.depth)
        self._listener.mark(character, self.depth)
        self._before = character
        self.cut_off = False

    def _other(self, character: str) -> Steps[None]:
        source = self._source
        if character in ",:":
            source.take(source.at + 1)
            self._listener.mark(character, self.depth)
            self._before = character
            self.cut_off = False
            return
        # Numbers and words, and what is no JSON at all: keys without quotes, `True`, a stray `;`.
        first = source.take(source.at + 1)
        self._listener.bare(first + (yield from source.through(BARE)), self.depth)
        self._before = first
        self.cut_off = True

    def _string(self, quote: str) -> Steps[bool]:
        """Return False if the string never ended and a marker inside it was the end."""
        source, listener = self._source, self._listener
        source.take(source.at + 1)
        if quote == "'":
            listener.strange()
        listener.string_began(self.depth)
        self._suspect, self._doubtful = -1, []
        while True:
            character = yield from self._plain(quote)
            if not character:
                self.cut_off = self._suspect < 0
                return not self._gave_up_at_suspect()
            if character == "\\":
                yield from self._escape()
            elif character in self._first_inside:
                yield from self._marker_inside()
            elif character != quote:
                self._pass_on(source.take(source.at + 1))
            elif (yield from self._closes(quote)):
                self._before = quote
                self.cut_off = False
                return self._suspect < 0 or not self._gave_up_at_suspect()

    def _plain(self, quote: str) -> Steps[str]:
        """Consume ordinary characters; return the next character, "" at the end."""
        source = self._source
        while True:
            end = self._unmarked[quote].match(source.buffer, source.at).end()  # type: ignore[union-attr]  # matches everywhere
            if end > source.at:
                self._pass_on(source.take(end))
            if source.left:
                return source.peek()
            if source.ended:
                return ""
            yield

    def _escape(self) -> Steps[None]:
        """Consume a whole escape; both halves of a surrogate pair."""
        source = self._source
        yield from source.ready(2)
        size = 6 if source.buffer[source.at + 1 : source.at + 2] == "u" else 2
        if size == 6 and (yield from source.ready(6)) and source.buffer[source.at + 2 : source.at + 4].lower() in HIGH:
            yield from source.ready(7)
            if source.buffer[source.at + 6 : source.at + 7] == "\\":
                yield from source.ready(8)
            if source.buffer[source.at + 6 : source.at + 8] == "\\u":
                yield from source.ready(12)
                size = 12
        self._pass_on(source.take(min(source.at + size, len(source.buffer))))

    def _marker_inside(self) -> Steps[None]:
        """Note a possible marker, or its first character. A marker before an escape is quoted text."""
        source = self._source
        found = yield from source.marker(self._inside)
        size = len(found) or 1
        if found and self._suspect < 0:
            yield from source.ready(size + BLANKS + 1)
            following = source.buffer[source.at + size : source.at + size + BLANKS + 1]
            begins = following.lstrip()[:1]
            if following[:1] != "\\" and (found not in self._openers or not begins or begins in CALL_BEGINS):
                self._suspect = source.recorded
        self._pass_on(source.take(source.at + size))

    def _pass_on(self, piece: str) -> None:
        """Pass on a part of a string at once, unless a marker inside it may be the end."""
        if self._suspect < 0:
            self._listener.string(piece, self.depth)
        else:
            self._doubtful.append(piece)

    def _trust(self) -> None:
        self._suspect, doubtful, self._doubtful = -1, self._doubtful, []
        for piece in doubtful:
            self._listener.string(piece, self.depth)

    def _closes(self, quote: str) -> Steps[bool]:
        """Consume a quote; return True if the string ends here. An apostrophe within single quotes is not an end."""
        source = self._source
        place = source.recorded
        source.take(source.at + 1)
        if quote == '"' and self._suspect < 0:
            self._listener.string_ended(self.depth)
            return True
        self.settled = False
        following = yield from source.space()
        self.settled = True
        sound = not following or following in BEHIND_A_STRING
        if sound:
            self._trust()
        if quote == '"':
            self._listener.string_ended(self.depth)
            return True
        source.back_to(place + 1)
        if sound:
            self._listener.string_ended(self.depth)
        # Under suspicion the next quote decides, also an apostrophe: else each mark could be read to the reply's end.
        return sound or self._suspect >= 0

    def _gave_up_at_suspect(self) -> bool:
        if self._suspect >= 0:
            self._listener.strange()
            self._source.back_to(self._suspect)
            self.cut_off = False
        return self._suspect >= 0


HIGH = frozenset({"d8", "d9", "da", "db"})
