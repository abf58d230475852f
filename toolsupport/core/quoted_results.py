"""Recognises calls that a tool wrote: an answer that quotes a tool's result makes no call with it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from toolsupport.core.formats.writing import LOOKS_ALIKE
from toolsupport.core.types import ChatMessage, Role

# What a model puts around and into a quotation of its own: fences, quotation marks of Markdown, white space.
FENCE_LINE = re.compile(r"^[ \t>]*(?:`{3,}|~{3,})[^`\n]*$", re.M)
QUOTE_MARKS = re.compile(r"^[ \t]*(?:>[ \t]?)+", re.M)
SPACE = re.compile(r"[\s`]+")
AS_WRITTEN = str.maketrans({alike: mark for mark, alike in LOOKS_ALIKE.items()})


class ResultIndex:
    """An index over the tool results in a history."""

    def __init__(self, messages: Sequence[ChatMessage]) -> None:
        self._contents = [message.content for message in messages if message.role is Role.TOOL]
        self._squeezed: list[str] | None = None

    def hold(self, raw: str) -> bool:
        """Return whether a result contains this text, ignoring white space and quotation marks."""
        if self._squeezed is None:
            self._squeezed = [squeezed(content) for content in self._contents]
        wanted = squeezed(raw)
        return bool(wanted) and any(wanted in content for content in self._squeezed)


def squeezed(text: str) -> str:
    """Remove white space, fences and quotation marks from the text, and unify characters that look alike."""
    plain = QUOTE_MARKS.sub("", FENCE_LINE.sub("", text.translate(AS_WRITTEN)))
    return SPACE.sub("", plain)
