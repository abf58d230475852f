"""Records the requests to a model server and their replies, byte for byte and within a limit."""

from __future__ import annotations

import time
from collections import deque
from datetime import UTC, datetime

# Kept bytes of a reply: its beginning and its end.
HEAD = 140_000
TAIL = 50_000


class RecordedExchange:
    """One request with its reply. `status` is None without a reply; `times` counts equal replies.

    `tools` is the part of the body that other requests repeat, if it has one.
    """

    def __init__(self, url: str, body: bytes, head: int = HEAD, tools: bytes = b"") -> None:
        self.url, self.body, self.tools = url, body, tools
        self.started_at = datetime.now(UTC)
        self.status: int | None = None
        self.error = ""
        self.times = 1
        self.size = 0
        self.duration_ms: int | None = None
        self._begun = time.monotonic()
        self._head: list[bytes] = []
        self._room = head
        self._tail: deque[bytes] = deque()
        self._head_size = self._tail_size = 0

    def add(self, piece: bytes) -> None:
        """Take a piece of the reply; every token passes through here."""
        self.size += len(piece)
        room = self._room - self._head_size
        if room > 0:
            self._head.append(piece[:room])
            self._head_size += len(self._head[-1])
            piece = piece[room:]
        if not piece:
            return
        self._tail.append(piece)
        self._tail_size += len(piece)
        while self._tail_size - len(self._tail[0]) >= TAIL:
            self._tail_size -= len(self._tail.popleft())

    def end(self) -> None:
        """No more data follows. The first end counts."""
        if self.duration_ms is None:
            self.duration_ms = round((time.monotonic() - self._begun) * 1000)

    @property
    def head(self) -> bytes:
        return b"".join(self._head)

    @property
    def tail(self) -> bytes:
        return b"".join(self._tail)[-TAIL:]

    @property
    def left_out(self) -> int:
        """How many bytes between head and tail were not kept."""
        return self.size - self._head_size - min(self._tail_size, TAIL)

    def repeats(self, other: RecordedExchange) -> bool:
        """Whether the same request got the same reply, as from a server that still loads its model."""
        same = self.body is other.body and (self.status, self.error) == (other.status, other.error)
        return same and self.size == other.size and self.head == other.head


class ExchangeRecorder:
    """The exchanges of one turn since they were taken last, in order. `head` is how much of a beginning is kept."""

    def __init__(self, head: int = HEAD) -> None:
        self._head = head
        self._exchanges: list[RecordedExchange] = []

    def begin(self, url: str, body: bytes, tools: bytes = b"") -> RecordedExchange:
        """A request is about to be sent, with this part for its tools."""
        self._fold()
        made = RecordedExchange(url, body, self._head, tools)
        self._exchanges.append(made)
        return made

    def taken(self) -> list[RecordedExchange]:
        """The recorded exchanges; recording begins again with none."""
        self._fold()
        taken, self._exchanges = self._exchanges, []
        for exchange in taken:
            exchange.end()
        return taken

    def _fold(self) -> None:
        """Count a repeated exchange instead of keeping it."""
        if len(self._exchanges) > 1 and self._exchanges[-1].repeats(self._exchanges[-2]):
            last = self._exchanges.pop()
            self._exchanges[-1].times += last.times
