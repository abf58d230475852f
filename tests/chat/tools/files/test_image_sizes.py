"""The size of an image is read from its first bytes, and an image that unpacks to too many pixels is not taken."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import pytest

from chat.tools.files.image_sizes import size_of
from chat.tools.files.images import read_picture
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
