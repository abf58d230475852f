"""Writes a tar of parts with a manifest of their digests, and reads one that may have been changed.

The manifest comes last, so a cut archive has none. The reader takes regular files only, at the names and with the sizes
and digests of the manifest. It looks at the headers itself: the tar module would follow links, sparse files and
headers of any size.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import tarfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from toolsupport.core.errors import ConfigError

FORMAT, MANIFEST = 1, "manifest.json"
TOPS = ("database", "files", "keys")
BLOCK, CHUNK = tarfile.BLOCKSIZE, 2**20
REGULAR = (tarfile.REGTYPE, tarfile.AREGTYPE)
LONGEST_PATH, LONGEST_NAME = 4096, 255  # bytes
LARGEST_MANIFEST = 2**28  # bytes
CUT = "The archive is not complete: it ends too early."
CHANGED = "The archive was changed or damaged"


@dataclass(frozen=True, slots=True)
class ArchivePart:
    """A part as its header describes it; `offset` is where its bytes begin."""

    name: str
    offset: int
    size: int
    mode: int


@dataclass(slots=True)
class ArchiveWriter:
    """Adds parts to a file, which is an archive only after `finish`."""

    file: BinaryIO
    parts: dict[str, dict[str, object]] = field(default_factory=dict)

    def add(self, name: str, source: BinaryIO, size: int, mode: int = 0o600) -> None:
        """Add the next `size` bytes of `source`, which must not change meanwhile."""
        reading = _DigestReader(source)
        self._write(name, reading, size, mode)
        self.parts[name] = {"bytes": size, "sha256": reading.digest.hexdigest()}

    def finish(self, facts: Mapping[str, object]) -> None:
        manifest = {"format": FORMAT, **facts, "parts": self.parts}
        data = json.dumps(manifest | {"sha256": _digest(manifest)}, indent=1).encode()
        self._write(MANIFEST, io.BytesIO(data), len(data), 0o600)
        self.file.write(bytes(2 * BLOCK))

    def _write(self, name: str, source: Any, size: int, mode: int) -> None:
        info = tarfile.TarInfo(name)
        info.size, info.mode, info.mtime = size, mode & 0o700, int(time.time())
        self.file.write(info.tobuf(tarfile.GNU_FORMAT, "utf-8", "surrogateescape"))
        tarfile.copyfileobj(source, self.file, size)  # type: ignore[attr-defined]
        self.file.write(bytes(-size % BLOCK))


class _DigestReader:
    """Reads a file and computes the digest of the bytes it has read."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.digest = hashlib.sha256()

    def read(self, size: int) -> bytes:
        data = self.file.read(size)
        self.digest.update(data)
        return data


@dataclass(frozen=True, slots=True)
class Archive:
    """An archive whose names and sizes are those of its manifest."""

    file: BinaryIO
    manifest: dict[str, Any]
    parts: dict[str, ArchivePart]

    def unpack(self, name: str, target: BinaryIO) -> None:
        """Write a part to `target`. Raises ConfigError if its bytes are not those of the manifest."""
        part, digest = self.parts[name], hashlib.sha256()
        self.file.seek(part.offset)
        left = part.size
        while left:
            data = self.file.read(min(CHUNK, left))
            if not data:
                raise ConfigError(CUT)
            left -= len(data)
            digest.update(data)
            target.write(data)
        if digest.hexdigest() != self.manifest["parts"][name]["sha256"]:
            raise ConfigError(f"{CHANGED}: {name!r} is not as it was written.")


def read(file: BinaryIO) -> Archive:
    """Return the archive in a file. Raises ConfigError with the fault."""
    parts: dict[str, ArchivePart] = {}
    for part in _parts(file):
        if part.name in parts:
            raise ConfigError(f"{CHANGED}: it has {part.name!r} twice.")
        parts[part.name] = part
    described = parts.pop(MANIFEST, None)
    if described is None:
        raise ConfigError(f"The archive is not complete, or no backup: it has no {MANIFEST}.")
    manifest = _manifest(file, described)
    if {name: part.size for name, part in parts.items()} != {
        name: entry["bytes"] for name, entry in manifest["parts"].items()
    }:
        raise ConfigError(f"{CHANGED}: its parts are not those of {MANIFEST}.")
    return Archive(file, manifest, parts)


def _parts(file: BinaryIO) -> Iterator[ArchivePart]:
    end, position, long_name = os.fstat(file.fileno()).st_size, 0, ""
    while (block := _at(file, position, BLOCK)) != bytes(BLOCK):
        info = _header(block)
        position += BLOCK
        if not 0 <= info.size <= end - position:
            raise ConfigError(CUT)
        if info.type == tarfile.GNUTYPE_LONGNAME and info.size <= LONGEST_PATH + 1:
            long_name = _at(file, position, info.size).rstrip(b"\0").decode("utf-8", "surrogateescape")
        elif info.type in REGULAR:
            yield ArchivePart(_checked(long_name or info.name), position, info.size, info.mode & 0o700)
            long_name = ""
        else:
            raise ConfigError(f"The archive has something other than files: {info.name!r}. Nothing was restored.")
        position += -(-info.size // BLOCK) * BLOCK


def _header(block: bytes) -> tarfile.TarInfo:
    try:
        return tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
    except (tarfile.HeaderError, ValueError) as error:
        raise ConfigError(f"{CHANGED}, or the file is no backup: {error}.") from error


def _checked(name: str) -> str:
    """Return a name that stays inside the folder it is unpacked to. Raises ConfigError."""
    steps = name.split("/")
    safe = all(step not in ("", ".", "..") and len(os.fsencode(step)) <= LONGEST_NAME for step in steps)
    inside = name == MANIFEST or (len(steps) > 1 and steps[0] in TOPS)
    if not (safe and inside and len(os.fsencode(name)) <= LONGEST_PATH and "\0" not in name):
        raise ConfigError(f"The archive has a file at a place where none may be: {name[:200]!r}. Nothing was restored.")
    return name


def _manifest(file: BinaryIO, part: ArchivePart) -> dict[str, Any]:
    damaged = ConfigError(f"{CHANGED}: {MANIFEST} is not as it was written.")
    if part.size > LARGEST_MANIFEST:
        raise damaged
    try:
        manifest = json.loads(_at(file, part.offset, part.size))
        stated = manifest.pop("sha256")
    except (ValueError, RecursionError, KeyError, AttributeError, TypeError) as error:
        raise damaged from error
    if stated != _digest(manifest):
        raise damaged
    if manifest.get("format") != FORMAT:
        raise ConfigError(
            f"A newer version of toolsupport ({manifest.get('version')}) made this archive. Use that one."
        )
    entries = manifest["parts"].values() if isinstance(manifest.get("parts"), dict) else [None]
    if not all(isinstance(entry, dict) and entry.keys() >= {"bytes", "sha256"} for entry in entries):
        raise damaged
    return dict(manifest)


def _at(file: BinaryIO, position: int, size: int) -> bytes:
    file.seek(position)
    data = file.read(size)
    if len(data) < size:
        raise ConfigError(CUT)
    return data


def _digest(manifest: Mapping[str, object]) -> str:
    return hashlib.sha256(json.dumps(manifest, sort_keys=True).encode()).hexdigest()
