"""Ends the connection to an MCP server that sends more than the event loop can read besides its other work.

The input is counted before it is parsed: a line of eight megabytes may hold millions of lists, which take seconds and
hundreds of megabytes, and a server may send messages without a pause and without being asked.
"""

from __future__ import annotations

import asyncio

from toolsupport.core.errors import ToolsupportError
from toolsupport.core.sentences import sentence

LINE_BYTES = 8 * 1024 * 1024
# Values of one message, and objects and lists among them: these take about 100 ms.
MOST_VALUES, MOST_CONTAINERS = 150_000, 40_000
# The messages of WINDOW seconds cost 1 each, and 1 more for so many bytes or values. One of cost 1 takes 0.3 ms.
WINDOW, MOST_COST = 10.0, 4_000
BYTES_OF_ONE, VALUES_OF_ONE = 32 * 1024, 200


class ServerBroke(ToolsupportError):
    """The server broke a limit or the protocol, so its connection ends; the text gives the reason."""


class MessageGuard:
    """Counts what one server sends. `reason` is why its connection ends, "" while it keeps the limits."""

    def __init__(self) -> None:
        self.reason = ""
        self._broken = asyncio.Event()
        self._begun = self._cost = 0.0

    def message(self, size: int, containers: int, commas: int) -> None:
        """Count a message. Raises ServerBroke if it, or all of them, cost too much."""
        if containers > MOST_CONTAINERS or containers + commas > MOST_VALUES:
            self.broke(sentence("mcp_too_many_values"))
        now = asyncio.get_running_loop().time()
        if now - self._begun > WINDOW:
            self._begun, self._cost = now, 0.0
        self._cost += 1 + size / BYTES_OF_ONE + (containers + commas) / VALUES_OF_ONE
        if self._cost > MOST_COST:
            self.broke(sentence("mcp_too_much"))

    def line(self, line: bytes) -> None:
        """Count a message on one line. Raises ServerBroke."""
        self.message(len(line), line.count(b"{") + line.count(b"["), line.count(b","))

    def broke(self, reason: str) -> None:
        """End the connection. Raises ServerBroke."""
        self.reason = self.reason or reason
        self._broken.set()
        raise ServerBroke(reason)

    async def watch(self) -> None:
        """Wait until a limit is broken; raises ServerBroke then."""
        await self._broken.wait()
        raise ServerBroke(self.reason)


class StreamCounter:
    """Counts one HTTP body as it arrives: one message, or `events`, each of which an empty line ends."""

    def __init__(self, guard: MessageGuard, *, events: bool) -> None:
        self._guard, self._events = guard, events
        self._size = self._containers = self._commas = 0
        self._line = b""  # the first two bytes of the line that has begun
        self._seen = False

    def feed(self, piece: bytes) -> None:
        """Raises ServerBroke if an event, or all of them, cost too much."""
        *lines, rest = piece.split(b"\n") if self._events else (piece,)
        for line in lines:
            self._add(line)
            blank = self._line in (b"", b"\r")
            if blank and self._seen:
                self.end()
            self._seen, self._line = not blank, b""
        self._add(rest)

    def end(self) -> None:
        """Count the event that ends here. Raises ServerBroke."""
        self._guard.message(self._size, self._containers, self._commas)
        self._size = self._containers = self._commas = 0

    def _add(self, part: bytes) -> None:
        self._line = (self._line + part[:2])[:2]
        self._size += len(part)
        self._containers += part.count(b"{") + part.count(b"[")
        self._commas += part.count(b",")
        if self._size > LINE_BYTES:
            self._guard.broke(sentence("mcp_message_too_long"))
