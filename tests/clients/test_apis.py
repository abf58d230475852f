"""The packages openai and anthropic pass on parallel calls, errors and images, in every call format of a model."""

from __future__ import annotations

import json
import struct
import subprocess
import zlib
from base64 import b64encode
from collections.abc import Iterator

import pytest

from tests.agents.cells import DECIDED, KNOWN, NATIVE
from tests.clients.tasks import ENVIRONMENT, PROGRAMS
from tests.serving import ADMIN, Site, serving

pytestmark = pytest.mark.clients
PATIENCE = 900
# The other native model makes one call at a time.
MODELS = ["sim-honest", *(model for model in DECIDED if model != NATIVE)]
CALLS = [["list_directory", {"path": "."}], ["read_file", {"path": "config.json"}]]


def red(width: int, height: int) -> bytes:
    """A red PNG of this size."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    rows = zlib.compress((b"\0" + b"\xff\0\0" * width) * height)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with serving(tmp_path_factory.mktemp("site")) as running:
        running.manage("refresh_models")
        running.manage("shell", "--no-imports", "-c", KNOWN)
        yield running


def test_the_packages_pass_everything_on(site: Site) -> None:  # G5 G6
    key = site.manage("create_api_key", ADMIN[0]).strip()
    picture = b64encode(red(12, 7)).decode()
    program = [str(ENVIRONMENT / "bin/python"), str(PROGRAMS / "api_ways.py")]
    words = [*program, f"{site.url}/v1", key, picture, *MODELS]
    ran = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE)
    assert ran.returncode == 0, ran.stderr[-3000:]
    told = json.loads(ran.stdout.splitlines()[-1])
    assert len(told) == 6
    for name, ways in told.items():
        assert ways["at_once"] == {model: [CALLS, True] for model in MODELS}, name
        assert ways["failing"] == {model: [CALLS[1:], True] for model in MODELS}, name
        assert "1 image" in ways["seeing"] and "12" in ways["seeing"] and "red" in ways["seeing"], (
            name,
            ways["seeing"],
        )
        assert ways["refused"] == ["not found", "failed"], name
