"""Output of a running tool, collected and sent to the pages in pieces."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from chat.broadcast.frames import CallOutputFrame, ServerFrame
from chat.broadcast.growing_text import LiveText

# Seconds between two frames, and characters after which no more is sent: the result has it all.
GATHER, LIMIT = 0.05, 256 * 1024


@dataclass(slots=True)
class OutputCard:
    """A tool that runs, with the output that was sent."""

    message: int
    call: str
    text: LiveText = field(default_factory=LiveText)


class LiveOutput:
    """The output of the tools that run, the innermost last. `say` is for the thread of the event loop."""

    def __init__(self, tell: Callable[[ServerFrame], None]) -> None:
        self._tell = tell
        self._cards: list[OutputCard] = []
        self._waiting: list[str] = []
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, message: int, call: str) -> None:
        """The tool of this card begins; a program that called it speaks again when it is over."""
        self._flush()
        self._cards.append(OutputCard(message, call))

    def end(self) -> None:
        """It is over: its result is about to be shown instead."""
        self._quiet()
        if self._cards:
            self._cards.pop()

    def say(self, text: str) -> None:
        """Add to the output; output outside of a call is not shown."""
        if not self._cards or not text or self._cards[-1].text.length >= LIMIT:
            return
        self._waiting.append(text)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(GATHER, self._flush)

    def _quiet(self) -> str:
        """The gathered output, which the timer will not send any more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        text, self._waiting = "".join(self._waiting)[:LIMIT], []
        return text

    def _flush(self) -> None:
        text = self._quiet()
        if text:
            card = self._cards[-1]
            self._tell(CallOutputFrame(card.message, card.call, card.text.append(text), text))

    def said(self) -> str:
        """All output of the tool that runs, sent or not."""
        return (self._cards[-1].text.text if self._cards else "") + "".join(self._waiting)

    def whole(self) -> CallOutputFrame | None:
        """All output of the tool that runs that was sent."""
        card = self._cards[-1] if self._cards else None
        return CallOutputFrame(card.message, card.call, 0, card.text.text) if card and card.text.length else None
