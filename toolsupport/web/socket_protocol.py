"""Serves one websocket within limits: it sends only as the client reads, and reads only as the application handles."""

from __future__ import annotations

import struct
import time
from collections import deque
from collections.abc import Sequence
from typing import Any

# Twisted's loop must be chosen before anything else imports Twisted.
from daphne import server as _  # noqa: F401  # isort: skip

import autobahn.twisted.websocket as autobahn_socket
import autobahn.websocket.protocol as autobahn_protocol
from autobahn.exception import Disconnected
from autobahn.websocket.types import ConnectionDeny
from daphne.ws_protocol import WebSocketFactory, WebSocketProtocol

from toolsupport.web import protocol_errors
from toolsupport.web.connection_table import Connection, Phase
from toolsupport.web.flow_control import FlowControl
from toolsupport.web.http_channel import unsent

TEXT, BINARY = 1, 2  # the kinds of a frame
FINAL = 0x80  # the bit of a frame that is a whole message
POLICY = 1008  # the close code for too many frames
# The client is not read while this many bytes wait for the application; a message costs some besides its own.
MOST_WAITING, MESSAGE_COST = 512 * 1024, 1024
# Frames of every kind in so many seconds, those of one message and pings as well. A page needs 30; each takes 10 µs of
# the event loop, and 64 KiB, which are read at once, hold 11,000 empty ones.
MOST_FRAMES, WINDOW = 1_000, 10.0


def unformatted(value: object, *options: object, **more: object) -> object:
    return value


# Autobahn formats and colours the values of its debug lines even if they are not logged, which took two thirds of the
# time to open a socket.
for _module in (autobahn_socket, autobahn_protocol):
    vars(_module).update(hltype=unformatted, hlval=unformatted, pformat=unformatted)


class BoundedSocket(WebSocketProtocol):  # type: ignore[misc]  # daphne is untyped
    """A websocket. Its send limit is independent of its receive limit."""

    flow: FlowControl | None = None
    place: Connection
    queue: Any = None  # of the application
    waiting = 0  # bytes for the application, the sum of `sizes`
    unread = False  # the client does not read
    handshaking = False

    def connectionMade(self) -> None:
        self.sizes: deque[int] = deque()
        self.frames, self.window = 0, time.monotonic()
        self.place = self.transport.place
        self.place.expire = self.expire
        self.place.release()
        self.place.enter(Phase.ANSWER)
        super().connectionMade()

    def connectionLost(self, reason: Any = None) -> None:
        self.place.lost()
        super().connectionLost(reason)
        # What refers back to this object would keep it until the next garbage collection.
        self.flow = self.is_open = self.is_closed = None
        if self.queue is not None:
            del self.queue._get

    def expire(self, phase: Phase) -> None:
        if phase is Phase.READER:
            self.note("the client does not read")
        self.transport.abortConnection()

    def onConnect(self, request: Any) -> Any:
        texts = [request.path, *request.headers, request.headers.get("sec-websocket-protocol", "")]
        if not all(text.isascii() for text in texts):
            raise ConnectionDeny(400, "The handshake has characters outside ASCII")  # type: ignore[no-untyped-call]
        self.handshaking = True
        return super().onConnect(request)

    def onClose(self, wasClean: bool, code: int, reason: str) -> None:
        if self.handshaking:  # otherwise the server does not have it yet
            super().onClose(wasClean, code, reason)

    def dataReceived(self, data: bytes) -> None:
        if self.handshaking and self.state == self.STATE_CONNECTING:
            # Data that arrives before the answer to the handshake would be read as another handshake.
            self.note("data before the handshake was answered")
            self.transport.abortConnection()
        else:
            super().dataReceived(data)

    def applicationCreateWorked(self, application_queue: Any) -> None:
        """Count the messages that the application takes from its queue; subclasses of a queue may replace `_get`."""
        take = application_queue._get

        def taken() -> dict[str, Any]:
            message: dict[str, Any] = take()
            if message["type"] == "websocket.receive":
                self.waiting -= self.sizes.popleft()
                self.read_or_wait()
            return message

        self.queue, application_queue._get = application_queue, taken
        super().applicationCreateWorked(application_queue)

    def onOpen(self) -> None:
        self.flow = FlowControl(self.flows)
        # Until now the buffer notified the HTTP channel, which the socket came from.
        self.transport.unregisterProducer()
        self.transport.registerProducer(self.flow, True)
        self.transport.hurry(True)
        super().onOpen()

    def flows(self, flows: bool) -> None:
        """Stop reading while the client does not read: each ping would add a pong to what is unsent."""
        self.unread = not flows
        if self.state == self.STATE_OPEN:
            self.place.enter(Phase.ANSWER if flows else Phase.READER, 0 if flows else unsent(self.transport))
        self.read_or_wait()

    def onFrameBegin(self) -> None:
        """Count a frame, and end a connection that sends more than any page does."""
        self.frames += 1
        if self.frames > MOST_FRAMES:
            began, self.window, self.frames = self.window, time.monotonic(), 1
            if self.window - began < WINDOW:
                self._fail_connection(POLICY, f"more than {MOST_FRAMES:,} frames in {WINDOW:.0f} s")
                return
        super().onFrameBegin()

    def onMessage(self, payload: bytes, isBinary: bool) -> None:
        self.sizes.append(MESSAGE_COST + len(payload))
        self.waiting += self.sizes[-1]
        super().onMessage(payload, isBinary)
        self.read_or_wait()

    def read_or_wait(self) -> None:
        if self.unread or self.waiting > MOST_WAITING:
            self.transport.pauseProducing()
        elif self.transport.connected and not self.transport.disconnecting:
            self.transport.resumeProducing()

    def serverSend(self, content: str | bytes, binary: bool = False) -> None:
        data = content.encode() if isinstance(content, str) else content
        if self.state != self.STATE_OPEN:
            raise Disconnected("the socket is closed")
        # The header and the data in one write; beginning and ending a message would take three.
        self.sendFrame(opcode=BINARY if binary else TEXT, payload=data)

    def send_at_once(self, texts: Sequence[bytes]) -> bool:
        """Send frames of text if the socket is open and takes them now; return whether it did.

        A frame that goes through the application's queue, Daphne and Autobahn costs several times as much.
        """
        if self.state != self.STATE_OPEN or self.send_queue or self.flow is None or not self.flow.flows:
            return False
        self.transport.write(b"".join([header_of(len(text)) + text for text in texts]))
        return True

    def serverClose(self, code: int | None = None) -> None:
        # Twisted does not close a connection with a registered producer.
        self.transport.unregisterProducer()
        super().serverClose(code)

    def _closeConnection(self, abort: bool = False) -> None:
        super()._closeConnection(abort)
        self.place.enter(Phase.CLOSING, unsent(self.transport))

    def _fail_connection(self, code: int = 1001, reason: str = "going away") -> None:
        if not self.failedByMe:
            self.note(reason)
        super()._fail_connection(code, reason)

    def failHandshake(self, reason: str, code: int = 400, responseHeaders: Any = None) -> None:
        self.note(reason)
        super().failHandshake(reason, code, responseHeaders)

    def sendHttpErrorResponse(self, code: int, reason: str, responseHeaders: Any = None) -> None:
        self.sendData(protocol_errors.raw(b"", code, f"{reason}."))

    def note(self, reason: str) -> None:
        """Log why a websocket ends, in one line."""
        host = getattr(self.transport.getPeer(), "host", "unknown")
        plain = "".join(letter if letter.isprintable() else " " for letter in reason)[:200]
        self.place.table.note(f"ended a websocket of {host}: {plain}")


def header_of(size: int) -> bytes:
    """Return the header of a whole text frame of a server (RFC 6455, 5.2), which is not masked."""
    if size < 126:
        return struct.pack("!BB", FINAL | TEXT, size)
    if size < 2**16:
        return struct.pack("!BBH", FINAL | TEXT, 126, size)
    return struct.pack("!BBQ", FINAL | TEXT, 127, size)


class BoundedSocketFactory(WebSocketFactory):  # type: ignore[misc]  # daphne is untyped
    protocol = BoundedSocket
