"""The backups that administrators keep in the data directory."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from django.conf import settings
from django.db import connection
from django.utils import timezone

from toolsupport.config.restore_journal import KEPT
from toolsupport.core.errors import ConfigError, NotFound
from toolsupport.services.backups import database_parts, making

NAME = re.compile(r"site-\d{8}-\d{6}\.tar")


@dataclass(frozen=True, slots=True)
class KeptBackup:
    """One complete archive."""

    name: str
    made_at: datetime
    size: int


def listed() -> tuple[KeptBackup, ...]:
    """Return all of them, the newest first."""
    files = [file for file in _folder().glob("site-*.tar") if _time_in(file.name) and not file.is_symlink()]
    return tuple(_described(file) for file in sorted(files, reverse=True))


def make() -> KeptBackup:
    """Make one more, in a thread of its own. Raises ConfigError."""
    file = _folder() / f"site-{timezone.now():%Y%m%d-%H%M%S}.tar"
    try:
        _folder().mkdir(mode=0o700, exist_ok=True)
        remove_unfinished()
        making.make(file)
    except OSError as error:
        raise ConfigError(f"No backup was made: {error}.") from error
    finally:
        connection.close()  # that of this thread
    return _described(file)


def copies() -> tuple[str, ...]:
    """Return the files and folders of this machine that hold an earlier state of the site."""
    found = [*sorted(_folder().glob("*")), Path(settings.DATA_DIR) / KEPT]
    if connection.vendor == "sqlite":
        file = database_parts.sqlite_file()
        found.append(file.with_name(f"{file.name}.{KEPT}"))
    if last := making.last():
        found.append(Path(last[1]))
    return tuple(dict.fromkeys(str(one) for one in found if one.is_file() or (one.is_dir() and any(one.iterdir()))))


def remove_unfinished() -> int:
    """Remove unfinished files of interrupted backups from the data directory; return how many."""
    return making.remove_unfinished(_folder())


def opened(name: str) -> BinaryIO:
    """Return an archive to be read. Raises NotFound."""
    return _found(name).open("rb")


def delete(name: str) -> None:
    """Remove an archive. Raises NotFound."""
    _found(name).unlink()


def _found(name: str) -> Path:
    if name not in {backup.name for backup in listed()}:
        raise NotFound(f"There is no backup {name}.")
    return _folder() / name


def _described(file: Path) -> KeptBackup:
    made_at = _time_in(file.name) or datetime.fromtimestamp(file.stat().st_mtime, UTC)
    return KeptBackup(file.name, made_at, file.stat().st_size)


def _time_in(name: str) -> datetime | None:
    """Return the time in the name of a backup, None for any other name."""
    try:
        found = datetime.strptime(name, "site-%Y%m%d-%H%M%S.tar").replace(tzinfo=UTC) if NAME.fullmatch(name) else None
    except ValueError:  # such as month 99
        return None
    return found


def _folder() -> Path:
    return Path(settings.DATA_DIR) / "backups"
