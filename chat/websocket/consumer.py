"""The websocket consumer: accepts sockets, passes frames to handlers, sends frames."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from autobahn.exception import Disconnected
from channels.consumer import get_handler_name
from channels.db import database_sync_to_async as in_database
from channels.exceptions import StopConsumer
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.db import Error

from chat.broadcast import client_frames, frames, storage_notice
from chat.broadcast.client_frames import ClientFrame
from chat.broadcast.error_codes import FrameError
from chat.broadcast.socket_revocation import pass_of
from chat.turns import runner
from chat.websocket import frame_parsing, handlers, idempotency
from toolsupport import loop_share
from toolsupport.config import metrics
from toolsupport.core.error_statuses import CLOSED, ERRORS, KINDS, row_of
from toolsupport.core.errors import Busy, NotAllowed, NotFound
from toolsupport.registry import storage
from toolsupport.web.flow_control import AT_ONCE

if TYPE_CHECKING:
    from asgiref.typing import WebSocketReceiveEvent

log = logging.getLogger(__name__)

FRAMES_PER_WINDOW = 30
WINDOW_SECONDS = 10.0
STOPS_PER_WINDOW = 100
SHORT = 1024  # characters; such a frame takes 20 µs, and does not wait for other work
FLOOD = 300  # no page of ours sends so many in a window: the socket is closed
NO_SUCH_CONVERSATION, TOO_FAST = ERRORS[NotFound].close, ERRORS[Busy].close
TOO_SLOW, TOO_MANY = CLOSED + 408, CLOSED + 409

TOO_MANY_PAGES = "You have {} chat pages open, which is the maximum. Close one of them."
CANNOT_WRITE = "Cannot save right now: the server cannot write to its database. Nothing was changed; try again later."


class ChatConsumer(AsyncWebsocketConsumer):
    """One open page of one conversation. No method waits for a turn."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Pass messages to their methods. The runner receives those of other processes, for all sockets.

        Channels would wait for the database's thread before each message, after everybody's work, and starts two
        tasks for it. The handlers here enter that thread only if they need rows.
        """
        self.scope, self.base_send = scope, send
        with suppress(StopConsumer):
            while True:
                await self.dispatch(await receive())
                await asyncio.sleep(0)  # queued frames would delay others

    async def dispatch(self, message: Any) -> None:
        await getattr(self, get_handler_name(message))(message)

    async def connect(self) -> None:
        self.pump = self.ticket = None
        self.recent: deque[float] = deque()
        self.place = handlers.PageContext(
            user_id=getattr(self.scope["user"], "pk", None) or 0,
            conversation=str(self.scope["url_route"]["kwargs"]["conversation"]),
        )
        loop_share.person.set(self.place.user_id)
        try:
            await in_database(handlers.check)(self.place)
        except (NotFound, NotAllowed):
            # Another person's chat and a missing one get the same answer.
            await self.close(NO_SUCH_CONVERSATION)
            return
        self.runner = runner.current()
        most = settings.ENV["TOOLSUPPORT_SOCKETS_PER_PERSON"]
        self.ticket = self.runner.revocation.admit(pass_of(self.scope), self.close, most)
        await self.accept()
        if self.ticket is None:
            await self._send(frames.ErrorFrame("busy", TOO_MANY_PAGES.format(most)).render().decode())
            await self.close(TOO_MANY)
            return
        # Listening begins before the rows are read, so that nothing is lost between the two.
        self.socket, self.pump = self.runner.listen(self.place.conversation, self._send, self._too_slow)
        # Only `serve` offers that; with other servers every frame goes through the queue.
        extensions: dict[str, Any] = self.scope.get("extensions") or {}
        self.socket.at_once = extensions.get(AT_ONCE, self.socket.at_once)
        if self.runner.peers is not None:
            await self.runner.peers.relay.join(self.place.conversation)
        self.socket.put(await in_database(handlers.hello)(self.place))
        if storage.state.reason:
            self.socket.put(storage_notice.frame_of(storage.state.reason))

    async def disconnect(self, code: int) -> None:
        if self.pump is not None:
            self.runner.forget(self.place.conversation, self.socket, self.pump)
            # Each of them refers to this object, which would then wait for the garbage collector.
            self.pump = None
            del self.socket
        if self.ticket is not None:
            self.runner.revocation.forget(self.ticket)

    async def websocket_receive(self, message: WebSocketReceiveEvent) -> None:
        """Accept any frame: an invalid one gets a typed error, and the socket stays usable."""
        client_id = ""
        if self.pump is None or not await self._bearable():
            return
        try:
            frame = await self._parsed(message.get("text"))
            client_id = frame.client_id or ""
            self._check_rate(frame)
            await self._handle(frame)
            metrics.FRAMES.labels("obeyed").inc()
        except FrameError as error:
            self._refuse(error.code, str(error), error.client_id or client_id)
        except KINDS as error:
            self._refuse(row_of(error).frame, str(error), client_id)
        except Error as error:
            log.error("could not write a frame's change: %s", error)
            storage.state.failed(error)
            self._refuse("storage", CANNOT_WRITE, client_id)
        except Exception:
            log.exception("could not handle a frame")
            self._refuse("internal", "The server failed. Nothing was changed.", client_id)

    async def _parsed(self, text: str | None) -> ClientFrame:
        if text is None or len(text) <= SHORT:
            return frame_parsing.parse(text)
        async with loop_share.step():
            return frame_parsing.parse(text)

    async def _handle(self, frame: ClientFrame) -> None:
        if idempotency.known(self.place.conversation, frame):
            return
        handler: Callable[..., Any] = handlers.HANDLERS[type(frame)]
        await handler(self.place, self.socket, frame)
        idempotency.keep(self.place.conversation, frame)

    async def _bearable(self) -> bool:
        """Count every frame; return False after too many, so that none is read any more."""
        now = time.monotonic()
        while self.recent and now - self.recent[0] > WINDOW_SECONDS:
            self.recent.popleft()
        self.recent.append(now)
        if len(self.recent) == FLOOD:
            await self.close(TOO_FAST)
        return len(self.recent) < FLOOD

    def _check_rate(self, frame: ClientFrame) -> None:
        # A stop has the highest limit: a fast typist may need it.
        most = STOPS_PER_WINDOW if isinstance(frame, client_frames.TurnStop) else FRAMES_PER_WINDOW
        if len(self.recent) > most:
            raise FrameError("rate_limited", "Too many messages at once. Wait a few seconds.")

    def _refuse(self, code: str, text: str, client_id: str) -> None:
        metrics.FRAMES.labels(code).inc()
        self.socket.put(frames.ErrorFrame(code, text, client_id or None))

    async def _too_slow(self) -> None:
        await self.close(TOO_SLOW)

    async def _send(self, text: str) -> None:
        # A page may disconnect before it is notified; `disconnect` comes next.
        with suppress(Disconnected):
            await self.send(text_data=text)
