"""Puts restored files into their places, all of them or none, even if the process is killed.

A restore unpacks beside the present state, then writes a journal of renames. From then on the restored state counts:
the next process on this data directory finishes the renames before it reads anything. This module needs no
settings, because the signing key is among the files.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from toolsupport.core.errors import ConfigError

JOURNAL, LOCK, STAGED, KEPT = "restore.json", "restore.lock", "restoring", "before-restore"
OLD = ".old"  # suffix of a folder with the copy of the previous restore
ELSEWHERE = "elsewhere"  # in STAGED: paths on another disk that are removed with it
LOADING = 0x746F6F6D  # the advisory lock of the transaction that loads the rows on PostgreSQL


@dataclass(frozen=True, slots=True)
class RestoreStep:
    """Moves `current` to `kept`, then `new` to `current`; an empty `new` only removes the present file.

    Steps may be repeated after a kill: moved files stay.
    """

    new: str
    current: str
    kept: str


@dataclass(slots=True)
class RestoreJournal:
    """`token` marks a PostgreSQL database that was restored in the same run: without it there, nothing is renamed."""

    steps: list[RestoreStep] = field(default_factory=list)
    token: str = ""

    def write(self, data: Path) -> None:
        """Write the journal; from now on the next process finishes the restore."""
        unfinished = data / f"{JOURNAL}.unfinished"
        with unfinished.open("w") as file:
            json.dump(asdict(self), file)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(data / JOURNAL)
        sync_folder(data)

    def roll_forward(self, data: Path) -> None:
        """Do the renames that are left, then remove the journal and what was unpacked."""
        for step in self.steps:
            _move(step)
        os.sync()
        self.drop(data)

    def drop(self, data: Path) -> None:
        # The journal is removed first: a second run would remove the state that was kept just now.
        (data / JOURNAL).unlink(missing_ok=True)
        sync_folder(data)
        remove_staged(data)


def _move(step: RestoreStep) -> None:
    current, kept = Path(step.current), Path(step.kept)
    arrived = step.new and not Path(step.new).exists()
    if current.exists() and not kept.exists() and not arrived:
        kept.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        current.rename(kept)
    if step.new and not arrived:
        current.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        Path(step.new).rename(current)


@contextmanager
def exclusive(data: Path, *, wait: bool) -> Iterator[None]:
    """Allow one restore at a time. Raises ConfigError if another one runs and this one shall not wait."""
    with _locked(data, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB)):
        if not wait:
            _refuse_unfinished(data)
        yield


@contextmanager
def none_running(data: Path) -> Iterator[bool]:
    """Prevent the start of a restore; yield whether an interrupted one left files. Raises ConfigError if one runs."""
    with _locked(data, fcntl.LOCK_SH | fcntl.LOCK_NB):
        _refuse_unfinished(data)
        yield remove_staged(data)


def _refuse_unfinished(data: Path) -> None:
    """Raise ConfigError if a restore was killed after this process had looked: its files are not to be removed."""
    if (data / JOURNAL).exists():
        raise ConfigError("A restore was interrupted just now. Run this command again: it finishes the restore first.")


@contextmanager
def _locked(data: Path, how: int) -> Iterator[None]:
    with (data / LOCK).open("a") as lock:
        try:
            fcntl.flock(lock, how)
        except BlockingIOError:
            raise ConfigError("A restore is running on this data directory. Wait until it has ended.") from None
        yield


def finish(data: Path, database: Mapping[str, Any]) -> None:
    """Finish a restore that was killed after its journal was written. Raises ConfigError."""
    if not (data / JOURNAL).exists():
        return
    try:
        with exclusive(data, wait=True):
            if not (data / JOURNAL).exists():  # the process that wrote it has finished meanwhile
                return
            read = json.loads((data / JOURNAL).read_text())
            journal = RestoreJournal([RestoreStep(**step) for step in read["steps"]], read["token"])
            if journal.token and journal.token != restored_token(database):
                journal.drop(data)
                print("A restore was interrupted; everything is as it was before.", file=sys.stderr)
            else:
                journal.roll_forward(data)
                print("Finished a restore that was interrupted.", file=sys.stderr)
    except (OSError, ValueError) as error:
        raise ConfigError(f"A restore was interrupted in {data} and cannot be finished: {error}.") from error


def restored_token(database: Mapping[str, Any]) -> str:
    """Return the mark that the last restore left on a PostgreSQL database, after its end. Raises ConfigError."""
    import psycopg

    place = {"dbname": database["NAME"], "user": database["USER"], "password": database["PASSWORD"]}
    options = {name: value for name, value in database["OPTIONS"].items() if name != "pool"}
    options["connect_timeout"] = "20"  # the server may be busy
    try:
        with psycopg.connect(**place, host=database["HOST"], port=database["PORT"], **options) as server:
            server.execute("SELECT pg_advisory_xact_lock(%s)", [LOADING])
            row = server.execute("SELECT obj_description(to_regclass('django_migrations'))").fetchone()
    except psycopg.Error as error:
        raise ConfigError(
            f"A restore was interrupted, and its progress cannot be read from the database: {error}"
        ) from error
    return str(row[0] or "") if row else ""


def remove_staged(data: Path) -> bool:
    """Remove the unpacked files of an interrupted restore; return whether there were any."""
    staged = data / STAGED
    there = staged.exists()
    with suppress(OSError, ValueError):
        for path in json.loads((staged / ELSEWHERE).read_text()):
            removed(Path(path))
    removed(data / f"{KEPT}{OLD}")
    removed(staged)
    removed(data / f"{JOURNAL}.unfinished")
    return there


def removed(path: Path) -> bool:
    """Remove a file or a folder; return whether it is gone: programs of models can make folders that stay."""
    with suppress(OSError, RecursionError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
    return not os.path.lexists(path)


def note_elsewhere(staged: Path, *paths: Path) -> None:
    """Note paths outside of `staged` that are removed with it."""
    (staged / ELSEWHERE).write_text(json.dumps([*map(str, paths)]))


def sync_folder(folder: Path) -> None:
    """Flush new names in a folder to disk, so that they survive a power failure."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
