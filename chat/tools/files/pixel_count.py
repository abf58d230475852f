"""Counts the pixels that a decoder goes through in all frames and passes of an image, without decoding one.

Each frame of an animation is unpacked to the size of the whole image, and each scan of a JPEG passes over all of its
pixels: six megabytes hold 300,000 of either. Every format is a list of parts whose lengths are written before them.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator

# Parts that are looked at, and scans of a JPEG. Six megabytes of an ordinary GIF have 25,000, of 255 bytes each.
MOST_PARTS, MOST_SCANS = 50_000, 1_000
START_OF_SCAN = b"\xff\xda"


class TooManyFrames(ValueError):
    """An image with more parts than any real image has."""


def unpacked(data: bytes, kind: str, canvas: int) -> tuple[int, int]:
    """Return the pixels of the largest frame and of all frames; `canvas` is the size that the image states.

    A frame may be larger than that. Raises TooManyFrames.
    """
    frames = [max(canvas, pixels) for pixels in FRAMES[kind](data)] or [canvas]
    return max(frames), sum(frames)


def _gif(data: bytes) -> Iterator[int]:
    at = 13 + _colours(data, 10)
    budget = MOST_PARTS
    while at < len(data) and data[at] in b"\x2c\x21":
        if data[at] == 0x2C:
            if at + 10 > len(data):
                return
            width, height = struct.unpack_from("<HH", data, at + 5)
            yield width * height
            at += 11 + _colours(data, at + 9)
        else:
            at += 2
        at, budget = _after_pieces(data, at, budget - 1)


def _colours(data: bytes, at: int) -> int:
    """Return the length of the table of colours that the byte at `at` announces."""
    flags = data[at] if at < len(data) else 0
    return 3 << (flags & 7) + 1 if flags & 0x80 else 0


def _after_pieces(data: bytes, at: int, budget: int) -> tuple[int, int]:
    """Return the position after a list of pieces, each with its length in one byte, and the remaining budget."""
    end = len(data)
    while at < end and data[at]:
        at += data[at] + 1
        budget -= 1
        if budget <= 0:
            raise TooManyFrames
    return at + 1, budget


def _png(data: bytes) -> Iterator[int]:
    """A chunk fcTL begins each frame; without one the image is a single frame."""
    for name, at in _chunks(data, 8, ">I4s", 12):
        if name == b"IEND":
            return
        if name == b"fcTL" and at + 12 <= len(data):
            width, height = struct.unpack_from(">II", data, at + 4)
            yield width * height


def _webp(data: bytes) -> Iterator[int]:
    for name, at in _chunks(data, 12, "<4sI", 8):
        if name == b"ANMF" and at + 12 <= len(data):
            width, height = (int.from_bytes(data[at + place : at + place + 3], "little") + 1 for place in (6, 9))
            yield width * height


def _chunks(data: bytes, at: int, head: str, around: int) -> Iterator[tuple[bytes, int]]:
    """Yield the name of each chunk and the place of its content."""
    for _ in range(MOST_PARTS):
        if at + 8 > len(data):
            return
        first, second = struct.unpack_from(head, data, at)
        name, length = (first, second) if isinstance(first, bytes) else (second, first)
        yield name, at + 8
        at += around + length + (length % 2 if around == 8 else 0)
    raise TooManyFrames


def _jpeg(data: bytes) -> Iterator[int]:
    """A baseline JPEG has one scan, a progressive one about ten; packed pixels hold no such mark."""
    scans = data.count(START_OF_SCAN)
    if scans > MOST_SCANS:
        raise TooManyFrames
    return iter([0] * scans)


FRAMES: dict[str, Callable[[bytes], Iterator[int]]] = {
    "image/png": _png,
    "image/jpeg": _jpeg,
    "image/gif": _gif,
    "image/webp": _webp,
}
