"""Tracks whether this process can write to its database, and why not: a full disk, a lock, a server that is away.

A write that fails for such a reason is kept and tried again. Pages and
/readyz show the reason meanwhile.
"""

from __future__ import annotations

import errno
import sqlite3
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType

from django.db import DatabaseError, InterfaceError, OperationalError, connection, transaction
from django.db.models.functions import Now

from toolsupport.models import Lease
from toolsupport.registry.leases import TURN

FULL, LOCKED, READ_ONLY = "the disk is full", "the database is locked", "the database is read-only"
BROKEN, AWAY = "the disk reports errors", "the database server does not answer"
# Reasons by SQLite's result code, by the beginning of PostgreSQL's SQLSTATE, and by the system's error number.
SQLITE: Mapping[int, str] = MappingProxyType(
    {5: LOCKED, 6: LOCKED, 8: READ_ONLY, 10: BROKEN, 13: FULL, 14: "the database file cannot be opened", 15: LOCKED}
)
POSTGRESQL: Mapping[str, str] = MappingProxyType(
    {
        "53100": FULL,
        "53": "the database server has too little memory or too few connections",
        "25006": READ_ONLY,
        "55P03": LOCKED,
        "40": LOCKED,
        "57P": AWAY,
        "58": "the database server reports errors of its disk",
        "08": AWAY,
    }
)
SYSTEM: Mapping[int, str] = MappingProxyType(
    {
        errno.ENOSPC: FULL,
        errno.EDQUOT: "the quota of the disk is used up",
        errno.EFBIG: FULL,
        errno.EROFS: READ_ONLY,
        errno.EIO: BROKEN,
    }
)
QUIET = 1.0  # seconds without a failed write before a successful try counts
CHECKED = 5.0  # seconds that the result of a try is used again
LOCK_WAIT = 1000  # milliseconds that a try waits for other writers
TRIED_BYTES = 64 * 1024
# Seconds that other processes get, after a time without writes, to renew leases that ran out meanwhile.
STEADY = TURN.total_seconds() + 2.0


def fault(error: BaseException | None) -> str:
    """Return why the storage failed, in words that can follow "Cannot save right now:"; "" for any other error."""
    if isinstance(error, OSError):
        return SYSTEM.get(error.errno or 0, "")
    if not isinstance(error, OperationalError | InterfaceError):
        return ""
    cause = error.__cause__
    if isinstance(cause, sqlite3.Error):
        return SQLITE.get((getattr(cause, "sqlite_errorcode", 0) or 0) & 0xFF, "")
    state = str(getattr(cause, "sqlstate", None) or "")
    known = next((words for code, words in POSTGRESQL.items() if state.startswith(code)), "")
    return known if state else AWAY if connection.vendor == "postgresql" else ""


class StorageState:
    """Whether writes of this process succeed. Any thread may call it."""

    def __init__(self) -> None:
        self.reason = ""  # "" while writes succeed
        self._failed = self._checked = self._unsteady = float("-inf")

    def failed(self, error: BaseException) -> bool:
        """Record a failed write; return whether its error is one of the storage."""
        reason = fault(error)
        if reason:
            self._failed = self._unsteady = time.monotonic()
            self.reason = reason
        return bool(reason)

    def succeeded(self) -> None:
        """Record that all waiting writes are stored."""
        self.reason = ""

    def waited(self) -> None:
        """Record that a lock kept this process, and others with it, from writing for some time."""
        self._unsteady = time.monotonic()

    @property
    def steady(self) -> bool:
        """Return whether a lease that ran out shows that its process is gone: it could have been renewed."""
        return not self.reason and time.monotonic() - self._unsteady > STEADY

    def check(self) -> str:
        """Try to write, unless that was done just now; return the reason why it is not possible, or ""."""
        if not self.reason and time.monotonic() - self._checked < CHECKED:
            return ""
        try:
            try_to_write()
        except (DatabaseError, InterfaceError) as error:
            self.failed(error)
            return self.reason
        self._checked = time.monotonic()
        if self._checked - self._failed > QUIET:
            self.succeeded()
        return self.reason


state = StorageState()


def try_to_write() -> None:
    """Write some pages and remove them again. Raises DatabaseError or InterfaceError."""
    name = f"storage {uuid.uuid4().hex}"
    with _short_waits():
        with transaction.atomic():
            Lease.objects.create(name=name, owner=_filling(), until=Now())
        Lease.objects.filter(name=name).delete()


def _filling() -> str:
    """Return a text that needs new pages of the file; on a database server the column has a limited length."""
    return "x" * TRIED_BYTES if connection.vendor == "sqlite" else ""


@contextmanager
def _short_waits() -> Iterator[None]:
    """Wait for other writers for LOCK_WAIT only; on PostgreSQL a row of its own waits for no other."""
    if connection.vendor != "sqlite":
        yield
        return
    usual = int(connection.settings_dict["OPTIONS"].get("timeout", 5) * 1000)
    with connection.cursor() as cursor:
        cursor.execute(f"PRAGMA busy_timeout = {LOCK_WAIT}")
        try:
            yield
        finally:
            cursor.execute(f"PRAGMA busy_timeout = {usual}")


def overwrite_deleted() -> None:
    """Let this connection to SQLite overwrite what it deletes: otherwise the text stays in the file for some time."""
    if connection.vendor == "sqlite":
        _pragma("PRAGMA secure_delete = ON")


def empty_journal() -> None:
    """Empty the write-ahead log of SQLite, which still contains deleted rows. Other databases do that themselves."""
    if connection.vendor == "sqlite" and not connection.in_atomic_block:
        with _short_waits():
            _pragma("PRAGMA wal_checkpoint(TRUNCATE)")


def _pragma(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)
