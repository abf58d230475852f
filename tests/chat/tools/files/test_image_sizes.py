"""The size of an image is read from its first bytes, and an image that unpacks to too many pixels is not taken."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import pytest

from chat.tools.files.image_sizes import problem, size_of
from chat.tools.files.image_types import read_picture
from chat.tools.files.workspace import Workspace
from tests.tables import every
from toolsupport.core.errors import NotFound

EXIF = b"\xff\xe1" + struct.pack(">H", 2 + 3000) + b"Exif\0\0" + b"\xff\xc0" * 1497


def png(width: int, height: int) -> bytes:
    """A PNG whose pixels are all zero: a thousandth of their number in bytes."""
    head = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"IDAT", zlib.compress(bytes(min(height, 2000) * (width // 8 + 1)), 9)), (b"IEND", b""))
    packed = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(packed)


def jpeg(width: int, height: int, *before: bytes) -> bytes:
    frame = b"\xff\xc2" + struct.pack(">HBHHB", 11, 8, height, width, 1) + b"\x01\x11\0"
    return b"\xff\xd8" + b"".join(before) + frame + b"\xff\xda\0\x02"


def webp(kind: bytes, head: bytes) -> bytes:
    return b"RIFF\0\0\0\0WEBP" + kind + struct.pack("<I", len(head)) + head


SIZES = {
    "a PNG": (png(40, 30), "image/png", (40, 30)),
    "a JPEG": (jpeg(640, 480), "image/jpeg", (640, 480)),
    "a JPEG with frames in its EXIF": (jpeg(640, 480, EXIF), "image/jpeg", (640, 480)),
    "a JPEG with filling bytes": (jpeg(640, 480, b"\xff\xff\xff\xe0\0\x02", b"\xff\x01"), "image/jpeg", (640, 480)),
    "a GIF": (b"GIF89a" + struct.pack("<HH", 9, 8), "image/gif", (9, 8)),
    "a WebP with a canvas": (
        webp(b"VP8X", b"\0\0\0\0" + (999).to_bytes(3, "little") + (499).to_bytes(3, "little")),
        "image/webp",
        (1000, 500),
    ),
    "a WebP without loss": (webp(b"VP8L", b"\x2f" + struct.pack("<I", 99 | 49 << 14)), "image/webp", (100, 50)),
    "a WebP": (webp(b"VP8 ", b"\0\0\0\x9d\x01\x2a" + struct.pack("<HH", 320, 200)), "image/webp", (320, 200)),
    "half a PNG": (png(40, 30)[:20], "image/png", None),
    "a JPEG without a frame": (b"\xff\xd8" + b"\xff\xe0\0\x02" * 5000, "image/jpeg", None),
    "a JPEG that leads back": (b"\xff\xd8\xff\xe0\0\0" * 3, "image/jpeg", None),
    "nothing": (b"", "image/webp", None),
}


@every("data, kind, wanted", SIZES.values())
def test_a_size_is_read(data: bytes, kind: str, wanted: tuple[int, int] | None) -> None:
    assert size_of(data, kind) == wanted


def gif(canvas: tuple[int, int], *frames: tuple[int, int], table: int = 0) -> bytes:
    """An animation whose frames have one byte of pixels each."""
    flags, colours = (0x80 | table, bytes(3 << table + 1)) if table else (0, b"")
    head = b"GIF89a" + struct.pack("<HHBBB", *canvas, flags, 0, 0) + colours
    timing = b"\x21\xf9\x04\0\x01\0\0\0"
    return head + b"".join(
        timing + b"\x2c" + struct.pack("<HHHHB", 0, 0, *size, 0) + b"\x02\x01\0\0" for size in frames
    )


def apng(size: tuple[int, int], frames: int) -> bytes:
    whole = png(*size)
    chunk = struct.pack(">I4s", 26, b"fcTL") + struct.pack(">III", 0, *size) + bytes(14 + 4)
    return whole[:33] + chunk * frames + whole[33:]


def moving_webp(size: tuple[int, int], frames: int) -> bytes:
    width, height = ((side - 1).to_bytes(3, "little") for side in size)
    frame = b"ANMF" + struct.pack("<I", 16) + bytes(6) + width + height + bytes(4)
    return webp(b"VP8X", b"\x02\0\0\0" + width + height) + frame * frames


def many_scans(width: int, height: int, scans: int) -> bytes:
    return jpeg(width, height) + b"\xff\xda\0\x02\xf0" * scans


UNPACKED = {
    "a GIF of 10,000 frames": (gif((1000, 1000), *[(1, 1)] * 10_000), "image/gif", "frames"),
    "a GIF whose frame is larger than it states": (gif((1, 1), (65_000, 65_000)), "image/gif", "100 megapixels"),
    "a GIF of tiny pieces": (gif((9, 9)) + b"\x21\xfe" + b"\x01a" * 200_000, "image/gif", "parts"),
    "a GIF of frames without pixels": (gif((9, 9), *[(0, 0)] * 110_000), "image/gif", "parts"),
    "a PNG of 10,000 frames": (apng((1000, 1000), 10_000), "image/png", "frames"),
    "a PNG of 200,000 chunks": (apng((1, 1), 200_000), "image/png", "parts"),
    "a WebP of 10,000 frames": (moving_webp((1000, 1000), 10_000), "image/webp", "frames"),
    "a JPEG of 900 scans": (many_scans(4000, 3000, 900), "image/jpeg", "frames"),
    "a tiny JPEG of 10,000 scans": (many_scans(9, 9, 10_000), "image/jpeg", "parts"),
    "an animation of a screen": (gif((1280, 720), *[(1280, 720)] * 300, table=7), "image/gif", ""),
    "a moving PNG": (apng((300, 300), 60), "image/png", ""),
    "a PNG with padding behind its end": (png(40, 30) + bytes(3_000_000), "image/png", ""),
    "a moving WebP": (moving_webp((640, 480), 100), "image/webp", ""),
    "a progressive photograph": (many_scans(6000, 4000, 10), "image/jpeg", ""),
}


# S1
@every("data, kind, wanted", UNPACKED.values())
def test_frames_and_scans_are_counted(data: bytes, kind: str, wanted: str) -> None:
    found = problem(data, kind)
    assert wanted in found and bool(found) == bool(wanted)


@pytest.mark.parametrize(
    "content", [png(60_000, 60_000), jpeg(65_500, 65_500), b"GIF89a" + struct.pack("<HH", 65_535, 65_535)]
)
def test_an_image_that_unpacks_to_gigabytes_is_not_shown(tmp_path: Path, content: bytes) -> None:
    workspace = Workspace(tmp_path)
    workspace.write("a.png", [content])
    with pytest.raises(NotFound, match="more than 100 megapixels"):
        read_picture(workspace, "a.png")
    workspace.write("b.png", [png(4000, 3000)])
    assert read_picture(workspace, "b.png")[1] == "image/png"
