"""Reads the requests of one HTTP connection within limits of time, size and number."""

from __future__ import annotations

from typing import Any

# Twisted's loop must be chosen before anything else imports Twisted.
from daphne import server as _  # noqa: F401  # isort: skip

from twisted.web import http

from toolsupport.web import protocol_errors
from toolsupport.web.connection_table import Connection, Phase

# Small pieces cost as much work as large ones: beyond FREE_PIECES they need this size on average.
FREE_PIECES, PIECE_BYTES = 1000, 64
TIMES_OUT = {Phase.HEAD: "the head of a request took too long", Phase.BODY: "the body of a request took too long"}
TOO_SMALL = "the body of a request came in too many small pieces"
Channel: Any = http.HTTPChannel  # Twisted gives it few types


def unsent(transport: Any) -> int:
    """Return how many bytes wait until the client reads them."""
    return int(len(transport.dataBuffer) - transport.offset + transport._tempDataLen)


class BoundedChannel(Channel):  # type: ignore[misc]
    """An HTTP connection. A following request is read only after the client has read the answer to the one before."""

    maxHeaders = 200
    place: Connection
    over = False  # nothing is read any more
    postponed: Any = None  # an answered request whose answer has not been read

    def connectionMade(self) -> None:
        super().connectionMade()
        self.transport.place = self.place
        self.place.expire = self.expire

    def connectionLost(self, reason: Any = None) -> None:
        self.place.lost()
        super().connectionLost(reason)

    def dataReceived(self, data: bytes) -> None:
        if not self.over:
            self.place.received(len(data))
            super().dataReceived(data)

    def _maybeChooseTransferDecoder(self, header: bytes, data: bytes) -> bool:
        try:
            return bool(super()._maybeChooseTransferDecoder(header, data))
        except ValueError:  # Python refuses to convert a length of thousands of digits
            return bool(self._failChooseTransferDecoder())

    def allHeadersReceived(self) -> None:
        super().allHeadersReceived()
        if self.length != 0 and not self.over:
            self.place.enter(Phase.BODY)

    def allContentReceived(self) -> None:
        self.place.enter(Phase.ANSWER)
        super().allContentReceived()

    def requestDone(self, request: Any) -> None:
        self.place.release()
        if self._waitingForTransport and self.persistent and not self.over:
            self.postponed = request
            self.place.enter(Phase.READER, unsent(self.transport))
            return
        self.place.enter(Phase.IDLE)
        super().requestDone(request)

    def resumeProducing(self) -> None:
        super().resumeProducing()
        request, self.postponed = self.postponed, None
        if request is not None:
            self.requestDone(request)

    def loseConnection(self) -> None:
        self.over = True
        super().loseConnection()
        self.place.enter(Phase.CLOSING, unsent(self.transport))

    def lineLengthExceeded(self, line: bytes) -> None:
        self.refuse(431, "a line of a request is too long")

    def _respondToBadRequestAndDisconnect(self) -> None:
        if self._receivedHeaderSize > self.totalHeadersSize or self._receivedHeaderCount > self.maxHeaders:
            self.refuse(431, "the head of a request is too large")
        else:
            self.refuse(400, "a request is not valid HTTP")

    def refuse(self, status: int, reason: str) -> None:
        """Answer with an error, log the reason, and close the connection."""
        if self.over:
            return
        self.over = True
        host = getattr(self.transport.getPeer(), "host", "unknown")
        self.place.table.note(f"refused a request from {host}: {reason}")
        if not self._handlingRequest:
            uri = getattr(self, "_path", b"")
            self.transport.write(protocol_errors.raw(uri, status, f"{reason[0].upper()}{reason[1:]}."))
        self.loseConnection()

    def expire(self, phase: Phase) -> None:
        """End the connection: its time in this phase is over."""
        if phase in TIMES_OUT and (phase is Phase.BODY or self.place.bytes):
            self.refuse(408, TIMES_OUT[phase])
        elif phase in (Phase.HEAD, Phase.IDLE):
            self.loseConnection()
        else:
            self.transport.abortConnection()
