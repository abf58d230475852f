"""Leaves out the tags that a model writes around its whole answer: `</think><answer>…</answer>`.

The opening tag counts directly behind reasoning, the closing one at the end of the answer or before a call. Anywhere
else they are text. So are tags that the request names, since its program may read them, or that are named like a tool.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from toolsupport.core.scanner import MarkerSet, Steps, TextSource
from toolsupport.core.types import ChatMessage, ToolSpec

NAMES = ("answer", "response")  # Hunyuan, and models trained like DeepSeek R1; ERNIE 4.5
LEAST_CUT = 3  # characters of a closing tag that a limit cut: "</a"


def named(messages: Iterable[ChatMessage]) -> frozenset[str]:
    """Return the names of the tags that messages hold."""
    return frozenset(name for message in messages for name in NAMES if f"<{name}>" in message.content)


def opening(source: TextSource, tools: Sequence[ToolSpec], kept: Collection[str]) -> Steps[str]:
    """Consume the tag that opens an answer here, with the space around it; return the closing one, "" if none opens."""
    taken = {tool.name.lower() for tool in tools}
    tags = MarkerSet(f"<{name}>" for name in NAMES if name not in kept and name not in taken)
    begun = source.recorded
    yield from source.space()
    tag = yield from source.found(tags)
    if not tag:
        source.back_to(begun)
        return ""
    yield from source.space()
    source.cut()
    return f"</{tag[1:]}"


class AnswerWrapper:
    """Removes the closing tag `end`, "" if none is expected. The space before a possible one is held back, too."""

    def __init__(self) -> None:
        self.end = ""
        self._held: list[str] = []

    def opens(self, end: str) -> None:
        """Record the opening tag, and the tag that closes it."""
        self.end = end

    def text(self, piece: str) -> str:
        """Return the text that is certain."""
        if not self.end:
            return piece
        if not piece or piece.isspace():
            self._held.append(piece)
            return ""
        text = "".join((*self._held, piece))
        certain = text[: self._possible_end(text)]
        self._held = [text[len(certain) :]]
        return certain

    def before_call(self) -> str:
        """Return the held text before a call or another message, without the closing tag."""
        held = self._all_held()
        if not self.end or self.end not in held:
            return held
        end, self.end = self.end, ""
        return held.replace(end, "", 1)

    def ends(self, *, cut: bool, quoted: bool) -> str:
        """Return the held text at the end of the reply; `quoted`: the tag is in a code fence."""
        held = self._all_held()
        tag = held.strip()
        closes = tag == self.end or (cut and len(tag) >= LEAST_CUT)
        return "" if tag and closes and not quoted else held

    def _all_held(self) -> str:
        held, self._held = "".join(self._held), []
        return held

    def _possible_end(self, text: str) -> int:
        """Return where the closing tag or its beginning may stand at the end of a text, with the space around it."""
        words = text.rstrip()
        if words.endswith(self.end):
            words = words[: -len(self.end)]
        elif len(words) == len(text):
            sizes = range(len(self.end) - 1, 0, -1)
            words = words[: len(words) - next((size for size in sizes if words.endswith(self.end[:size])), 0)]
        return len(words.rstrip())
