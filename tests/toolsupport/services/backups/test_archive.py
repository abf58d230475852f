"""An archive that is cut, changed or hostile is refused before anything of it is used."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from toolsupport.core.errors import ConfigError
from toolsupport.services.backups import archive
from toolsupport.services.backups.archive import ArchiveWriter

FACTS = {"version": "0.2.0", "migrations": []}
LONG = "files/" + "/".join(["ü" * 100] * 8)
PARTS = {"database/rows": b"row\n" * 300, LONG: b"", "files/a\nb\udcff": b"\0" * 513, "keys/secret_key": b"secret"}
Tar = tarfile.TarFile


def written(path: Path, parts: dict[str, bytes] = PARTS) -> Path:
    with path.open("wb") as file:
        writer = ArchiveWriter(file)
        for name, data in parts.items():
            writer.add(name, io.BytesIO(data), len(data))
        writer.finish(FACTS)
    return path


def unpacked(path: Path) -> dict[str, bytes]:
    """All parts. Raises ConfigError."""
    with path.open("rb") as file:
        found = archive.read(file)
        got = {}
        for name in found.parts:
            found.unpack(name, target := io.BytesIO())
            got[name] = target.getvalue()
    return got


def test_parts_come_back_as_they_were(tmp_path: Path) -> None:  # P3
    file = written(tmp_path / "a.tar")
    assert unpacked(file) == PARTS
    with tarfile.open(file) as tar:  # every tar program reads it
        assert tar.getnames() == [*PARTS, "manifest.json"]
        secret = tar.extractfile("keys/secret_key")
        assert secret and secret.read() == b"secret"


def cuts(size: int) -> Iterator[int]:
    yield from (0, 1, 511, 512, 513, size - 1024, size - 1025, size - 1536)
    yield from range(700, size - 1024, 397)


def test_a_cut_archive_is_refused_wherever_it_ends(tmp_path: Path) -> None:  # P3
    whole = written(tmp_path / "a.tar").read_bytes()
    for size in cuts(len(whole)):
        (tmp_path / "cut.tar").write_bytes(whole[:size])
        with pytest.raises(ConfigError):
            unpacked(tmp_path / "cut.tar")


def test_a_changed_byte_is_refused_or_changes_nothing(tmp_path: Path) -> None:  # P3
    """Bytes between the parts and times of headers hold nothing; with a header's digest they may differ."""
    whole = written(tmp_path / "a.tar").read_bytes()
    refused = 0
    for place in range(0, len(whole) - 1024, 61):
        changed = bytearray(whole)
        changed[place] ^= 0x15
        (tmp_path / "b.tar").write_bytes(changed)
        try:
            assert unpacked(tmp_path / "b.tar") == PARTS
        except ConfigError:
            refused += 1
    assert refused > 50


def with_member(name: str, kind: bytes = tarfile.REGTYPE, size: int = 3, link: str = "") -> Callable[[Tar], None]:
    def add(tar: Tar) -> None:
        info = tarfile.TarInfo(name)
        info.type, info.size, info.linkname = kind, size, link
        tar.addfile(info, io.BytesIO(b"bad"))

    return add


def claims(size: int) -> Callable[[Tar], None]:
    """A header with more bytes than the file has."""

    def add(tar: Tar) -> None:
        info = tarfile.TarInfo("files/bomb")
        info.size = size
        tar.fileobj.write(info.tobuf(tarfile.GNU_FORMAT))

    return add


HOSTILE: dict[str, Callable[[Tar], None]] = {
    "an absolute path": with_member("/etc/cron.d/evil"),
    "a path upwards": with_member("files/../../evil"),
    "a path that begins upwards": with_member("../evil"),
    "a dot": with_member("files/./evil"),
    "two slashes": with_member("files//evil"),
    "another top": with_member("restore.json"),
    "a lone top": with_member("files"),
    "a name of 256 bytes": with_member("files/" + "a" * 256),
    "a path of 5,000 bytes": with_member("files/" + "/".join(["a" * 99] * 50)),
    "a symbolic link": with_member("files/link", tarfile.SYMTYPE, 0, "/etc/passwd"),
    "a hard link": with_member("files/link", tarfile.LNKTYPE, 0, "keys/secret_key"),
    "a directory": with_member("files/folder", tarfile.DIRTYPE, 0),
    "a character device": with_member("files/device", tarfile.CHRTYPE, 0),
    "a block device": with_member("files/device", tarfile.BLKTYPE, 0),
    "a pipe": with_member("files/pipe", tarfile.FIFOTYPE, 0),
    "a sparse file": with_member("files/sparse", tarfile.GNUTYPE_SPARSE),
    "an extended header": with_member("files/x", tarfile.XHDTYPE),
    "a global header": with_member("files/x", tarfile.XGLTYPE),
    "a part twice": with_member("keys/secret_key"),
    "a second manifest": with_member("manifest.json"),
    "a part that the manifest does not name": with_member("files/more"),
    "a terabyte": claims(2**40),
    "a size below 0": claims(-1024),
}


@pytest.mark.parametrize("what", sorted(HOSTILE))
def test_an_archive_is_refused_that_has(what: str, tmp_path: Path) -> None:  # P3
    file = written(tmp_path / "a.tar")
    with tarfile.open(file, "a", format=tarfile.GNU_FORMAT) as tar:
        HOSTILE[what](tar)
    with pytest.raises(ConfigError):
        unpacked(file)


def test_a_part_that_lacks_is_refused(tmp_path: Path) -> None:
    whole = written(tmp_path / "a.tar").read_bytes()
    (tmp_path / "a.tar").write_bytes(whole[512 + 1536 :])  # without its first part
    with pytest.raises(ConfigError, match="its parts are not those"):
        unpacked(tmp_path / "a.tar")


def test_a_later_format_is_refused_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "FORMAT", 2)
    file = written(tmp_path / "a.tar")
    monkeypatch.undo()
    with pytest.raises(ConfigError, match="newer version of toolsupport"):
        unpacked(file)


def forged(path: Path, manifest: object) -> Path:
    """An archive with any manifest, and the digest that fits it."""
    if isinstance(manifest, dict):
        manifest |= {"sha256": archive._digest(manifest)}
    data = json.dumps(manifest).encode()
    with path.open("wb") as file:
        ArchiveWriter(file)._write("manifest.json", io.BytesIO(data), len(data), 0o600)
        file.write(bytes(1024))
    return path


@pytest.mark.parametrize(
    "manifest",
    [*([], None, 5, "sha256", {}, {"format": 1}, {"format": [1], "parts": {}}, {"format": 1, "parts": 5}),
     {"format": 1, "parts": {"files/a": None}}, {"format": 1, "parts": {"files/a": {"bytes": 0}}}],
)  # fmt: skip
def test_a_manifest_of_another_shape_is_refused(tmp_path: Path, manifest: object) -> None:  # P3
    with pytest.raises(ConfigError):
        unpacked(forged(tmp_path / "a.tar", manifest))


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04" * 500, b"\0" * 2048, b"a" * 4096])
def test_another_file_is_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a.tar").write_bytes(data)
    with pytest.raises(ConfigError):
        unpacked(tmp_path / "a.tar")
