"""Reads the type, the size and the main colour of an image from its bytes."""

from __future__ import annotations

import struct
import zlib
from collections import Counter
from collections.abc import Iterator
from colorsys import rgb_to_hsv
from dataclasses import dataclass

Pixel = tuple[int, int, int]

# Limits of one image: unpacked bytes, and pixels that are counted.
LARGEST = 200_000
COUNTED = 4000
KINDS = (
    (0, b"\x89PNG\r\n\x1a\n", "PNG"),
    (0, b"\xff\xd8\xff", "JPEG"),
    (0, b"GIF8", "GIF"),
    (8, b"WEBP", "WebP"),
    (0, b"BM", "BMP"),
)
CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
# The hue in degrees at which the range of each name ends.
HUES = (
    *((15, "red"), (45, "orange"), (70, "yellow"), (165, "green"), (200, "cyan"), (255, "blue"), (290, "purple")),
    *((335, "pink"), (361, "red")),
)


@dataclass(frozen=True, slots=True)
class Picture:
    """An image; `width` is 0 where the size, `colour` is "" where the main colour cannot be read."""

    kind: str
    size: int
    width: int = 0
    height: int = 0
    colour: str = ""


def read(data: bytes) -> Picture:
    """Return what can be read; for a broken image at least its number of bytes."""
    kind = next((name for at, sign, name in KINDS if data[at : at + len(sign)] == sign), "")
    try:
        width, height = SIZES[kind](data) if kind in SIZES else (0, 0)
    except (struct.error, IndexError):
        width, height = 0, 0
    return Picture(kind, len(data), width, height, main_colour(data) if kind == "PNG" and width else "")


def _png_size(data: bytes) -> tuple[int, int]:
    width, height = struct.unpack_from(">II", data, 16)
    return width, height


def _gif_size(data: bytes) -> tuple[int, int]:
    width, height = struct.unpack_from("<HH", data, 6)
    return width, height


def _bmp_size(data: bytes) -> tuple[int, int]:
    width, height = struct.unpack_from("<ii", data, 18)
    return abs(width), abs(height)


def _jpeg_size(data: bytes) -> tuple[int, int]:
    """Return the size in the frame header, the first segment from C0 to CF that is not a table."""
    place = 2
    while place + 9 < len(data):
        marker, length = data[place + 1], struct.unpack_from(">H", data, place + 2)[0]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack_from(">HH", data, place + 5)
            return width, height
        place += 2 + length
    return 0, 0


def _webp_size(data: bytes) -> tuple[int, int]:
    form = data[12:16]
    if form == b"VP8X":
        return int.from_bytes(data[24:27], "little") + 1, int.from_bytes(data[27:30], "little") + 1
    if form == b"VP8L":
        bits = int.from_bytes(data[21:25], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    width, height = struct.unpack_from("<HH", data, 26)
    return width & 0x3FFF, height & 0x3FFF


SIZES = {"PNG": _png_size, "GIF": _gif_size, "BMP": _bmp_size, "JPEG": _jpeg_size, "WebP": _webp_size}


def main_colour(data: bytes) -> str:
    """Return the name of the colour that most pixels of a PNG have; "" if it cannot be unpacked."""
    try:
        found = list(_pixels(data))
    except (zlib.error, struct.error, IndexError, KeyError, ValueError):
        return ""
    names = Counter(name_of(pixel) for pixel in found[:: max(1, len(found) // COUNTED)])
    return names.most_common(1)[0][0] if names else ""


def name_of(pixel: Pixel) -> str:
    """Return the everyday name of a colour."""
    hue, saturation, value = rgb_to_hsv(*(channel / 255 for channel in pixel))
    if value < 0.2:
        return "black"
    if saturation < 0.15:
        return "white" if value > 0.85 else "grey"
    degrees = hue * 360
    name = next(name for end, name in HUES if degrees < end)
    return "brown" if name in ("orange", "red") and value < 0.6 and 10 < degrees < 50 else name


def _pixels(data: bytes) -> Iterator[Pixel]:
    """Yield the pixels that are not transparent, from the top up to the limit; of an interlaced PNG every eighth."""
    width, depth, kind, interlaced = *struct.unpack_from(">I4xBB", data, 16), data[28]
    parts = dict[bytes, bytes]()
    for name, body in _chunks(data):
        parts[name] = parts.get(name, b"") + body
    width = (width + 7) // 8 if interlaced else width
    bits = CHANNELS[kind] * depth
    step, length = max(1, bits // 8), (width * bits + 7) // 8
    if length >= LARGEST:
        raise ValueError("the lines are too long")
    raw = zlib.decompressobj().decompress(parts[b"IDAT"], LARGEST)
    before = bytes(length)
    for start in range(0, len(raw) - length, length + 1):
        before = _unfiltered(raw[start], raw[start + 1 : start + 1 + length], before, step)
        scale = 255 // ((1 << depth) - 1) if kind == 0 and depth < 8 else 1
        for values in _values(before, depth, CHANNELS[kind], width):
            channels = tuple(value * scale for value in values)
            pixel = _pixel(channels, kind, parts.get(b"PLTE", b""))
            if pixel:
                yield pixel


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    place = 8
    while place + 12 <= len(data):
        length, name = struct.unpack_from(">I4s", data, place)
        yield name, data[place + 8 : place + 8 + length]
        place += 12 + length


def _unfiltered(kind: int, line: bytes, above: bytes, step: int) -> bytes:
    """Undo the filter of a PNG line, which stores each byte as the difference to its neighbours."""
    if kind == 0:
        return line
    done = bytearray(len(line))
    for at, value in enumerate(line):
        left = done[at - step] if at >= step else 0
        corner = above[at - step] if at >= step else 0
        done[at] = (value + _guess(kind, left, above[at], corner)) & 255
    return bytes(done)


def _guess(kind: int, left: int, up: int, corner: int) -> int:
    if kind < 4:
        return (0, left, up, (left + up) // 2)[kind]
    nearest = left + up - corner
    return min((left, up, corner), key=lambda known: abs(nearest - known))


def _values(line: bytes, depth: int, channels: int, width: int) -> Iterator[tuple[int, ...]]:
    """Yield the channels of each pixel of a line, as bytes."""
    if depth == 16:
        line, depth = line[::2], 8
    if depth == 8:
        yield from (tuple(line[at : at + channels]) for at in range(0, width * channels, channels))
        return
    for place in range(width):
        bit = place * depth
        yield (line[bit // 8] >> (8 - depth - bit % 8) & (1 << depth) - 1,)


def _pixel(channels: tuple[int, ...], kind: int, palette: bytes) -> Pixel | None:
    """Return the colour of a pixel; None for one that is transparent."""
    if kind == 3:
        red, green, blue = palette[channels[0] * 3 : channels[0] * 3 + 3]
        return red, green, blue
    if kind in (4, 6) and channels[-1] < 128:
        return None
    if kind in (0, 4):
        return channels[0], channels[0], channels[0]
    return channels[0], channels[1], channels[2]
