"""Bounds Daphne's server: connections, oversized bodies, slow clients and readers."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import socket
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

# Twisted's loop must be chosen before anything else imports Twisted.
from daphne import server as daphne_server  # isort: skip

from daphne.http_protocol import HTTPFactory, WebRequest
from django.conf import settings
from twisted.internet.endpoints import AdoptedStreamServerEndpoint
from twisted.internet.interfaces import IAddress
from twisted.web import http

from toolsupport.registry.people import session_store
from toolsupport.web import protocol_errors
from toolsupport.web.connection_table import MOST_LEAVING, ConnectionLimits, ConnectionTable
from toolsupport.web.eager_transport import EagerTransport
from toolsupport.web.flow_control import AT_ONCE, FlowControl
from toolsupport.web.http_channel import FREE_PIECES, PIECE_BYTES, TOO_SMALL, BoundedChannel
from toolsupport.web.socket_protocol import BoundedSocketFactory

log = logging.getLogger(__name__)

MIB = 1024 * 1024
BODY_LIMIT = 8 * MIB
FORM_BYTES = MIB  # bytes that a form's other fields and boundaries may add to its files
# Answers here begin after a model was loaded, however long that takes; requests to models have their own limits.
PATIENT = b"/v1/"
UPLOADS = re.compile(rb"/chat/[0-9a-f-]{36}/files/(\?.*)?")
# Seconds that a large upload waits for its session from the database; after that it is refused.
PATIENCE = 0.5
# While that answer is open, a body stops this many bytes before its limit: more than one read of a socket returns.
MARGIN = MIB
# Connections that are accepted in one round of the event loop. The others wait in the queue of the system, where
# their requests can arrive; most of a larger number would be refused, for lack of connections to close.
ACCEPTED = MOST_LEAVING // 2
SWEEP = 1.0  # seconds between two checks of the deadlines of connections
write_part: Callable[[http.Request, bytes], None] = http.Request.write
_asking = ThreadPoolExecutor(max_workers=1, thread_name_prefix="uploads")
TOO_MANY = "too many bodies of requests are held at once"
TOO_LARGE = "The request is larger than this site accepts."


class BoundedRequest(WebRequest):  # type: ignore[misc]  # daphne is untyped
    """A request whose body is dropped beyond the limit, and whose streamed answer waits for its reader."""

    flow: FlowControl | None = None
    room = BODY_LIMIT
    pieces = 0
    length = 0
    too_large = False
    moved = 0.0
    asked: asyncio.Future[bool] | None = None

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        # Twisted would parse forms in the event loop, and Django does it again.
        self._parsePOSTFormSubmission = False

    def gotLength(self, length: int | None) -> None:
        largest = settings.ENV["TOOLSUPPORT_WORKSPACE_MIB"] * MIB + FORM_BYTES
        upload = length is not None and BODY_LIMIT < length <= largest and UPLOADS.fullmatch(self.channel._path)
        if upload:
            self.ask_who_sends()
        self.too_large = length is not None and length > BODY_LIMIT and not upload
        # A short length keeps Twisted from making a temporary file; the body is dropped anyway.
        super().gotLength(0 if self.too_large else length)

    def ask_who_sends(self) -> None:
        """Look up the session of a large upload in a thread, so that other connections continue meanwhile."""
        key = self.received_cookies.get(settings.SESSION_COOKIE_NAME.encode(), b"").decode("latin-1")
        loop = asyncio.get_running_loop()
        self.asked = loop.run_in_executor(_asking, session_store.lets_in, key)
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
        self.pieces, self.length = self.pieces + 1, self.length + len(data)
        if self.pieces > FREE_PIECES and self.length < self.pieces * PIECE_BYTES:
            self.channel.refuse(400, TOO_SMALL)
            raise http._MalformedChunkedDataError(TOO_SMALL)  # so that the rest of this read is dropped
        self.room -= len(data)
        self.too_large = self.too_large or self.room < 0
        if not self.too_large and not self.channel.place.hold(len(data)):
            self.channel.refuse(503, TOO_MANY)
            raise http._MalformedChunkedDataError(TOO_MANY)
        if not self.too_large:
            super().handleContentChunk(data)
        if self.asked is not None and self.room < MARGIN:
            self.channel._networkProducer.pauseProducing()

    def process(self) -> Any:
        if self.too_large and not UPLOADS.fullmatch(self.uri):
            return self.basic_error(413, b"Content Too Large", TOO_LARGE)
        # The file page checks the length, and has its own error message.
        begun = super().process()
        if self.transport is None and self.channel is not None:  # its connection is that of a websocket now
            self.channel.requests.clear()
        return begun

    def handle_reply(self, message: dict[str, Any]) -> None:
        """Send a piece of the answer; a streamed one gets a flow to wait for."""
        self.moved = time.time()
        if message.get("more_body") and self.flow is None and self.channel is not None and not self.finished:
            self.flow = FlowControl()
            self.registerProducer(self.flow, True)
            self.channel.transport.hurry(True)
        elif message["type"] == "http.response.body" and not message.get("more_body") and self.flow is not None:
            self.unregisterProducer()
            self.flow = None
            if self.channel is not None:
                self.channel.transport.hurry(False)
        super().handle_reply(message)

    def send_at_once(self, part: Callable[[], bytes]) -> bool:
        """Send the next part of a streamed response if the client reads; return whether it was sent.

        This skips Django's response, its task and Daphne, which take about 40 calls of functions for a part.
        """
        if self.flow is None or not self.flow.flows or self.channel is None or self.finished:
            return False
        self.moved = time.time()
        write_part(self, part())
        return True

    def check_timeouts(self) -> None:
        """Abort an answer that has not begun in time, and disconnect a reader that reads nothing."""
        if not self._response_started and self.uri.startswith(PATIENT):
            return
        if not self._response_started:
            super().check_timeouts()
        elif self.channel is not None and time.time() - self.moved > self.server.http_timeout:
            self.channel.transport.abortConnection()

    def basic_error(self, status: int, status_text: bytes, body: str) -> None:
        """Return an error without calling Django, and close the connection."""
        if self.channel is not None:
            self.channel.persistent = 0
        chosen, content = protocol_errors.answer(self.uri, status, body)
        headers = [(name.encode(), value.encode()) for name, value in chosen.items()]
        self.handle_reply({"type": "http.response.start", "status": status, "headers": headers})
        self.handle_reply({"type": "http.response.body", "body": content})


class BoundedRequestFactory(HTTPFactory):  # type: ignore[misc]  # daphne is untyped
    """Makes a connection only if the table has a place for it."""

    timeOut = None  # the table enforces the timeouts

    def buildProtocol(self, addr: IAddress) -> BoundedChannel | None:
        place = self.server.table.admit(getattr(addr, "host", "127.0.0.1"))
        if place is None:
            return None
        channel = BoundedChannel()
        channel.place, channel.factory, channel.requestFactory = place, self, BoundedRequest
        channel.callLater, channel.timeOut = self.reactor.callLater, None
        return channel


def _endpoint(reactor: Any, number: str) -> Any:
    """Return the endpoint of a listening socket; Daphne's own treats each as IPv4."""
    with socket.socket(fileno=os.dup(int(number))) as shared:
        adopted: Any = AdoptedStreamServerEndpoint  # untyped
        return adopted(reactor, int(number), shared.family)


# Daphne makes its factories while it starts, and accepts no others.
daphne_server.HTTPFactory, daphne_server.WebSocketFactory = BoundedRequestFactory, BoundedSocketFactory
daphne_server.serverFromString = _endpoint


def accept_few(port: Any) -> None:
    """Accept connections of a port; Twisted alone accepts 20 more in each round while others wait."""
    port.numberAccepts = ACCEPTED
    type(port).doRead(port)


class BoundedServer(daphne_server.Server):  # type: ignore[misc]  # daphne is untyped
    """Daphne's server, which can stop listening while open requests continue; its endpoints are numbers of sockets."""

    connections: dict[Any, dict[str, Any]]

    def __init__(self, limits: ConnectionLimits | None = None, **options: Any) -> None:
        super().__init__(**options)
        self.ports: list[Any] = []
        self.table = ConnectionTable(limits or ConnectionLimits(), time.monotonic)

    def listen_success(self, port: Any) -> None:
        port.transport = EagerTransport
        port.doRead = partial(accept_few, port)
        self.ports.append(port)
        super().listen_success(port)
        self.sweep(port.reactor)

    def sweep(self, reactor: Any) -> None:
        """End connections whose time is over, now and every second."""
        self.table.sweep()
        reactor.callLater(min(SWEEP, self.table.limits.head / 4), self.sweep, reactor)

    def kill_all_applications(self) -> Any:
        # Daphne expects each connection to have an application, but an incomplete request has none.
        self.connections = {one: found for one, found in self.connections.items() if "application_instance" in found}
        return super().kill_all_applications()

    def create_application(self, protocol: Any, scope: dict[str, Any]) -> Any:
        # Daphne takes the root path from a header that anybody can send.
        scope = scope | {"root_path": self.root_path}
        scope["extensions"] = {AT_ONCE: protocol.send_at_once}
        return super().create_application(protocol, scope)

    async def handle_reply(self, protocol: Any, message: dict[str, Any]) -> None:
        """Send a reply, then wait until there is room for the next one."""
        await super().handle_reply(protocol, message)
        flow = protocol.flow
        if flow is not None and message["type"] in ("websocket.send", "http.response.body"):
            await flow.wait()
