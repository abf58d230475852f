"""Formats the finished blocks of a reply while the rest of it streams in."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Hashable
from dataclasses import dataclass
from typing import Any

from chat.broadcast.live_text import utf16_length
from chat.transcript.messages import formatted
from toolsupport.core.markdown_blocks import BlockSplitter
from toolsupport.rendering import format_tasks
from toolsupport.work_pool.types import WorkError

# Seconds between two batches of one answer, and more for each other answer that has blocks: a task costs as much as
# formatting some hundred words.
EVERY, EVERY_MORE = 0.25, 0.02
MOST_CHARACTERS = 64 * 1024

Spawn = Callable[[Coroutine[Any, Any, None]], "asyncio.Task[Any]"]


@dataclass(frozen=True, slots=True)
class FormattedBlock:
    """A part of a text, in UTF-16 code units, and its HTML."""

    start: int
    end: int
    html: str


class LiveBlocks:
    """The blocks of one growing text. `show` gets each one that is formatted, until `close`.

    Nothing depends on them: without workers the text stays one live block until its end.
    """

    # How many texts of this process have blocks to format now.
    working = 0

    def __init__(self, person: Hashable, show: Callable[[FormattedBlock], None]) -> None:
        self._person, self._show = person, show
        self._splitter = BlockSplitter()
        self._length = 0
        self._waiting: list[str] = []
        self.made: list[FormattedBlock] = []
        self._progress: formatted.Progress = {}
        # How many definitions of links were known when the first block with a bracket was formatted.
        self._defined: int | None = None
        self._work: asyncio.Task[Any] | None = None
        self._closed = self._failed = self._rests = False

    def feed(self, piece: str, spawn: Spawn) -> None:
        """Add text; start formatting if blocks wait and none are formatted now."""
        self._length += len(piece)
        self._failed = self._failed or self._length > format_tasks.LONGEST
        if self._failed:
            return
        self._waiting += self._splitter.feed(piece)
        if self._waiting and self._work is None and not self._closed:
            self._work = spawn(self._format_all())

    def close(self) -> None:
        """Stop showing blocks."""
        self._closed = True

    async def html(self) -> str | None:
        """Return the HTML of the whole text, which has ended; None if its blocks do not give it."""
        self.close()
        if self._work is not None:
            if self._rests:
                self._work.cancel()
            await asyncio.wait([self._work])
        rest, self._splitter = self._splitter.rest, BlockSplitter()
        self._waiting += [rest] if rest else []
        while self._waiting and not self._failed:
            await self._format()
        late = self._defined is not None and len(self._progress["references"]) > self._defined
        html = "".join(block.html for block in self.made)
        return None if self._failed or late or not html.strip() else html

    async def _format_all(self) -> None:
        """Format blocks as long as some wait, with a pause after each batch."""
        LiveBlocks.working += 1
        try:
            while self._waiting and not (self._failed or self._closed):
                await self._format()
                self._rests = True
                await asyncio.sleep(EVERY + EVERY_MORE * (LiveBlocks.working - 1))
                self._rests = False
        finally:
            LiveBlocks.working -= 1
            self._work, self._rests = None, False

    async def _format(self) -> None:
        """Format the blocks that wait, as many as one task may have, and show them."""
        taken = self._batch()
        made = None
        try:
            made, self._progress = await formatted.formatted_blocks(self._person, taken, self._progress)
        except WorkError:
            return
        finally:
            self._failed = self._failed or made is None
        if self._defined is None and any("[" in block for block in taken):
            self._defined = len(self._progress["references"])
        for block, html in zip(taken, made, strict=True):
            start = self.made[-1].end if self.made else 0
            self.made.append(FormattedBlock(start, start + utf16_length(block), html))
            if not self._closed:
                self._show(self.made[-1])

    def _batch(self) -> list[str]:
        count, characters = 0, 0
        while count < len(self._waiting) and (not count or characters < MOST_CHARACTERS):
            characters += len(self._waiting[count])
            count += 1
        taken, self._waiting = self._waiting[:count], self._waiting[count:]
        return taken


async def html_of(person: Hashable, text: str, blocks: LiveBlocks | None) -> str | None:
    """Return the HTML of a text that has ended, from its blocks if it has any; None if that takes too long now."""
    html = None
    try:
        async with asyncio.timeout(formatted.PATIENCE):
            html = await blocks.html() if blocks is not None else None
    except TimeoutError:
        return None
    return html or await formatted.formatted(person, text)
