"""An animated PNG contains every picture, and programs that show only the first one find it."""

from __future__ import annotations

import struct
import zlib

import pytest

from tests.animated_png import SIGNATURE, chunk, chunks, joined


def picture(shade: int, width: int = 2) -> bytes:
    header = struct.pack(">IIBBBBB", width, 1, 8, 0, 0, 0, 0)
    pixels = zlib.compress(bytes([0, *[shade] * width]), 1)
    return SIGNATURE + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


def test_every_picture_is_in_it_in_order() -> None:
    moving = list(chunks(joined([picture(1), picture(2), picture(3)], 0.5, 2)))
    assert [kind for kind, _ in moving] == [
        *(b"IHDR", b"acTL", b"fcTL", b"IDAT", b"fcTL", b"fdAT", b"fcTL", b"fdAT", b"IEND")
    ]
    assert zlib.decompress(moving[3][1]) == bytes([0, 1, 1])
    assert zlib.decompress(moving[7][1][4:]) == bytes([0, 3, 3])
    numbers = [int.from_bytes(body[:4]) for kind, body in moving if kind in (b"fcTL", b"fdAT")]
    assert numbers == [0, 1, 2, 3, 4]
    assert [struct.unpack(">HH", body[20:24]) for kind, body in moving if kind == b"fcTL"][1:] == [
        (50, 100),
        (200, 100),
    ]


def test_pictures_of_several_sizes_are_refused() -> None:
    with pytest.raises(ValueError, match="same size"):
        joined([picture(1), picture(1, width=3)], 1, 1)
