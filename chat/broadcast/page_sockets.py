"""Registers the open pages of each conversation in this process, each with a bounded queue."""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from dataclasses import replace
from typing import Any, cast

from chat.broadcast import frames
from chat.broadcast.frames import ServerFrame
from chat.broadcast.live_text import utf16_length
from toolsupport import loop_share

QUEUE_BYTES = 512 * 1024
# Things are not dropped one by one: a page this far behind is closed, comes back and catches up from the rows.
QUEUE_FRAMES, QUEUE_LIMIT = 2_000, 4 * 1024 * 1024
JOINED = 64 * 1024  # a delta that is longer gets no more joined to it
SHORTEST_PAUSE = 0.002  # seconds; a shorter one would cost more than it saves

Send = Callable[[str], Awaitable[None]]
Close = Callable[[], Coroutine[Any, Any, None]]
Delta = frames.TextDeltaFrame | frames.ThinkingDeltaFrame | frames.CallDeltaFrame | frames.CallOutputFrame
# Frames that a slow page may lose: it asks for the whole text, or gets all of it at the end.
Growing = Delta | frames.TextBlockFrame


class PageSocket:
    """One open page. Frames are queued without waiting; `pump` sends them and joins queued deltas.

    A page that reads too slowly loses its queued deltas and gets a request to fetch the text again; announcements are
    never dropped, and the client detects the gap by the delta's offset. If announcements pile up as well, `give_up` is
    called once and nothing is queued any more.
    """

    def __init__(
        self, send: Send, pause: Callable[[], float] = lambda: 0.0, give_up: Callable[[], object] = lambda: None
    ) -> None:
        self._send = send
        self._pause = pause
        self._give_up = give_up
        self._queue: deque[ServerFrame] = deque()
        self._bytes = 0
        self._filled = asyncio.Event()
        self._busy = False  # frames are queued or on their way
        self.lost = False
        # Sends rendered frames if the connection takes them without waiting; returns whether it did.
        self.at_once: Callable[[Sequence[bytes]], bool] = lambda texts: False

    def put(self, *given: ServerFrame) -> None:
        if self.lost or (not self._busy and self._sent(given)):
            return
        for frame in given:
            self._add(frame)

    def _add(self, frame: ServerFrame) -> None:
        if self.lost or (isinstance(frame, Growing) and self._bytes > QUEUE_BYTES):
            return
        self._busy = True
        self._bytes += frame.weight()
        self._queue.append(frame)
        self._filled.set()
        if len(self._queue) > QUEUE_FRAMES or self._bytes > QUEUE_LIMIT:
            self.lost = True
            self._queue.clear()
            self._give_up()

    def _sent(self, given: Sequence[ServerFrame]) -> bool:
        """Send frames past the queue, which is empty, if the connection takes them; return whether it did.

        The output of tools gathers in the queue, and long frames wait for their share of the loop there.
        """
        texts = []
        for frame in given:
            if isinstance(frame, frames.CallOutputFrame):
                return False
            texts.append(frame.render())
        return sum(map(len, texts)) <= JOINED and self.at_once(texts)

    async def pump(self) -> None:
        """Send queued frames as long as the page is open. Ends only by being cancelled."""
        while True:
            await self._filled.wait()
            self._filled.clear()
            while self._queue:
                async with loop_share.step():
                    frame = self._next()
                    await self._send(frame.render().decode())
                # The busier the process, the longer output gathers: a frame costs system calls, a character does not.
                # Text of models gathers before it is read (`toolsupport.providers.read_coalescing`).
                pause = self._pause() if isinstance(frame, frames.CallOutputFrame) else 0.0
                if pause > SHORTEST_PAUSE:
                    await asyncio.sleep(pause)
            self._busy = False

    def _next(self) -> ServerFrame:
        """Return the next frame; adjacent deltas are joined into one."""
        frame = self._queue.popleft()
        self._bytes -= frame.weight()
        if not isinstance(frame, Delta):
            return frame
        pieces, end = [frame.text], frame.offset + utf16_length(frame.text)
        while self._queue and end - frame.offset < JOINED and _continues(frame, end, self._queue[0]):
            follower = cast(Delta, self._queue.popleft())
            pieces.append(follower.text)
            self._bytes -= follower.weight()
            end += utf16_length(follower.text)
        text = "".join(pieces)
        return replace(frame, text=text) if len(pieces) > 1 else frame


def _continues(first: Delta, end: int, follower: ServerFrame) -> bool:
    return _of(follower) == _of(first) and cast(Delta, follower).offset == end


def _of(frame: ServerFrame) -> tuple[object, ...]:
    """Return the text that a delta belongs to."""
    return type(frame), getattr(frame, "message", None), getattr(frame, "call", None)


def joined(grown: Iterable[Growing]) -> list[Growing]:
    """Return the same text in as few deltas as possible, and blocks as they are."""
    found: list[Growing] = []
    for frame in grown:
        last = found[-1] if found else None
        if isinstance(last, Delta) and _continues(last, last.offset + utf16_length(last.text), frame):
            found[-1] = replace(last, text=last.text + cast(Delta, frame).text)
        else:
            found.append(frame)
    return found


class SocketRegistry:
    """The sockets of each conversation."""

    def __init__(self) -> None:
        self._sockets: dict[str, set[PageSocket]] = defaultdict(set)

    def add(self, conversation: str, socket: PageSocket) -> None:
        self._sockets[conversation].add(socket)

    def remove(self, conversation: str, socket: PageSocket) -> None:
        self._sockets[conversation].discard(socket)
        if not self._sockets[conversation]:
            del self._sockets[conversation]

    def has(self, conversation: str) -> bool:
        return conversation in self._sockets

    def conversations(self) -> list[str]:
        """Return the conversations with an open page in this process."""
        return list(self._sockets)

    def tell(self, conversation: str, *given: ServerFrame) -> None:
        """Queue frames for every page of the conversation in this process."""
        for socket in self._sockets.get(conversation, ()):
            socket.put(*given)

    def count(self) -> int:
        return sum(len(sockets) for sockets in self._sockets.values())
