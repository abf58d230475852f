"""Makes the writer of a connection wait while its buffer is full."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class FlowControl:
    """Whether a connection accepts more data; Twisted calls it when its buffer is full or empty."""

    def __init__(self, changed: Callable[[bool], None] = lambda flows: None) -> None:
        self._open = asyncio.Event()
        self._open.set()
        self._changed = changed

    def pauseProducing(self) -> None:
        self._open.clear()
        self._changed(False)

    def resumeProducing(self) -> None:
        self._open.set()
        self._changed(True)

    def stopProducing(self) -> None:
        self._open.set()

    async def wait(self) -> None:
        await self._open.wait()
