"""Text that grows while a reply streams in, measured as the page's script measures it."""

from __future__ import annotations


def utf16_length(text: str) -> int:
    """Length in UTF-16 code units: what `length` says in JavaScript."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


class LiveText:
    """A growing text. `append` gives the offset (UTF-16 code units) at which the new piece begins."""

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
        """Since `mark_written` was called last."""
        return self.length > self.written

    def mark_written(self) -> None:
        self.written = self.length
