"""Recognises calls in tool results: an answer that quotes such a result makes no call."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from toolsupport.core.formats.writing import LOOKS_ALIKE
from toolsupport.core.types import ChatMessage, Role

# Characters that a model adds to a quotation: fences, quotation marks of Markdown, white space.
FENCE_LINE = re.compile(r"^[ \t>]*(?:`{3,}|~{3,})[^`\n]*$", re.M)
QUOTE_MARKS = re.compile(r"^[ \t]*(?:>[ \t]?)+", re.M)
SPACE = re.compile(r"[\s`]+")
PIECE = 64 * 1024
AS_WRITTEN = str.maketrans({alike: mark for mark, alike in LOOKS_ALIKE.items()})


class ResultIndex:
    """An index over the tool results in a history."""

    def __init__(self, messages: Sequence[ChatMessage]) -> None:
        self._contents = [message.content for message in messages if message.role is Role.TOOL]
        self._squeezed: list[str] | None = None

    def prepared(self) -> list[str]:
        """Return the results without white space and marks; 1 MB takes 30 ms, once."""
        if self._squeezed is None:
            self._squeezed = [squeezed(content) for content in self._contents]
        return self._squeezed

    def hold(self, raw: str) -> bool:
        """Return whether a result contains this text, ignoring white space and quotation marks."""
        wanted = squeezed(raw)
        return bool(wanted) and any(wanted in content for content in self.prepared())


def squeezed(text: str) -> str:
    """Remove white space, fences and quotation marks from the text, and unify characters that look alike.

    In pieces, since another thread waits for the end of each operation on a text: 8 MB at once take 0.3 s.
    """
    plain = "".join(
        QUOTE_MARKS.sub("", FENCE_LINE.sub("", piece.translate(AS_WRITTEN))) for piece in _pieces(text, of_lines=True)
    )
    return "".join(SPACE.sub("", piece) for piece in _pieces(plain))


def _pieces(text: str, *, of_lines: bool = False) -> Iterator[str]:
    """Yield the text in pieces of about PIECE characters, of whole lines if asked for."""
    begin = 0
    while begin < len(text):
        end = begin + PIECE
        if of_lines and end < len(text):
            end = text.find("\n", end - 1) + 1 or len(text)
        yield text[begin:end]
        begin = end
