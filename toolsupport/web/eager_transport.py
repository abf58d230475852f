"""Writes the pieces of a stream to its connection at once where nothing else waits to be written."""

from __future__ import annotations

from collections.abc import Iterable

from twisted.internet.tcp import Server


class EagerTransport(Server):
    """A connection of Twisted's, whose writes skip two rounds of the event loop each while it is `eager`.

    Twisted collects what is written, asks the loop to report when the socket can take it, writes it then, and asks the
    loop to stop. The socket can almost always take it at once. Data that does not fit, and errors, are handled by
    Twisted as usual. Pages and their headers are still collected, so that they are sent together.
    """

    eager = False

    def hurry(self, eager: bool) -> None:
        """Start or stop writing at once; small pieces then do not wait for acknowledgements (TCP_NODELAY)."""
        if eager and not self.eager and self.connected:
            self.setTcpNoDelay(True)
        self.eager = eager

    def write(self, data: bytes) -> None:
        waits = self.dataBuffer or self._tempDataBuffer
        if waits or not (self.eager and self.connected) or self.disconnecting or self.TLS:
            super().write(data)  # type: ignore[no-untyped-call]  # twisted has types for some of it
            return
        try:
            sent = self.socket.send(data) if data else 0
        except OSError:  # a full buffer, or a lost connection: Twisted tries again, and ends it
            sent = 0
        if sent < len(data):
            super().write(data[sent:])  # type: ignore[no-untyped-call]

    def writeSequence(self, iovec: Iterable[bytes]) -> None:
        self.write(b"".join(iovec))
