"""Makes the writer of a connection wait while its buffer is full."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

# The extension of a scope: a function that sends something if it can do so without waiting, and returns whether it did.
# For a websocket it gets text frames (bytes), for a streamed answer a function that returns the next part of it.
AT_ONCE = "toolsupport.at_once"


class FlowControl:
    """Whether a connection accepts more data; Twisted calls it when its buffer is full or empty."""

    def __init__(self, changed: Callable[[bool], None] = lambda flows: None) -> None:
        self._open = asyncio.Event()
        self._open.set()
        self._changed = changed
        self.flows = True  # the connection accepts more data now

    def pauseProducing(self) -> None:
        self._open.clear()
        self.flows = False
        self._changed(False)

    def resumeProducing(self) -> None:
        self.stopProducing()
        self._changed(True)

    def stopProducing(self) -> None:
        self._open.set()
        self.flows = True

    async def wait(self) -> None:
        await self._open.wait()
