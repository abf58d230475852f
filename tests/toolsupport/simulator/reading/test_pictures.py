"""Images are read by their bytes: type, size, and for PNG the main colour, in bounded time."""

from __future__ import annotations

import random
import struct
import zlib

from tests.processor_time import must_cost_at_most
from tests.tables import every
from toolsupport.simulator.reading.pictures import name_of, read

FILTERS = range(5)


def png(width: int, height: int, pixel: bytes, kind: int = 2, depth: int = 8, **more: object) -> bytes:
    """A PNG of one colour; `filters` picks the filter of each line, `palette` the colours of kind 3."""
    step, line = max(1, len(pixel)), pixel * width
    if depth < 8:
        line = pixel * ((width * depth + 7) // 8)
    filter_ = int(more.get("filters", 0))  # type: ignore[call-overload]
    first, later = (filtered(filter_, line, above, step) if filter_ else line for above in (bytes(len(line)), line))
    raw = bytes([filter_]) + first + (bytes([filter_]) + later) * (height - 1)
    head = struct.pack(">IIBBBBB", width, height, depth, kind, 0, 0, 0)
    palette = more.get("palette")
    colours = [(b"PLTE", palette)] if isinstance(palette, bytes) else []
    parts = [(b"IHDR", head), *colours, (b"IDAT", zlib.compress(raw)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(map(chunk, parts))


def chunk(part: tuple[bytes, bytes]) -> bytes:
    name, body = part
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def filtered(kind: int, line: bytes, above: bytes, step: int) -> bytes:
    """The line as the PNG specification writes it with a filter."""
    done = bytearray()
    for at, value in enumerate(line):
        left, up, corner = line[at - step] if at >= step else 0, above[at], above[at - step] if at >= step else 0
        paeth = min((left, up, corner), key=lambda known: abs(left + up - corner - known))
        done.append((value - (0, left, up, (left + up) // 2, paeth)[kind]) & 255)
    return bytes(done)


RED, BLUE = b"\xe0\x10\x10", b"\x10\x10\xe0"
PICTURES = (
    *((png(9, 5, RED, filters=kind), (9, 5, "red")) for kind in FILTERS),
    (png(3, 3, BLUE + b"\xff", kind=6), (3, 3, "blue")),
    (png(3, 3, BLUE + b"\x00", kind=6), (3, 3, "")),
    (png(4, 2, b"\xff", kind=0), (4, 2, "white")),
    (png(8, 2, b"\xff", kind=0, depth=1), (8, 2, "white")),
    (png(8, 2, b"\x55", kind=3, depth=2, palette=b"\0\0\0" + b"\x10\xc0\x10"), (8, 2, "green")),
    (png(3, 3, b"\xe0\xe0\x10\x10\x10\x10", depth=16), (3, 3, "red")),
    (png(300, 400, RED)[:2000], (300, 400, "red")),
)


@every("data, expected", PICTURES)
def test_a_png_is_read(data: bytes, expected: tuple[int, int, str]) -> None:
    found = read(data)
    assert (found.kind, found.size, (found.width, found.height, found.colour)) == ("PNG", len(data), expected)


OTHERS = (
    (b"GIF89a" + struct.pack("<HH", 7, 9) + b"rest", ("GIF", 7, 9)),
    (b"BM" + bytes(16) + struct.pack("<ii", 7, -9), ("BMP", 7, 9)),
    (b"\xff\xd8\xff\xe0\x00\x04xx\xff\xc0\x00\x11\x08" + struct.pack(">HH", 9, 7) + bytes(9), ("JPEG", 7, 9)),
    (b"RIFFxxxxWEBPVP8X" + bytes(8) + b"\x06\0\0\x08\0\0", ("WebP", 7, 9)),
    (b"RIFFxxxxWEBPVP8L" + bytes(5) + (6 | 8 << 14).to_bytes(4, "little"), ("WebP", 7, 9)),
    (b"RIFFxxxxWEBPVP8 " + bytes(10) + struct.pack("<HH", 7, 9), ("WebP", 7, 9)),
    (b"nothing", ("", 0, 0)),
    (b"", ("", 0, 0)),
)


@every("data, expected", OTHERS)
def test_other_kinds_have_their_size(data: bytes, expected: tuple[str, int, int]) -> None:
    found = read(data)
    assert (found.kind, found.width, found.height) == expected and found.size == len(data)


def test_broken_bytes_and_large_images_end_soon() -> None:
    chance, whole = random.Random(1), png(40, 40, RED, filters=4)
    with must_cost_at_most(5):
        for _ in range(100):
            place = chance.randrange(8, len(whole))
            assert read(whole[:place] + chance.randbytes(3) + whole[place + 3 :]).kind == "PNG"
        assert read(png(5000, 3000, b"\xff", kind=0)).colour == "white"
        assert read(png(2, 2, RED)[:16] + b"\xff" * 8 + png(2, 2, RED)[24:]).colour == ""


@every(
    "pixel, name",
    [
        ((0, 0, 0), "black"),
        ((250, 250, 250), "white"),
        ((128, 128, 128), "grey"),
        ((230, 20, 20), "red"),
        ((240, 140, 20), "orange"),
        ((240, 230, 30), "yellow"),
        ((30, 160, 40), "green"),
        ((30, 200, 220), "cyan"),
        ((20, 40, 220), "blue"),
        ((130, 30, 200), "purple"),
        ((250, 80, 180), "pink"),
        ((120, 70, 20), "brown"),
    ],
)
def test_colours_have_everyday_names(pixel: tuple[int, int, int], name: str) -> None:
    assert name_of(pixel) == name
