"""Reads the width and the height of an image from its first bytes, without decoding it.

Six megabytes of PNG can hold 6,000,000,000 pixels: a browser or a model server that decodes them runs out of memory.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

from chat.tools.files.pixel_count import TooManyFrames, unpacked

# The size of a camera's image; a decoder with one byte per channel needs 400 MB for it.
MOST_PIXELS = 100_000_000
# Of all frames of an animation: ten seconds at the size of a screen. Most decoders keep a few of them.
MOST_UNPACKED = 500_000_000
# Segments of a JPEG that are passed on the way to its size.
MOST_SEGMENTS = 2_000
Size = tuple[int, int]


def size_of(data: bytes, kind: str) -> Size | None:
    """Return width and height, or None if the image does not state them."""
    try:
        return SIZES[kind](data)
    except (struct.error, IndexError, KeyError):
        return None


def problem(data: bytes, kind: str) -> str:
    """Return why decoding it would take too much memory or time, "" if it would not.

    A file without a size is not decoded by others either.
    """
    size = size_of(data, kind)
    if size is None:
        return ""
    try:
        largest, all_frames = unpacked(data, kind, size[0] * size[1])
    except TooManyFrames:
        return "This image has too many parts."
    if largest > MOST_PIXELS:
        return f"This image has more than {MOST_PIXELS // 10**6} megapixels."
    if all_frames > MOST_UNPACKED:
        return f"The frames of this image have more than {MOST_UNPACKED // 10**6} megapixels."
    return ""


def _png(data: bytes) -> Size | None:
    width, height = struct.unpack_from(">II", data, 16)
    return (width, height) if data[12:16] == b"IHDR" else None


def _gif(data: bytes) -> Size:
    width, height = struct.unpack_from("<HH", data, 6)
    return width, height


def _webp(data: bytes) -> Size | None:
    kind = data[12:16]
    if kind == b"VP8X":
        width, height = (int.from_bytes(data[at : at + 3], "little") + 1 for at in (24, 27))
        return (width, height) if len(data) >= 30 else None
    if kind == b"VP8L":
        bits = struct.unpack_from("<I", data, 21)[0]
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8 ":
        width, height = struct.unpack_from("<HH", data, 26)
        return width & 0x3FFF, height & 0x3FFF
    return None


def _jpeg(data: bytes) -> Size | None:
    """Go from segment to segment up to the one of the frame."""
    at = 2
    for _ in range(MOST_SEGMENTS):
        while data[at] == 0xFF and data[at + 1] == 0xFF:  # filling bytes
            at += 1
        mark, kind = data[at], data[at + 1]
        if mark != 0xFF or kind in (0xD9, 0xDA):
            return None
        if 0xC0 <= kind <= 0xCF and kind not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack_from(">HH", data, at + 5)
            return width, height
        alone = kind == 0x01 or 0xD0 <= kind <= 0xD8
        at += 2 if alone else 2 + struct.unpack_from(">H", data, at + 2)[0]
    return None


SIZES: dict[str, Callable[[bytes], Size | None]] = {
    "image/png": _png,
    "image/jpeg": _jpeg,
    "image/gif": _gif,
    "image/webp": _webp,
}
