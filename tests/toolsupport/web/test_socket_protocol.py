"""The frames that a socket sends are those of the standard."""

from __future__ import annotations

import pytest

from toolsupport.web.socket_protocol import header_of


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
