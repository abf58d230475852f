"""Kills backups and restores at each of their steps: `python -m … FOLDER FIRST EVERY` prints what was found.

A step is an event that Python reports to audit hooks (a file opened, renamed, removed, a database connected), or a
statement that is sent to PostgreSQL. A child kills itself at step FIRST, FIRST + EVERY, …, until one comes to its end.
With DATABASE_URL of an empty PostgreSQL database the rows are there, else in SQLite, in the file that it names or in
the data directory. After each kill the next start is killed too, one of them in the middle of a second restore.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg

COUNTED = ("open", "os.", "shutil.", "sqlite3.", "fcntl.")
OLD, NEW, EARLIER = "old", "new", "of an earlier restore"
ADDRESS = os.environ.get("DATABASE_URL", "")
POSTGRESQL = ADDRESS if ADDRESS.startswith("postgresql:") else ""
ELSEWHERE = Path(ADDRESS.removeprefix("sqlite:///")) if ADDRESS.startswith("sqlite:") else None
LEFTOVERS = ("restoring", "restore.json", "restore.json.unfinished", "before-restore.old")
State = tuple[str, ...]


def fill(data: Path, mark: str) -> None:
    """A small site whose database, files and keys all have this mark."""
    (data / "workspaces" / mark).mkdir(parents=True)
    (data / "before-restore").mkdir()
    (data / "before-restore/secret_key").write_text(EARLIER)
    for path in (data / "secret_key", data / "workspaces" / mark / "notes.txt", data / "encryption_keys.json"):
        path.write_text(mark if path.suffix != ".json" else json.dumps({"keys": [], "mark": mark}))
    if ELSEWHERE:
        shutil.rmtree(ELSEWHERE.parent, ignore_errors=True)
        kept_rows().mkdir(parents=True)
        (kept_rows() / ELSEWHERE.name).write_text(EARLIER)
    if POSTGRESQL:
        with psycopg.connect(POSTGRESQL) as server:
            server.execute("DELETE FROM auth_group")
            server.execute("INSERT INTO auth_group (name) VALUES (%s)", [mark])
        return
    with closing(sqlite3.connect(rows_file(data))) as database:
        database.executescript(
            "PRAGMA journal_mode=WAL; CREATE TABLE django_migrations (id INTEGER, app, name, applied);"
            f"CREATE TABLE mark (name TEXT); INSERT INTO mark VALUES ('{mark}');"
        )


def rows_file(data: Path) -> Path:
    return ELSEWHERE or data / "toolsupport.sqlite3"


def kept_rows() -> Path:
    """Where a restore keeps the former rows, if they are in a file outside of the data directory."""
    assert ELSEWHERE is not None
    return ELSEWHERE.with_name(f"{ELSEWHERE.name}.before-restore")


def kept(data: Path) -> set[str]:
    """The marks of what was there before the present state."""
    marks = {(data / "before-restore/secret_key").read_text()}
    if ELSEWHERE:
        file = kept_rows() / ELSEWHERE.name
        marks.add(EARLIER if file.read_bytes() == EARLIER.encode() else mark_in(file))
    return marks


def mark_in(file: Path) -> str:
    with closing(sqlite3.connect(file)) as database:
        return str(database.execute("SELECT name FROM mark").fetchone()[0])


def left_over(data: Path) -> list[str]:
    """What belongs to no state."""
    beside = list(ELSEWHERE.parent.iterdir()) if ELSEWHERE else []
    named = [path.name for path in data.iterdir() if path.name in LEFTOVERS]
    return named + [path.name for path in beside if path not in (ELSEWHERE, kept_rows()) and "restor" in path.name]


def state(data: Path) -> State:
    """The mark of each thing there."""
    if POSTGRESQL:
        with psycopg.connect(POSTGRESQL) as server:
            [(row,)] = server.execute("SELECT name FROM auth_group").fetchall()
    else:
        row = mark_in(rows_file(data))
    keys = json.loads((data / "encryption_keys.json").read_text())["mark"]
    files = [path.read_text() for path in (data / "workspaces").rglob("*.txt")]
    return (row, (data / "secret_key").read_text(), keys, *files)


def killed(step: int, work: Callable[[], object]) -> bool:
    """Do the work in a child that is killed at that step; return False if it came to its end before."""
    disconnect()
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    left = step

    def count(event: str, _: object = None) -> None:
        nonlocal left
        if event.startswith(COUNTED):
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    # A killed process leaves what it wrote in the memory of the system; waiting for a busy disk shows nothing here.
    os.sync = os.fsync = lambda *_: None  # type: ignore[assignment]
    sys.addaudithook(count)
    count_statements(lambda: count("os.statement"))
    try:
        work()
        os._exit(0)
    except BaseException as error:
        print(repr(error), file=sys.stderr)
        os._exit(1)


def disconnect() -> None:
    """Give up connections to PostgreSQL, which a child must not share with its parent."""
    from django.db import connection

    if POSTGRESQL:
        connection.close()
        connection.close_pool()  # type: ignore[attr-defined]


def count_statements(count: Callable[[], None]) -> None:
    """Count what is sent to PostgreSQL, before and after the server has it: statements, copies and commits."""
    for owner, name in ((psycopg.Cursor, "execute"), (psycopg.Copy, "write"), (psycopg.Connection, "commit")):
        inner = getattr(owner, name)

        def sent(*given: Any, inner: Callable[..., Any] = inner, **named: Any) -> Any:
            count()
            answer = inner(*given, **named)
            count()
            return answer

        setattr(owner, name, sent)


def kill_restores(data: Path, file: Path, first: int, every: int) -> list[str]:
    """The state after each kill and the next start: "old" or "new", or what is neither."""
    from django.conf import settings

    from toolsupport.config import restore_journal
    from toolsupport.services.backups import restoring

    def start() -> None:
        restore_journal.finish(data, settings.DATABASES["default"])

    def again() -> None:
        start()
        restoring.restore(file, replace=True)

    found, step, went = [], first, True
    while went:
        shutil.rmtree(data, ignore_errors=True)
        fill(data, OLD)
        went = killed(step, lambda: restoring.restore(file, replace=True))
        # The next start may be killed too, and another restore that begins then.
        killed(1 + step % 7, start)
        if went and step % 3 == 0:
            killed(step // 3, again)
        start()
        restore_journal.remove_staged(data)
        marks, left, before = state(data), left_over(data), kept(data)
        # What stood there before what stands there now: the old state, or after a second restore the new one.
        known = {OLD: [{EARLIER}], NEW: [{OLD}, {NEW}][: 1 + (step % 3 == 0)]}
        whole = len(set(marks)) == 1 and not left and before in known.get(marks[0], [])
        found.append(marks[0] if whole else f"step {step}: {marks} {left} {before}")
        step += every
    return found


def kill_backups(data: Path, file: Path, first: int, every: int) -> list[str]:
    """What has the name of the backup after each kill: "none", "whole", or what is neither."""
    from toolsupport.services.backups import archive, making

    found, step, went = [], first, True
    while went:
        file.unlink(missing_ok=True)
        went = killed(step, lambda: making.make(file))
        found.append("whole" if file.exists() else "none")
        if file.exists():
            with file.open("rb") as opened:
                read = archive.read(opened)
                for name in read.parts:
                    read.unpack(name, open(os.devnull, "wb"))  # noqa: SIM115 it ends with the process
        step += every
    making.make(file)  # what killed ones left is in nobody's way
    found.append("left" if [path for path in file.parent.glob(f"{file.name}*") if path != file] else "clean")
    return found


def main(folder: Path, first: int, every: int) -> None:
    data, file = folder / "data", folder / "backup.tar"
    os.environ |= {"TOOLSUPPORT_DATA_DIR": str(data), "DJANGO_SETTINGS_MODULE": "toolsupport.config.settings"}
    data.mkdir()
    import django

    django.setup()
    if POSTGRESQL:
        from django.core.management import call_command

        call_command("migrate", "auth", verbosity=0)  # few tables, so that a restore takes few steps
    fill(data, NEW)
    backups = kill_backups(data, file, first, every)
    print(json.dumps({"backups": backups, "restores": kill_restores(data, file, first, every)}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
