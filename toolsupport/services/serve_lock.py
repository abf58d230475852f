"""Keeps a second `serve` away from an SQLite database that one process serves already."""

from __future__ import annotations

import fcntl
import os
import re
from contextlib import suppress
from pathlib import Path
from typing import TextIO

from django.conf import settings
from django.db import connection

from toolsupport.core.errors import ConfigError

ADDRESS = re.compile(r" at http://\S+:(?P<port>\d+)$", re.MULTILINE)
PRIVATE = 0o077  # the rights of other users
_held: TextIO | None = None  # kept open: the lock ends with the process


def alone() -> bool:
    """Return whether no other process can serve this database: what others left open in its rows is abandoned."""
    return _held is not None


def take(address: str) -> None:
    """Hold the lock until the process ends, unless several processes may serve. Raises ConfigError.

    Two starts exchange frames through Redis only. The lock is one of the process (POSIX): it ends with
    it, and a child that outlives it does not have it.
    """
    global _held
    if connection.vendor != "sqlite" or settings.ENV["REDIS_URL"]:
        return
    try:
        lock = lock_file().open("a+")
    except OSError as error:
        raise ConfigError(
            f"The database cannot be opened: {error}. Check DATABASE_URL and TOOLSUPPORT_DATA_DIR."
        ) from error
    try:
        fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.seek(0)
        other = lock.readline().strip() or "another process"
        lock.close()
        raise ConfigError(
            f"This database is already served by {other}. Stop that process first. For several processes here "
            "use --processes; several starts need Redis (REDIS_URL), and several machines PostgreSQL (DATABASE_URL)."
        ) from None
    lock.truncate(0)
    lock.write(f"process {os.getpid()} at {address}\n")
    lock.flush()
    _held = lock


def lock_file() -> Path:
    """Return the file beside the database; two paths of one database give the same."""
    database = Path(settings.DATABASES["default"]["NAME"]).resolve()
    return database.with_name(f"{database.name}.serve")


def default_origins(host: str, port: int) -> list[str]:
    """Return the origins of a site that listens here, where no setting names them."""
    own = {f"[{host}]", "[::1]"} if ":" in host else {host}
    return [f"http://{name}:{port}" for name in sorted({*own, "127.0.0.1", "localhost"})]


def adopt_origins() -> None:
    """Let a command name the address of the process that serves this database, or did so last, without a setting."""
    if settings.ENV["TOOLSUPPORT_ORIGINS"]:
        return
    with suppress(OSError, ValueError):
        if found := ADDRESS.search(lock_file().read_text()):
            settings.ORIGINS = default_origins("127.0.0.1", int(found["port"]))


def make_private() -> None:
    """Take the rights of other users away from the database's files, which earlier versions gave by the usual umask."""
    if connection.vendor == "sqlite":
        database = Path(settings.DATABASES["default"]["NAME"]).resolve()
        for file in (*database.parent.glob(f"{database.name}*"), *Path(settings.DATA_DIR).glob("backups/*")):
            if file.is_file() and not file.is_symlink() and file.stat().st_uid == os.geteuid():
                file.chmod(file.stat().st_mode & ~PRIVATE)
