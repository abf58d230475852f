"""Collects the events of a reply: its text, its reasoning and its calls, as they are after each event.

The one place where `TextReclassified` moves text and voids calls. Pieces are joined only when they are read, since a
reply has very many of them.
"""

from __future__ import annotations

from toolsupport.core.events import (
    CallFound,
    CallGarbled,
    CallReady,
    CallRejected,
    Event,
    Failed,
    TextDelta,
    TextReclassified,
    ThinkingDelta,
)

ReplyCall = CallReady | CallRejected | CallFound


class ReplyBuilder:
    """One reply; with `text` and `thinking` it continues from there."""

    __slots__ = ("_text", "_thinking", "calls", "failed")

    def __init__(self, text: str = "", thinking: str = "") -> None:
        self._text = [text]
        self._thinking = [thinking]
        self.calls: list[ReplyCall] = []
        self.failed: Failed | None = None

    @property
    def text(self) -> str:
        """Return the answer so far."""
        return _joined(self._text)

    @property
    def thinking(self) -> str:
        """Return the reasoning so far."""
        return _joined(self._thinking)

    def take(self, event: Event) -> None:
        """Add one event."""
        if isinstance(event, TextDelta):
            self._text.append(event.text)
        elif isinstance(event, ThinkingDelta):
            self._thinking.append(event.text)
        elif isinstance(event, TextReclassified):
            self._text, self._thinking = [event.text], [event.reasoning(self.thinking)]
            self.calls = []
        elif isinstance(event, CallReady | CallRejected | CallFound):
            self.calls.append(event)
        elif isinstance(event, CallGarbled):
            # The model is asked again: its calls may come again, and refused ones are answered already.
            self.calls = [call for call in self.calls if isinstance(call, CallRejected)]
        elif isinstance(event, Failed):
            self.failed = event


def _joined(pieces: list[str]) -> str:
    """Join all pieces into one text."""
    if len(pieces) > 1:
        pieces[:] = ["".join(pieces)]
    return pieces[0]
