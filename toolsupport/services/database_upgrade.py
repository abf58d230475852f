"""Brings the database up to date before the site starts."""

from __future__ import annotations

import fcntl
import logging
import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

from django.conf import settings
from django.core.management import call_command
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from toolsupport.config.restore_journal import sync_folder
from toolsupport.core.errors import ConfigError
from toolsupport.services import schema_lock

APPS = ("toolsupport", "chat")
COPIES = 5  # how many copies from before an upgrade are kept
UNFINISHED = ".unfinished"
log = logging.getLogger(__name__)


@contextmanager
def exclusive() -> Iterator[None]:
    """Allow one process of a site at a time; the second finds the work done. Raises ConfigError."""
    with ExitStack() as held:
        try:
            held.enter_context(schema_lock.held(wait=True) if connection.vendor == "postgresql" else _file_lock())
        except DatabaseError as error:
            raise ConfigError(f"The database cannot be reached: {str(error).strip()}. Check DATABASE_URL.") from error
        except OSError as error:
            raise ConfigError(f"The data directory cannot be written: {error}.") from error
        yield


def bring_up_to_date() -> str:
    """Apply missing migrations, within `exclusive`; return a sentence about it, "" if none was missing.

    An SQLite file with rows is first copied to `backups/`. Raises ConfigError if the database belongs to a newer
    version or the copy fails (then nothing is changed), and if a migration fails.
    """
    remove_unfinished()
    try:
        executor = MigrationExecutor(connection)
        refuse_newer(executor)
        plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
        if not plan:
            return ""
        fresh = not executor.loader.applied_migrations
        copy = copy_sqlite() if connection.vendor == "sqlite" and not fresh else None
        call_command("migrate", interactive=False, verbosity=0)
    except DatabaseError as error:
        raise ConfigError(f"The database cannot be brought up to date: {str(error).strip()}.") from error
    if fresh:
        return "Created the tables of the database."
    many = "1 migration" if len(plan) == 1 else f"{len(plan)} migrations"
    return f"Applied {many}." + (f" The database as it was before is kept as {copy}." if copy else "")


def refuse_newer(executor: MigrationExecutor) -> None:
    """Raise ConfigError if a newer version has changed this database."""
    newer = unknown_migrations(executor)
    if newer:
        raise ConfigError(
            f"A newer version of toolsupport has changed this database (migration {newer[0]}). "
            "Start that version or a later one, or restore a copy of the database from before the upgrade."
        )


def unknown_migrations(executor: MigrationExecutor) -> list[str]:
    """Return applied migrations that this version does not contain, of its own applications only."""
    known = set(executor.loader.disk_migrations)
    for step in executor.loader.disk_migrations.values():
        known.update(step.replaces)
    applied = executor.loader.applied_migrations
    return sorted(f"{app}.{name}" for app, name in applied if app in APPS and (app, name) not in known)


def copy_sqlite() -> Path:
    """Copy the database file to `backups/` and remove copies beyond `COPIES`. Raises ConfigError."""
    unfinished = None
    connection.ensure_connection()
    try:
        unfinished = _new_file()
        with closing(sqlite3.connect(unfinished)) as target:
            connection.connection.backup(target)
        copy = unfinished.with_suffix(".sqlite3")
        os.replace(unfinished, copy)
        sync_folder(copy.parent)
    except (OSError, sqlite3.Error) as error:
        if unfinished is not None:
            _remove(unfinished)
        raise ConfigError(
            f"The database was not upgraded, because it could not be copied to {_folder()} first: {error}."
        ) from error
    for old in sorted(_folder().glob("toolsupport-*.sqlite3"))[:-COPIES]:
        _remove(old)
    return copy


def remove_unfinished() -> None:
    """Remove unfinished copies of killed processes; call it within `exclusive`, so no copy is being made."""
    for left in sorted(_folder().glob(f"toolsupport-*{UNFINISHED}")):
        _remove(left)
        log.warning("removed %s, a copy of the database that was never finished", left)


def _folder() -> Path:
    return Path(settings.DATA_DIR) / "backups"


def _new_file() -> Path:
    """Create the file of a copy that is being made; two within one second get names of their own."""
    _folder().mkdir(mode=0o700, exist_ok=True)
    prefix = f"toolsupport-{timezone.now():%Y%m%d-%H%M%S-%f}-"
    handle, name = tempfile.mkstemp(prefix=prefix, suffix=UNFINISHED, dir=_folder())
    os.close(handle)
    return Path(name)


def _remove(file: Path) -> None:
    """Remove a copy with the journal that SQLite may have left beside it; one that cannot be removed stays."""
    for one in (file, file.with_name(f"{file.name}-journal")):
        with suppress(OSError):
            one.unlink()


@contextmanager
def _file_lock() -> Iterator[None]:
    # The system releases it when the process dies.
    with (Path(settings.DATA_DIR) / "upgrade.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
