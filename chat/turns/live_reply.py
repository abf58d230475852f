"""Tracks the reply being written: the text sent to open pages so far, and how further pieces reach them."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Hashable

from chat.broadcast import frames
from chat.broadcast.live_text import LiveText, ThinkingTime, utf16_length
from chat.turns.live_blocks import FormattedBlock, LiveBlocks, Spawn
from toolsupport.core.events import CallDelta, TextDelta, TextReclassified, ThinkingDelta
from toolsupport.core.weak_methods import weak

SendFrame = Callable[[frames.ServerFrame], None]


class LiveReply:
    """The reply of one turn; `begin` starts the next one. `message` is its row, 0 before the first."""

    def __init__(self, tell: SendFrame, message: int = 0, person: Hashable = 0) -> None:
        self._tell, self._person = tell, person
        self._begun_at = 0.0
        self.message = message
        # Starts the formatting of blocks, beside the stream.
        self.spawn: Spawn | None = None
        self._clear()

    def _clear(self) -> None:
        self.text, self.thinking = LiveText(), LiveText()
        self.blocks = LiveBlocks(self._person, weak(self._show))
        self._written: Counter[str] = Counter()
        self._thought_for = ThinkingTime()

    def begin(self) -> None:
        """Start a new reply when the model is asked."""
        if self._begun_at:
            self.blocks.close()
            self._clear()
        self._begun_at = time.monotonic()

    @property
    def took_ms(self) -> int:
        """Return the time since the model was asked."""
        return round((time.monotonic() - self._begun_at) * 1000)

    @property
    def thinking_ms(self) -> int | None:
        return self._thought_for.ms

    @property
    def grew(self) -> bool:
        """Return whether there is text that is not stored yet."""
        return bool(self.message) and (self.text.grew or self.thinking.grew)

    def add_text(self, event: TextDelta) -> None:
        self._thought_for.end()
        self._tell(frames.TextDeltaFrame(self.message, self.text.append(event.text), event.text))
        if self.spawn is not None:
            self.blocks.feed(event.text, self.spawn)

    def _show(self, block: FormattedBlock) -> None:
        self._tell(frames.TextBlockFrame(self.message, block.start, block.end, block.html))

    def add_thinking(self, event: ThinkingDelta) -> None:
        self._thought_for.begin()
        self._tell(frames.ThinkingDeltaFrame(self.message, self.thinking.append(event.text), event.text))

    def reclassify(self, event: TextReclassified) -> None:
        """Send the whole text again after text and reasoning were classified again."""
        thinking = event.reasoning(self.thinking.text)
        self.text, self.thinking = LiveText(event.text), LiveText(thinking)
        self._thought_for = ThinkingTime(self._begun_at if thinking else None)
        self.blocks.close()
        self.blocks = LiveBlocks(self._person, weak(self._show))
        self._tell(frames.ResyncFrame(self.message, event.text, thinking))
        if self.spawn is not None:
            self.blocks.feed(event.text, self.spawn)

    def add_call_piece(self, event: CallDelta) -> None:
        offset = self._written[event.id]
        self._written[event.id] += utf16_length(event.text)
        self._tell(frames.CallDeltaFrame(self.message, event.id, event.name, offset, event.text))

    def forget_calls(self) -> None:
        """Reset the calls: the model writes them again in the same reply."""
        self._written.clear()

    def end(self) -> None:
        """Mark the last event as received."""
        self._thought_for.end()

    def mark_written(self) -> None:
        """Mark all text as stored."""
        self.text.mark_written()
        self.thinking.mark_written()

    def whole(self) -> list[frames.ServerFrame]:
        """Return all text so far and its finished blocks, for a page that missed a piece."""
        if not self.message:
            return []
        text = frames.ResyncFrame(self.message, self.text.text, self.thinking.text)
        return [text, *(frames.TextBlockFrame(self.message, one.start, one.end, one.html) for one in self.blocks.made)]
