"""Copies the rows of the database into an archive at one moment, and loads them again."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, BinaryIO

from django.db import connection, transaction
from django.db.migrations.executor import MigrationExecutor

from toolsupport.config import restore_journal
from toolsupport.core.errors import ConfigError
from toolsupport.services.backups.archive import CHUNK, Archive, ArchiveWriter
from toolsupport.services.database_upgrade import APPS

SQLITE_PART = "database/toolsupport.sqlite3"
MIGRATIONS = "django_migrations"
Applied = list[tuple[str, str]]
APPLIED = f"SELECT app, name FROM {MIGRATIONS} ORDER BY id"
# The sequences of the given tables: another program may have others in the same database.
SEQUENCES = """SELECT sequencename, last_value FROM pg_sequences WHERE schemaname = current_schema()
AND format('%%I.%%I', schemaname, sequencename)::regclass IN (SELECT objid FROM pg_depend WHERE deptype IN ('a', 'i')
AND classid = 'pg_class'::regclass AND refobjid IN (SELECT oid FROM pg_class WHERE relname = ANY(%s)
AND relnamespace = current_schema()::regnamespace))"""
# Tables of a newer version, which this one does not have: they have a name like ours, and are a model of one of our
# applications or refer to one of our tables. Tables of other programs may have such a name, but not the rest.
NEWER = """SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace
AND split_part(relname, '_', 1) = ANY(%s) AND NOT relname = ANY(%s) AND (relname IN (
SELECT app_label || '_' || model FROM django_content_type WHERE app_label = ANY(%s)) OR oid IN (
SELECT conrelid FROM pg_constraint WHERE contype = 'f' AND confrelid IN (SELECT oid FROM pg_class
WHERE relname = ANY(%s) AND relnamespace = current_schema()::regnamespace)))"""
FOREIGN = "The backup names a table of another program in this database: {}. Nothing was restored."


def sqlite_file() -> Path:
    return Path(connection.settings_dict["NAME"]).resolve()


def add_sqlite(writer: ArchiveWriter, scratch: Path) -> dict[str, object]:
    """Copy the file while others write to it, and add the copy. Raises ConfigError if the copy is damaged."""
    scratch.unlink(missing_ok=True)
    os.close(os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        with closing(sqlite3.connect(sqlite_file(), timeout=20)) as source, closing(sqlite3.connect(scratch)) as copy:
            source.backup(copy)
            copy.execute("PRAGMA journal_mode=DELETE")
        applied = checked_sqlite(scratch)
        with scratch.open("rb") as file:
            writer.add(SQLITE_PART, file, scratch.stat().st_size)
    finally:
        for one in scratch_files(scratch):
            one.unlink(missing_ok=True)
    return {"migrations": applied}


def scratch_files(scratch: Path) -> tuple[Path, ...]:
    """Return the copy of a database, and the files that SQLite keeps beside it."""
    return (scratch, *(scratch.with_name(f"{scratch.name}-{end}") for end in ("wal", "shm", "journal")))


def checked_sqlite(file: Path) -> Applied:
    """Return the migrations of a SQLite file. Raises ConfigError if it is damaged."""
    try:
        with closing(sqlite3.connect(f"{file.resolve().as_uri()}?immutable=1", uri=True)) as database:
            if database.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
                raise ConfigError("The database in the backup is damaged: see `PRAGMA integrity_check`.")
            return [(app, name) for app, name in database.execute(APPLIED)]
    except sqlite3.DatabaseError as error:
        raise ConfigError(f"The database in the backup cannot be read: {error}.") from error


def add_postgresql(writer: ArchiveWriter) -> dict[str, object]:
    """Add the rows of each table, all as they were at one moment."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        tables = {name: _columns(cursor, name) for name in _tables()}
        for name, columns in tables.items():
            with TemporaryFile() as file:
                with cursor.copy(f"COPY {_listed(name, columns)} TO STDOUT") as rows:
                    for data in rows:
                        file.write(data)
                size = file.tell()
                file.seek(0)
                writer.add(_part(name), file, size)
        sequences = {name: value for name, value in _sequences(cursor, tables).items() if value is not None}
        cursor.execute(APPLIED)
        return {"migrations": cursor.fetchall(), "tables": tables, "sequences": sequences}


def expected(manifest: Mapping[str, Any]) -> list[str]:
    """Return the names of the parts that hold the database of a manifest."""
    return [_part(name) for name in manifest["tables"]] if manifest["database"] == "postgresql" else [SQLITE_PART]


def load_postgresql(archive: Archive, token: str) -> None:
    """Replace tables and rows by those of the archive, in one transaction. Raises ConfigError, DatabaseError."""
    manifest = archive.manifest
    with transaction.atomic(), connection.cursor() as cursor:
        # The next start waits for its release: a commit may end after the process that sent it was killed.
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [restore_journal.LOADING])
        for name in _with_newer(cursor, _tables()):
            cursor.execute(f"DROP TABLE {_quoted(name)} CASCADE")
        if foreign := manifest["tables"].keys() & set(connection.introspection.table_names(cursor)):
            raise ConfigError(FOREIGN.format(min(foreign)))
        _migrate_to(cursor, [(app, name) for app, name in manifest["migrations"]])
        cursor.execute(f"TRUNCATE {', '.join(map(_quoted, manifest['tables']))} CASCADE")
        for name, columns in manifest["tables"].items():
            _load(cursor, archive, name, columns)
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        for name in _sequences(cursor, manifest["tables"]).keys() & manifest["sequences"].keys():
            cursor.execute("SELECT setval(%s::regclass, %s)", [_quoted(name), manifest["sequences"][name]])
        cursor.execute(f"COMMENT ON TABLE {MIGRATIONS} IS '{token}'")


def _migrate_to(cursor: Any, applied: Applied) -> None:
    """Create the tables as they were when these migrations were applied, and no later one.

    Each migration usually commits: in one transaction its deferred checks would keep the next one from the table.
    """

    def check(action: str, *_: object) -> None:
        if action == "apply_success":
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE; SET CONSTRAINTS ALL DEFERRED")

    executor = MigrationExecutor(connection, check)
    graph, there = executor.loader.graph, set(applied)
    ours = [key for key in applied if key in graph.nodes]
    executor.migrate([key for key in ours if not any(child.key in there for child in graph.node_map[key].children)])


def _load(cursor: Any, archive: Archive, name: str, columns: Sequence[str]) -> None:
    with TemporaryFile() as file:
        archive.unpack(_part(name), file)
        file.seek(0)
        with cursor.copy(f"COPY {_listed(name, columns)} FROM STDIN") as rows:
            while data := file.read(CHUNK):
                rows.write(data)


def _tables() -> list[str]:
    """Return the tables of the installed applications that exist; other tables in the database are not touched."""
    there = connection.introspection.table_names()
    return sorted({*connection.introspection.django_table_names(), MIGRATIONS} & set(there))


def _with_newer(cursor: Any, known: list[str]) -> list[str]:
    """Return these tables with those that a newer version added, which would otherwise break the next upgrade."""
    apps, found = list(APPS), list(known)
    while "django_content_type" in known:
        cursor.execute(NEWER, [apps, found, apps, found])
        newer = [name for (name,) in cursor.fetchall()]
        if not newer:
            break
        found += newer
    return found


def _sequences(cursor: Any, tables: Iterable[str]) -> dict[str, int | None]:
    """Return the sequences of these tables with their last values, None for one that was never used."""
    cursor.execute(SEQUENCES, [list(tables)])
    return dict(cursor.fetchall())


def _columns(cursor: Any, table: str) -> list[str]:
    cursor.execute(
        "SELECT column_name FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = %s"
        " AND is_generated = 'NEVER' ORDER BY ordinal_position",
        [table],
    )
    return [name for (name,) in cursor.fetchall()]


def _listed(table: str, columns: Sequence[str]) -> str:
    return f"{_quoted(table)} ({', '.join(map(_quoted, columns))})"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _part(table: str) -> str:
    return f"database/{table}.copy"


def used_alone(file: Path) -> bool:
    """Return whether no other process has this SQLite file open: only then does its journal change its kind."""
    with closing(sqlite3.connect(file, timeout=1)) as database:
        try:
            database.execute("PRAGMA journal_mode=DELETE").fetchone()
        except sqlite3.OperationalError:
            return False
    return True


def write_part(archive: Archive, name: str, path: Path) -> None:
    """Unpack a part into a new file for its owner only."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, archive.parts[name].mode | 0o600)
    with os.fdopen(handle, "wb") as file:
        target: BinaryIO = file
        archive.unpack(name, target)
