"""Prevents a second `serve` on an SQLite database that one process already serves."""

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

ADDRESS = re.compile(r" at http://(?P<host>\S+):(?P<port>\d+)$", re.MULTILINE)
EVERYWHERE = ("0.0.0.0", "::")
PRIVATE = 0o077  # the rights of other users
_held: TextIO | None = None  # kept open: the lock ends with the process


def alone() -> bool:
    """Return whether no other process can serve this database: open work of others in its rows is then abandoned."""
    return _held is not None


def take(work: str) -> None:
    """Hold the lock until the process ends, unless several processes may serve. Raises ConfigError.

    `work` is the address that is served, or a command. Two starts exchange frames through Redis only. The lock is one
    of the process (POSIX): it ends with it, and a child that outlives it does not have it.
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
    lock.seek(0)
    served = _last_served(lock.read())
    lock.truncate(0)
    lock.write(f"process {os.getpid()} at {work}\n" + (f"served{served[0]}\n" if served else ""))
    lock.flush()
    _held = lock


def note(address: str) -> None:
    """Store the address at which the site listens; a start that fails earlier leaves the last one."""
    line = f"served at {address}\n"
    with suppress(OSError):
        if _held is None:
            lock_file().write_text(line)
        else:
            _held.write(line)
            _held.flush()


def _last_served(written: str) -> re.Match[str] | None:
    return next(reversed([*ADDRESS.finditer(written)]), None)


def lock_file() -> Path:
    """Return the lock file of an SQLite database; it is the same for two paths of one database."""
    if connection.vendor != "sqlite":
        return Path(settings.DATA_DIR) / "toolsupport.serve"
    database = Path(settings.DATABASES["default"]["NAME"]).resolve()
    return database.with_name(f"{database.name}.serve")


def use_address(host: str, port: int) -> None:
    """Accept the address of the socket as host and origin, unless settings name others.

    The first origin always answers.
    """
    local = ("127.0.0.1", "localhost", *(("[::1]",) if ":" in host else ()))
    own = () if host in EVERYWHERE else (in_address(host),)
    if not settings.ENV["TOOLSUPPORT_ORIGINS"]:
        settings.ORIGINS = [f"http://{name}:{port}" for name in dict.fromkeys((*own, *local))]
    if "TOOLSUPPORT_ALLOWED_HOSTS" not in settings.ENV["given"]:
        settings.ALLOWED_HOSTS = [*dict.fromkeys((*settings.ALLOWED_HOSTS, *own))]


def in_address(host: str) -> str:
    """Return a host in the form of addresses."""
    return f"[{host}]" if ":" in host else host


def adopt_address() -> None:
    """Use the address of the process that serves this database, or did so last, in a command."""
    with suppress(OSError, ValueError):
        if found := _last_served(lock_file().read_text()):
            use_address(found["host"].strip("[]"), int(found["port"]))


def make_private() -> None:
    """Remove other users' rights on the database's files; earlier versions made them with the usual umask."""
    if connection.vendor == "sqlite":
        database = Path(settings.DATABASES["default"]["NAME"]).resolve()
        for file in (*database.parent.glob(f"{database.name}*"), *Path(settings.DATA_DIR).glob("backups/*")):
            if file.is_file() and not file.is_symlink() and file.stat().st_uid == os.geteuid():
                file.chmod(file.stat().st_mode & ~PRIVATE)
