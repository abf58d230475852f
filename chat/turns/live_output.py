"""Collects the output of a running tool and sends it to the pages in pieces."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from chat.broadcast.frames import CallOutputFrame, ServerFrame
from chat.broadcast.live_text import LiveText

# Seconds between two frames, and characters after which no more is sent: the result has it all.
GATHER, LIMIT = 0.05, 256 * 1024


@dataclass(slots=True)
class OutputCard:
    """A running tool, with the output that was sent."""

    message: int
    call: str
    text: LiveText = field(default_factory=LiveText)


class LiveOutput:
    """The output of the running tools, the innermost last. Call `say` in the thread of the event loop."""

    def __init__(self, tell: Callable[[ServerFrame], None]) -> None:
        self._tell = tell
        self._cards: list[OutputCard] = []
        self._waiting: list[str] = []
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, message: int, call: str) -> None:
        """Start the output of this card's tool; after it, the program that called it continues."""
        self._flush()
        self._cards.append(OutputCard(message, call))

    def end(self) -> None:
        """End the output: the result will be shown instead."""
        self._quiet()
        if self._cards:
            self._cards.pop()

    def say(self, text: str) -> None:
        """Add to the output; output outside a call is not shown."""
        if not self._cards or not text or self._cards[-1].text.length >= LIMIT:
            return
        self._waiting.append(text)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(GATHER, self._flush)

    def _quiet(self) -> str:
        """Take the collected output, so that the timer does not send it."""
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

    def written(self) -> str:
        """Return all output of the running tool, sent or not."""
        return (self._cards[-1].text.text if self._cards else "") + "".join(self._waiting)

    def whole(self) -> CallOutputFrame | None:
        """Return the sent output of the running tool."""
        card = self._cards[-1] if self._cards else None
        return CallOutputFrame(card.message, card.call, 0, card.text.text) if card and card.text.length else None
