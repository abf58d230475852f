"""Finds calls in tags that ended too early: the text after them contains a stray end of a value.

A value between tags may hold any text, also the marks that close its own call. Then the call seems to end within the
value, and the real end of the value is left over. Whether the value was meant to be longer cannot be known, so no such
call is made.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from toolsupport.core.events import CallReady
from toolsupport.core.scanner import MarkerSet

AMBIGUOUS = (
    "It is not clear where a value of this call ends, because it holds a closing tag of the call itself. The call did"
    " not run. Write it again without such tags in a value, or write the value in several smaller calls."
)
NO_ENDS = MarkerSet(())
QUOTES = frozenset("`'\"“”‘’")


@dataclass(slots=True)
class LoneEnds:
    """The calls whose values may hold any text, and the text after the first of them."""

    _calls: list[tuple[int, CallReady, MarkerSet]] = field(default_factory=list)
    _text: list[str] = field(default_factory=list)
    _length: int = 0

    def call(self, call: CallReady, value_ends: MarkerSet) -> None:
        self.text("\0")  # no mark stands on both sides of a call
        if value_ends.markers:
            self._calls.append((self._length, call, value_ends))

    def text(self, piece: str) -> None:
        if self._calls:
            self._text.append(piece)
            self._length += len(piece)

    def found(self) -> list[CallReady]:
        """Return the calls that are followed by a stray end of a value."""
        text = "".join(self._text)
        last = {ends: _last_end(text, ends) for ends in {ends for _, _, ends in self._calls}}
        return [call for place, call, ends in self._calls if place <= last[ends]]


def _last_end(text: str, ends: MarkerSet) -> int:
    """Return the position of the last of these marks, -1 if none; a quoted one is only mentioned."""
    last = -1
    for found in ends.all(text):
        around = text[found.start() - 1 : found.start()], text[found.end() : found.end() + 1]
        if not QUOTES.issuperset(around):
            last = found.start()
    return last
