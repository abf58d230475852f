"""Bounds Daphne's server: oversized bodies are dropped, and a slow reader slows down its writer."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

# Twisted's loop must be chosen before anything else imports Twisted.
from daphne import server as daphne_server  # isort: skip

import orjson
from autobahn.exception import Disconnected
from daphne.http_protocol import HTTPFactory, WebRequest
from daphne.ws_protocol import WebSocketFactory, WebSocketProtocol
from django.conf import settings

from toolsupport.registry.people import sessions
from toolsupport.web import api_errors
from toolsupport.web.security_headers import HEADER, policy

log = logging.getLogger(__name__)

MIB = 1024 * 1024
BODY_LIMIT = 8 * MIB
TEXT, BINARY = 1, 2  # the kinds of a frame
FORM_BYTES = MIB  # what a form's own fields and boundaries may add to the files in it
# Their answers begin when a model was loaded, whatever that takes; what asks the model keeps to limits of its own.
PATIENT = b"/v1/"
FOR_PROGRAMS = tuple(place.encode() for place in api_errors.PLACES)
UPLOADS = re.compile(rb"/chat/[0-9a-f-]{36}/files/(\?.*)?")
# Seconds that a large upload waits for its session from the database; after that it is refused.
PATIENCE = 0.5
# A body stops this many bytes before its limit while that answer is open: more than one read of a socket brings.
MARGIN = MIB
_asking = ThreadPoolExecutor(max_workers=1, thread_name_prefix="uploads")
TOO_LARGE = "The request is larger than this site takes."
ERROR_HEADERS = {
    "Content-Type": "text/plain; charset=utf-8",
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    HEADER: policy(),
}


class FlowControl:
    """Whether a connection accepts more data; Twisted calls it when its buffer is full or empty."""

    def __init__(self) -> None:
        self._open = asyncio.Event()
        self._open.set()

    def pauseProducing(self) -> None:
        self._open.clear()

    def resumeProducing(self) -> None:
        self._open.set()

    def stopProducing(self) -> None:
        self._open.set()

    async def wait(self) -> None:
        await self._open.wait()


class BoundedRequest(WebRequest):  # type: ignore[misc]  # daphne is untyped
    """A request whose body is dropped beyond the limit, and whose streamed answer waits for its reader."""

    flow: FlowControl | None = None
    room = BODY_LIMIT
    too_large = False
    moved = 0.0
    asked: asyncio.Future[bool] | None = None

    def gotLength(self, length: int | None) -> None:
        largest = settings.ENV["TOOLSUPPORT_WORKSPACE_MIB"] * MIB + FORM_BYTES
        upload = length is not None and BODY_LIMIT < length <= largest and UPLOADS.fullmatch(self.channel._path)
        if upload:
            self.ask_who_sends()
        self.too_large = length is not None and length > BODY_LIMIT and not upload
        # A short length keeps the body in memory, where nothing of it will be.
        super().gotLength(0 if self.too_large else length)

    def ask_who_sends(self) -> None:
        """Look up the session of a large upload in a thread, so that other connections continue meanwhile."""
        key = self.received_cookies.get(settings.SESSION_COOKIE_NAME.encode(), b"").decode("latin-1")
        loop = asyncio.get_running_loop()
        self.asked = loop.run_in_executor(_asking, sessions.lets_in, key)
        self.asked.add_done_callback(self.decided)
        loop.call_later(PATIENCE, self.asked.cancel)

    def decided(self, asked: asyncio.Future[bool]) -> None:
        """Accept the rest of the upload, or drop all of it."""
        self.asked = None
        why = TimeoutError() if asked.cancelled() else asked.exception()
        if why is not None:
            log.error("could not check the session of an upload", exc_info=why)
        if why is None and asked.result():
            self.room += settings.ENV["TOOLSUPPORT_WORKSPACE_MIB"] * MIB + FORM_BYTES - BODY_LIMIT
        else:
            self.too_large = True
            self.content.seek(0)
            self.content.truncate()
        if self.channel is not None:
            self.channel._networkProducer.resumeProducing()

    def handleContentChunk(self, data: bytes) -> None:
        self.room -= len(data)
        self.too_large = self.too_large or self.room < 0
        if not self.too_large:
            super().handleContentChunk(data)
        if self.asked is not None and self.room < MARGIN:
            self.channel._networkProducer.pauseProducing()

    def process(self) -> Any:
        if self.too_large and not UPLOADS.fullmatch(self.uri):
            return self.basic_error(413, b"Content Too Large", TOO_LARGE)
        # The file page checks the length, and has its own error message.
        return super().process()

    def handle_reply(self, message: dict[str, Any]) -> None:
        """Send a piece of the answer; a streamed one gets a flow to wait for."""
        self.moved = time.time()
        if message.get("more_body") and self.flow is None and self.channel is not None and not self.finished:
            self.flow = FlowControl()
            self.registerProducer(self.flow, True)
        elif message["type"] == "http.response.body" and not message.get("more_body") and self.flow is not None:
            self.unregisterProducer()
            self.flow = None
        super().handle_reply(message)

    def check_timeouts(self) -> None:
        """Abort an answer that was not begun in time, and a reader that reads nothing."""
        if not self._response_started and self.uri.startswith(PATIENT):
            return
        if not self._response_started:
            super().check_timeouts()
        elif self.channel is not None and time.time() - self.moved > self.server.http_timeout:
            self.channel.transport.abortConnection()

    def basic_error(self, status: int, status_text: bytes, body: str) -> None:
        """Return an error without calling Django, with the headers that Django would have set."""
        for_program = (self.uri.partition(b"?")[0] + b"/").startswith(FOR_PROGRAMS)
        answer = orjson.dumps(api_errors.body(status, body)) if for_program else f"{status} {body}\n".encode()
        chosen = ERROR_HEADERS | ({"Content-Type": "application/json"} if for_program else {})
        headers = [(name.encode(), value.encode()) for name, value in chosen.items()]
        self.handle_reply({"type": "http.response.start", "status": status, "headers": headers})
        self.handle_reply({"type": "http.response.body", "body": answer})


class BoundedSocket(WebSocketProtocol):  # type: ignore[misc]  # daphne is untyped
    """A socket that reports a full buffer. Its send limit is independent of its receive limit."""

    flow: FlowControl | None = None

    def onOpen(self) -> None:
        self.flow = FlowControl()
        # Until now the buffer notified the HTTP channel, which the socket came from.
        self.transport.unregisterProducer()
        self.transport.registerProducer(self.flow, True)
        super().onOpen()

    def serverSend(self, content: str | bytes, binary: bool = False) -> None:
        data = content.encode() if isinstance(content, str) else content
        if self.state != self.STATE_OPEN:
            raise Disconnected("the socket is closed")
        # The header and the data in one write, where beginning and ending a message would take three.
        self.sendFrame(opcode=BINARY if binary else TEXT, payload=data)

    def serverClose(self, code: int | None = None) -> None:
        # Twisted does not close a connection with a registered producer.
        self.transport.unregisterProducer()
        super().serverClose(code)


class BoundedRequestFactory(HTTPFactory):  # type: ignore[misc]  # daphne is untyped
    def buildProtocol(self, addr: Any) -> Any:
        protocol = super().buildProtocol(addr)
        protocol.requestFactory = BoundedRequest
        return protocol


class BoundedSocketFactory(WebSocketFactory):  # type: ignore[misc]  # daphne is untyped
    protocol = BoundedSocket


# Daphne makes its factories while it starts, and takes no others.
daphne_server.HTTPFactory, daphne_server.WebSocketFactory = BoundedRequestFactory, BoundedSocketFactory


class BoundedServer(daphne_server.Server):  # type: ignore[misc]  # daphne is untyped
    """Daphne's server, which can stop listening while open requests continue."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.ports: list[Any] = []

    def listen_success(self, port: Any) -> None:
        self.ports.append(port)
        super().listen_success(port)

    def create_application(self, protocol: Any, scope: dict[str, Any]) -> Any:
        # Daphne takes the root path from a header that anybody can send.
        return super().create_application(protocol, scope | {"root_path": self.root_path})

    async def handle_reply(self, protocol: Any, message: dict[str, Any]) -> None:
        """Send a reply, then wait until there is room for the next one."""
        await super().handle_reply(protocol, message)
        flow = protocol.flow
        if flow is not None and message["type"] in ("websocket.send", "http.response.body"):
            await flow.wait()
