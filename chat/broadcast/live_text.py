"""Measures text that grows while a reply streams in, in the units of the page's script."""

from __future__ import annotations

import time


def utf16_length(text: str) -> int:
    """Return the length in UTF-16 code units, as `length` does in JavaScript."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


class LiveText:
    """A growing text. `append` returns the offset (UTF-16 code units) at which the new piece begins."""

    __slots__ = ("_pieces", "length", "written")

    def __init__(self, text: str = "") -> None:
        self._pieces = [text]
        self.length = utf16_length(text)
        self.written = 0

    def append(self, piece: str) -> int:
        offset = self.length
        self._pieces.append(piece)
        self.length += utf16_length(piece)
        return offset

    @property
    def text(self) -> str:
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0] if self._pieces else ""

    @property
    def grew(self) -> bool:
        """Return whether text was added since the last call of `mark_written`."""
        return self.length > self.written

    def mark_written(self) -> None:
        self.written = self.length


class ThinkingTime:
    """Measures a model's thinking before its answer, in milliseconds (None: none, or not finished).

    `since` is a time of the monotonic clock.
    """

    __slots__ = ("_since", "ms")

    def __init__(self, since: float | None = None) -> None:
        self._since = since
        self.ms: int | None = None

    def begin(self) -> None:
        self._since = time.monotonic() if self._since is None else self._since

    def end(self) -> None:
        if self._since is not None and self.ms is None:
            self.ms = round((time.monotonic() - self._since) * 1000)
