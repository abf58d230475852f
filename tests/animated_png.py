"""Joins pictures of one size into an animated PNG, frame after frame."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Sequence

SIGNATURE = b"\x89PNG\r\n\x1a\n"


def joined(frames: Sequence[bytes], seconds: float, last: float) -> bytes:
    """Return an animated PNG of PNG pictures, which show for `seconds` each and the last one longer."""
    header = next(body for kind, body in chunks(frames[0]) if kind == b"IHDR")
    size = header[:8]
    made = [SIGNATURE, chunk(b"IHDR", header), chunk(b"acTL", struct.pack(">II", len(frames), 0))]
    number = 0
    for place, frame in enumerate(frames):
        if header != next(body for kind, body in chunks(frame) if kind == b"IHDR"):
            raise ValueError("all pictures need the same size and colours")
        shown = last if place == len(frames) - 1 else seconds
        control = struct.pack(">I", number) + size + struct.pack(">IIHHBB", 0, 0, round(shown * 100), 100, 0, 0)
        made.append(chunk(b"fcTL", control))
        number += 1
        # The pictures come from a browser that compresses for speed.
        pixels = zlib.compress(zlib.decompress(b"".join(body for kind, body in chunks(frame) if kind == b"IDAT")), 9)
        if place == 0:
            made.append(chunk(b"IDAT", pixels))
        else:
            made.append(chunk(b"fdAT", struct.pack(">I", number) + pixels))
            number += 1
    return b"".join([*made, chunk(b"IEND", b"")])


def chunks(picture: bytes) -> Iterator[tuple[bytes, bytes]]:
    place = len(SIGNATURE)
    while place < len(picture):
        length = int.from_bytes(picture[place : place + 4])
        yield picture[place + 4 : place + 8], picture[place + 8 : place + 8 + length]
        place += length + 12


def chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
