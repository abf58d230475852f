"""Makes a backup while the site runs: complete under its name, or not at all."""

from __future__ import annotations

import fcntl
import json
import logging
import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import Any, BinaryIO

from django.conf import settings
from django.db import DatabaseError, connection
from django.utils import timezone

from toolsupport import __version__
from toolsupport.config.restore_journal import sync_folder
from toolsupport.core.errors import ConfigError
from toolsupport.registry.servers import key_ring
from toolsupport.services.backups import database_parts
from toolsupport.services.backups.archive import CHUNK, ArchiveWriter

# Folders of the data directory: files of chats, the example database, imports that could not be used.
FOLDERS = ("workspaces", "examples", "imports")
KEYS = ("secret_key", key_ring.FILE)
UNFINISHED, LAST = ".unfinished", "last_backup.json"
log = logging.getLogger(__name__)
IN_MEMORY = 8 * 2**20  # bytes of a copied file; larger ones are copied to the disk


def make(file: Path) -> dict[str, Any]:
    """Write the archive, and note when; return its facts. Raises ConfigError."""
    facts = write(file)
    try:
        _note(file, facts)
    except OSError as error:  # the archive is complete; only `doctor` reports an older one then
        log.warning("could not note the backup %s: %s", file, error)
    return facts


def write(file: Path) -> dict[str, Any]:
    """Write the archive; return its facts. An older file of that name is replaced at the end. Raises ConfigError."""
    if file.exists() and not file.is_file():
        raise ConfigError(f"{file} is not a file. Name another one.")
    try:
        with _unfinished(file) as target:
            writer = ArchiveWriter(target)
            facts = _add_all(writer, file)
            writer.finish(facts)
            target.flush()
            os.fsync(target.fileno())
            os.replace(unfinished_name(file), file)
        sync_folder(file.parent)
    except (OSError, DatabaseError, sqlite3.Error) as error:
        raise ConfigError(f"No backup was made: {str(error).strip()}.") from error
    return facts | {"bytes": file.stat().st_size, "parts": len(writer.parts)}


def unfinished_name(file: Path) -> Path:
    return file.with_name(f"{file.name}{UNFINISHED}")


def remove_unfinished(folder: Path) -> int:
    """Remove the unfinished archives of ended processes from a folder; return how many.

    Other files are kept. An unfinished archive can be as large as a complete one and contains every key.
    """
    removed = 0
    for name in folder.glob(f"*{UNFINISHED}"):
        with suppress(OSError), name.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # the process that writes it has the lock
            for one in (*database_parts.scratch_files(scratch_name(name)), name):
                removed += one.exists()
                one.unlink(missing_ok=True)
    return removed


def scratch_name(unfinished: Path) -> Path:
    return unfinished.with_name(f"{unfinished.name}-database")


def last() -> tuple[datetime, str] | None:
    """Return when the last backup was made, and its file; None if there was none."""
    try:
        noted = json.loads((Path(settings.DATA_DIR) / LAST).read_text())
        return datetime.fromisoformat(noted["at"]), str(noted["file"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


@contextmanager
def _unfinished(file: Path) -> Iterator[BinaryIO]:
    """Open the file that becomes the archive, possibly left by a killed process; remove it after a failure."""
    name = unfinished_name(file)
    while True:
        handle = os.open(name, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        with os.fdopen(handle, "r+b") as target:
            try:
                fcntl.flock(target, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise ConfigError(f"Another backup is being written to {file}. Wait until it has ended.") from None
            if not _is_still(name, target):  # another process finished just now: this is its archive
                continue
            try:
                os.fchmod(handle, 0o600)
                target.truncate(0)
                yield target
            except BaseException:
                if _is_still(name, target):
                    name.unlink()
                raise
            return


def _is_still(name: Path, file: BinaryIO) -> bool:
    try:
        return os.path.samestat(os.stat(name, follow_symlinks=False), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False


def _add_all(writer: ArchiveWriter, file: Path) -> dict[str, Any]:
    """Add everything. The database comes first: no file of an included row is missing."""
    made_at = timezone.now().isoformat(timespec="seconds")
    if connection.vendor == "sqlite":
        database = database_parts.add_sqlite(writer, scratch_name(unfinished_name(file)))
    else:
        database = database_parts.add_postgresql(writer)
    data = Path(settings.DATA_DIR)
    for folder in (name for name in FOLDERS if (data / name).is_dir()):
        _add_folder(writer, data, folder)
    outside = key_ring.from_environment()
    handle = os.open(data, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for name in KEYS:
            _add_file(writer, f"keys/{name}", handle, name)
    finally:
        os.close(handle)
    keys = "environment" if outside else "inside"
    return {"version": __version__, "made_at": made_at, "keys": keys, "database": connection.vendor, **database}


def _add_folder(writer: ArchiveWriter, data: Path, folder: str) -> None:
    """Add the regular files below a folder. Programs of models write there meanwhile: no link is followed.

    The locks of chats, and the files of those that are being deleted, are left out.
    """
    for place, folders, names, handle in os.fwalk(data / folder, follow_symlinks=False):
        if Path(place) == data / folder:
            folders[:] = [name for name in folders if not name.endswith(".deleted")]
            names = [name for name in names if not name.startswith(".")]
        for name in sorted(names):
            _add_file(writer, f"files/{(Path(place) / name).relative_to(data).as_posix()}", handle, name)


def _add_file(writer: ArchiveWriter, part: str, folder: int, name: str) -> None:
    """Add a copy of a file: it may grow or shrink meanwhile. It is left out if it is gone or not a regular file."""
    with suppress(FileNotFoundError, IsADirectoryError), SpooledTemporaryFile(IN_MEMORY) as copy:
        try:
            handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
        except OSError as error:
            if stat.S_ISREG(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
                raise error
            return
        with os.fdopen(handle, "rb") as source:
            state = os.fstat(handle)
            if not stat.S_ISREG(state.st_mode):
                return
            while data := source.read(CHUNK):
                copy.write(data)
        size = copy.tell()
        copy.seek(0)
        writer.add(part, copy, size, state.st_mode)  # type: ignore[arg-type]


def _note(file: Path, facts: dict[str, Any]) -> None:
    noted = Path(settings.DATA_DIR) / LAST
    unfinished = unfinished_name(noted)
    unfinished.write_text(json.dumps({"at": facts["made_at"], "file": str(file.absolute())}))
    unfinished.replace(noted)
