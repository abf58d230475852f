"""The frames that a socket sends are those of the standard."""

from __future__ import annotations

from pprint import PrettyPrinter
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import autobahn.util
import pytest
from twisted.internet.address import IPv4Address

from toolsupport.web.flow_control import FlowControl
from toolsupport.web.socket_protocol import BoundedSocket, BoundedSocketFactory, header_of


@pytest.mark.parametrize(
    ("size", "header"),
    [
        (0, b"\x81\x00"),
        (125, b"\x81\x7d"),
        (126, b"\x81\x7e\x00\x7e"),
        (65535, b"\x81\x7e\xff\xff"),
        (65536, b"\x81\x7f\x00\x00\x00\x00\x00\x01\x00\x00"),
    ],
)
def test_the_header_of_a_frame_is_that_of_the_standard(size: int, header: bytes) -> None:
    assert header_of(size) == header


def test_debug_lines_that_are_not_logged_are_not_formatted(monkeypatch: pytest.MonkeyPatch) -> None:
    formatted = MagicMock(return_value="")
    monkeypatch.setattr(PrettyPrinter, "pformat", formatted)
    monkeypatch.setattr(autobahn.util, "hl", formatted)
    socket = BoundedSocketFactory(MagicMock(), server="test").buildProtocol(IPv4Address("TCP", "127.0.0.1", 1))
    socket.transport = MagicMock()
    socket.connectionMade()
    assert socket.state == socket.STATE_CONNECTING
    formatted.assert_not_called()


def test_a_frame_skips_the_queue_only_while_the_connection_takes_more() -> None:
    flow, written = FlowControl(), list[bytes]()
    socket: Any = SimpleNamespace(
        state=1, STATE_OPEN=1, send_queue=[], flow=flow, transport=SimpleNamespace(write=written.append)
    )
    assert BoundedSocket.send_at_once(socket, [b"first"])
    flow.pauseProducing()
    assert not BoundedSocket.send_at_once(socket, [b"second"])
    flow.resumeProducing()
    assert BoundedSocket.send_at_once(socket, [b"third", b"fourth"])
    assert written == [b"\x81\x05first", b"\x81\x05third\x81\x06fourth"]
