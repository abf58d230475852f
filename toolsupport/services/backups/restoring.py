"""Restores a backup: everything is checked and unpacked first, then all of it is put in place, or nothing."""

from __future__ import annotations

import os
import shutil
import sqlite3
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader

from toolsupport.config import restore_journal
from toolsupport.config.restore_journal import KEPT, OLD, STAGED, RestoreJournal, RestoreStep
from toolsupport.core.errors import ConfigError
from toolsupport.core.history_sentences import counted
from toolsupport.registry.servers import key_ring
from toolsupport.services import database_upgrade, schema_lock, serve_lock
from toolsupport.services.backups import archive, database_parts, making
from toolsupport.services.backups.archive import Archive
from toolsupport.services.backups.database_parts import SQLITE_PART

ANSWER = "Nothing was changed."
BEGUN = "The restore has begun and cannot be finished. Repair what is named, then run any command: it continues."
COPY = "backup.tar"  # the former state of PostgreSQL
# Further entries of a manifest, by kind of database.
FACTS: dict[str, type] = {"version": str, "made_at": str, "keys": str, "database": str, "migrations": list}
FACTS_OF = {"sqlite": FACTS, "postgresql": FACTS | {"tables": dict, "sequences": dict}}
OTHERS = f"Other processes use the database. Stop the site first. {ANSWER}"
POOLER = (
    "DATABASE_URL leads to a pooler (such as PgBouncer), behind which other processes cannot be seen. Restore with the "
    f"address of PostgreSQL itself. {ANSWER}"
)


@dataclass(frozen=True, slots=True)
class RestoreResult:
    """The result of a restore. `kept` is the place of the former state, "" if there was none."""

    made_at: str
    version: str
    kept: str
    notes: tuple[str, ...]


def restore(file: Path, *, replace: bool) -> RestoreResult:
    """Put the state of a backup in place of the present one. Raises ConfigError; then nothing was changed."""
    data = Path(settings.DATA_DIR)
    try:
        with file.open("rb") as opened, restore_journal.exclusive(data, wait=False):
            found = archive.read(opened)
            _refuse_unfit(found)
            present = in_use(data)
            if present and not replace:
                raise ConfigError(f"{present} Restore with --yes to replace it; the present state is kept beside it.")
            with _alone():
                return _restore(found, data, bool(present))
    except (OSError, DatabaseError, sqlite3.Error) as error:
        raise ConfigError(f"The backup cannot be restored: {str(error).strip()}. {ANSWER}") from error


def in_use(data: Path) -> str:
    """Return a sentence about the state that would be replaced; "" for a fresh data directory."""
    if connection.vendor == "postgresql":
        if database_parts.MIGRATIONS in connection.introspection.table_names():
            return "The PostgreSQL database has tables already."
    elif database_parts.sqlite_file().exists() and database_parts.sqlite_file().stat().st_size:
        return f"There is a database already: {database_parts.sqlite_file()}."
    for name in (*making.FOLDERS, key_ring.FILE):
        path = data / name
        if path.is_file() or (path.is_dir() and any(path.iterdir())):
            return f"The data directory is in use: it has {path}."
    return ""


def _refuse_unfit(found: Archive) -> None:
    """Raise ConfigError for a newer version, another kind of database or a disk that is too small."""
    manifest = found.manifest
    if not _described(manifest):
        raise ConfigError(f"{archive.CHANGED}: {archive.MANIFEST} lacks what a restore needs. {ANSWER}")
    if newer := unknown(manifest["migrations"]):
        raise ConfigError(
            f"A newer version of toolsupport ({manifest['version']}) made this backup (migration {newer[0]}). "
            f"Restore it with that version or a later one. {ANSWER}"
        )
    if manifest["database"] != connection.vendor:
        raise ConfigError(
            f"This backup holds a database of {manifest['database']}, and DATABASE_URL names one of "
            f"{connection.vendor}. {ANSWER}"
        )
    if lacking := set(database_parts.expected(manifest)) - found.parts.keys():
        raise ConfigError(f"{archive.CHANGED}: it lacks {min(lacking)!r}. {ANSWER}")
    needed, free = sum(part.size for part in found.parts.values()), shutil.disk_usage(settings.DATA_DIR).free
    if needed > free:
        raise ConfigError(f"The backup needs {needed:,} bytes on the disk, and {free:,} are free. {ANSWER}")


def _described(manifest: dict[str, Any]) -> bool:
    """Return whether a manifest has every fact that a restore reads, in its shape."""
    facts = FACTS_OF.get(str(manifest.get("database")), FACTS)
    if not all(isinstance(manifest.get(name), kind) for name, kind in facts.items()):
        return False
    if manifest["keys"] not in ("inside", "environment"):
        return False
    lists = [*manifest["tables"].values()] if "tables" in facts else []
    named = all(isinstance(one, list) and all(map(_is_name, one)) for one in lists)
    pairs = all(isinstance(one, list) and [*map(type, one)] == [str, str] for one in manifest["migrations"])
    values = manifest["sequences"].values() if "sequences" in facts else ()
    return named and pairs and all(isinstance(value, int) for value in values)


def _is_name(column: object) -> bool:
    return isinstance(column, str) and "\0" not in column


def unknown(migrations: list[list[str]] | list[tuple[str, str]]) -> list[str]:
    """Return migrations of this application that this version does not have."""
    steps = MigrationLoader(None, ignore_no_migrations=True).disk_migrations
    known = set(steps).union(*(step.replaces for step in steps.values()))
    ours = [(app, name) for app, name in migrations if app in database_upgrade.APPS]
    return sorted(f"{app}.{name}" for app, name in ours if (app, name) not in known)


@contextmanager
def _alone() -> Iterator[None]:
    """Let no other process use the database; one that starts meanwhile waits or is refused. Raises ConfigError."""
    serve_lock.take("the command restore")
    if connection.vendor == "sqlite":
        file = database_parts.sqlite_file()
        connection.close()
        if file.exists() and not database_parts.used_alone(file):
            raise ConfigError(OTHERS)
        yield
        return
    if schema_lock.through_a_pooler():
        raise ConfigError(POOLER)
    with schema_lock.held(wait=False):
        if schema_lock.others_connected():
            raise ConfigError(OTHERS)
        connection.close()
        yield


def _restore(found: Archive, data: Path, present: bool) -> RestoreResult:
    restore_journal.remove_staged(data)
    staged = data / STAGED
    staged.mkdir(mode=0o700)
    try:
        journal = _unpacked(found, data, staged)
        if connection.vendor == "postgresql" and present:
            making.write(staged / COPY)
            journal.steps.append(RestoreStep(str(staged / COPY), str(data / KEPT / COPY), ""))
        os.sync()
        if connection.vendor == "postgresql":
            _load_rows(found, data, journal)
        else:
            journal.write(data)
    except BaseException:
        if not (data / restore_journal.JOURNAL).exists():
            restore_journal.remove_staged(data)
        raise
    try:
        journal.roll_forward(data)
    except OSError as error:
        raise ConfigError(f"{BEGUN} {error}.") from error
    manifest = found.manifest
    return RestoreResult(manifest["made_at"], manifest["version"], str(data / KEPT) if present else "", _notes(found))


def _load_rows(found: Archive, data: Path, journal: RestoreJournal) -> None:
    """Load the rows with the mark of the journal: from the commit on, and not before, the files are replaced too."""
    journal.token = f"restore {uuid.uuid4().hex}"
    journal.write(data)
    try:
        database_parts.load_postgresql(found, journal.token)
    except BaseException:
        if restore_journal.restored_token(connection.settings_dict) != journal.token:
            journal.drop(data)
        raise


def _unpacked(found: Archive, data: Path, staged: Path) -> RestoreJournal:
    """Unpack everything beside the present state; return the renames that are to be done."""
    for name in found.parts:
        if not name.startswith("database/"):
            database_parts.write_part(found, name, staged / name)
    steps = _set_aside(data / KEPT)
    steps += [_step(data, staged / "files" / name, name) for name in making.FOLDERS]
    if found.manifest["keys"] == "inside":
        steps += [_step(data, staged / "keys" / name, name) for name in making.KEYS]
    if connection.vendor == "sqlite":
        steps += _database_steps(found, data, staged)
    return RestoreJournal(steps)


def _set_aside(folder: Path) -> list[RestoreStep]:
    """Return the step that removes the copy of an earlier restore, unless this one fails. Raises ConfigError."""
    old = _old(folder)
    if not restore_journal.removed(old):
        raise ConfigError(f"{old} is left of an earlier restore and cannot be removed. Remove it. {ANSWER}")
    return [RestoreStep("", str(folder), str(old))] if folder.exists() else []


def _old(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}{OLD}")


def _step(data: Path, new: Path, name: str) -> RestoreStep:
    if _mounted(data / name):
        raise ConfigError(f"{data / name} is mounted and cannot be renamed. Mount the whole data directory. {ANSWER}")
    return RestoreStep(str(new) if new.exists() else "", str(data / name), str(data / KEPT / name))


def _mounted(path: Path) -> bool:
    """Return whether something is mounted there, also from the same disk."""
    with suppress(OSError):
        places = [line.split(" ")[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()]
        return str(path.resolve()).replace(" ", r"\040") in places
    return False


def _database_steps(found: Archive, data: Path, staged: Path) -> list[RestoreStep]:
    """Unpack the SQLite file on the disk that it is for, and check it."""
    file = database_parts.sqlite_file()
    beside = file.parent != data.resolve()
    new = file.with_name(f"{file.name}.{STAGED}") if beside else staged / file.name
    folder = file.parent / f"{file.name}.{KEPT}" if beside else data / KEPT
    aside = _set_aside(folder) if beside else []
    if beside:
        restore_journal.note_elsewhere(staged, new, _old(folder))
        new.unlink(missing_ok=True)
    database_parts.write_part(found, SQLITE_PART, new)
    if newer := unknown(database_parts.checked_sqlite(new)):
        raise ConfigError(f"The backup holds rows of a newer version (migration {newer[0]}). {ANSWER}")
    journals = [RestoreStep("", f"{file}-{end}", str(folder / f"{file.name}-{end}")) for end in ("wal", "shm")]
    return [*aside, *journals, RestoreStep(str(new), str(file), str(folder / file.name))]


def _notes(found: Archive) -> tuple[str, ...]:
    notes = []
    if found.manifest["keys"] == "environment":
        notes.append("The keys are not in the backup: set the same TOOLSUPPORT_SECRET_KEY and encryption keys.")
    elif key_ring.from_environment():
        notes.append("The backup has keys, but the environment sets other ones, which count. Compare them.")
    executor = MigrationExecutor(connection)
    if missing := executor.migration_plan(executor.loader.graph.leaf_nodes()):
        notes.append(
            f"The database is of an older version: `serve` applies {counted(len(missing), 'migration')} at its start."
        )
    return tuple(notes)
