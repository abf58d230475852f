"""The commands backup and restore: everything comes back, on both databases, and what does not fit is refused."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
from django.core.management import call_command

from tests import databases
from tests.databases import ENGINES
from tests.installed import needs
from tests.serving import Site
from tests.toolsupport.services.backups.test_archive import unpacked, written
from tests.upgrades import archives
from tests.upgrades.make_archive import SECRET_KEY
from toolsupport.config.restore_journal import (
    RestoreJournal,
    RestoreStep,
    exclusive,
    finish,
    none_running,
    note_elsewhere,
    remove_staged,
)
from toolsupport.core.errors import ConfigError
from toolsupport.services.backups import database_parts, making, restoring
from toolsupport.services.backups.archive import ArchiveWriter

FILES = {"workspaces/one/notes.txt": "Buy milk.", "examples/ü b.txt": "", "encryption_keys.json": '{"keys": []}'}


@contextmanager
def empty(directory: Path, engine: str, **environment: str) -> Iterator[Site]:
    directory.mkdir()
    with archives.empty_site(directory, engine) as site:
        site.environment |= {"TOOLSUPPORT_SIMULATOR": "off", **environment}
        yield site


def fill(site: Site, engine: str) -> None:
    """Rows in every table, files of chats, and a program of a model that is no regular file."""
    newest = max(archives.HERE.glob(f"*.{engine}.sql.gz"))
    archives.load(site, newest)
    site.manage("migrate", "--verbosity", "0")
    for name, text in FILES.items():
        (site.directory / name).parent.mkdir(parents=True, exist_ok=True)
        (site.directory / name).write_text(text)
    (site.directory / "workspaces/one/link").symlink_to("/etc/passwd")
    os.mkfifo(site.directory / "workspaces/one/pipe")
    (site.directory / "workspaces/.one.lock").write_text("given up")
    (site.directory / "workspaces/two.deleted").mkdir()
    (site.directory / "workspaces/two.deleted/notes.txt").write_text("of a chat that is being deleted")


def refused(site: Site, *words: str) -> str:
    with pytest.raises(subprocess.CalledProcessError) as ended:
        site.manage(*words)
    assert "Traceback" not in ended.value.stderr
    return str(ended.value.stderr)


def kept_files(site: Site) -> dict[str, str]:
    return {name: (site.directory / name).read_text() for name in FILES}


# P3
@pytest.mark.parametrize("engine", ENGINES)
def test_every_row_file_and_key_comes_back(tmp_path: Path, engine: str) -> None:
    file, other = tmp_path / "site.tar", {"TOOLSUPPORT_SECRET_KEY": ""}
    with empty(tmp_path / "one", engine, **other) as one, empty(tmp_path / "two", engine, **other) as two:
        fill(one, engine)
        before = archives.contents(one)
        assert all(before[table] for table in ("chat_message", "toolsupport_audit", "auth_user"))
        assert "readable only by you" in one.manage("backup", str(file))
        assert file.stat().st_mode & 0o777 == 0o600
        assert "Restored the backup" in two.manage("restore", str(file)), "a lone signing key counts as empty"
        assert archives.contents(two) == before
        assert kept_files(two) == FILES
        assert (two.directory / "secret_key").read_text() == (one.directory / "secret_key").read_text()
        assert sorted(path.name for path in (two.directory / "workspaces/one").iterdir()) == ["notes.txt"]
        assert [path.name for path in (two.directory / "workspaces").iterdir()] == ["one"]
        in_use(two, file)
        add_a_person(two)


OTHERS = """CREATE TABLE another_program (id serial PRIMARY KEY);
INSERT INTO another_program SELECT FROM generate_series(1, 5)"""


# P3
@pytest.mark.skipif("postgresql" not in ENGINES, reason="SQLite has one file for each program")
def test_tables_and_numbers_of_another_program_in_the_database_stay(tmp_path: Path) -> None:
    file, evil = tmp_path / "site.tar", tmp_path / "evil.tar"
    with empty(tmp_path / "one", "postgresql") as one, empty(tmp_path / "two", "postgresql") as two:
        give_tables(one, "postgresql")
        with psycopg.connect(one.environment["DATABASE_URL"], autocommit=True) as server:
            server.execute(OTHERS)
            one.manage("backup", str(file))
            server.execute("INSERT INTO another_program DEFAULT VALUES")
        one.manage("restore", str(file), "--yes")
        two.manage("restore", str(file))  # a database without that program
        tables = {"another_program": ["id"], "django_migrations": ["id", "app", "name", "applied"]}
        parts = {"database/another_program.copy": b"71\n"}
        parts["database/django_migrations.copy"] = unpacked(file)["database/django_migrations.copy"]
        written_as(evil, parts, database="postgresql", tables=tables, sequences={"another_program_id_seq": 1})
        assert "another program" in refused(one, "restore", str(evil), "--yes")
        assert one.rows("INSERT INTO another_program DEFAULT VALUES RETURNING id") == [(7,)]
        assert one.rows("SELECT count(*) FROM another_program") == [(7,)]
        add_a_person(one)


NEWER = """CREATE TABLE toolsupport_later (id serial PRIMARY KEY, person_id int REFERENCES auth_user, words text);
CREATE TABLE chat_later_groups (id serial PRIMARY KEY, later_id int REFERENCES toolsupport_later);
CREATE TABLE chat_alone (id serial PRIMARY KEY);
INSERT INTO django_content_type (app_label, model) VALUES ('chat', 'alone');
CREATE TABLE chat_rooms (id serial PRIMARY KEY); CREATE TABLE notes (id serial, person_id int REFERENCES auth_user)"""


# P3
@pytest.mark.skipif("postgresql" not in ENGINES, reason="an SQLite file is replaced as a whole")
def test_tables_of_a_newer_version_go_with_its_state(tmp_path: Path) -> None:
    """Else the next upgrade fails, because it finds them there, and rows of people stay in them."""
    with empty(tmp_path / "one", "postgresql") as one:
        give_tables(one, "postgresql")
        one.manage("backup", str(tmp_path / "a.tar"))
        before = set(archives.tables(one))
        with psycopg.connect(one.environment["DATABASE_URL"], autocommit=True) as server:
            server.execute(NEWER)
        one.manage("restore", str(tmp_path / "a.tar"), "--yes")
        assert set(archives.tables(one)) - before == {"chat_rooms", "notes"}, "these are another program's"


def add_a_person(site: Site) -> None:
    """Numbers of new rows follow those of the restored ones."""
    site.environment["DJANGO_SUPERUSER_PASSWORD"] = "a passphrase for tests"
    site.manage("createsuperuser", "--username", "new", "--no-input")


def in_use(site: Site, file: Path) -> None:
    """Rows and files are replaced with --yes only, and those from before are kept."""
    (site.directory / "workspaces/one/notes.txt").write_text("Buy bread.")
    assert "--yes" in refused(site, "restore", str(file))
    assert (site.directory / "workspaces/one/notes.txt").read_text() == "Buy bread."
    assert "before-restore" in site.manage("restore", str(file), "--yes")
    assert kept_files(site) == FILES
    assert (site.directory / "before-restore/workspaces/one/notes.txt").read_text() == "Buy bread."


# P3
@pytest.mark.parametrize("engine", ENGINES)
def test_a_running_site_is_backed_up_and_never_restored(tmp_path: Path, engine: str) -> None:
    file = tmp_path / "site.tar"
    with empty(tmp_path / "one", engine) as site:
        give_tables(site, engine)
        site.start()
        try:
            site.manage("backup", str(file))
            assert "keys are set in the environment" in site.manage("backup", str(file)), "the older one is replaced"
            before = archives.contents(site)
            assert before["auth_user"]
            answer = refused(site, "restore", str(file), "--yes")
            assert "already served" in answer or "Other processes use the database" in answer
        finally:
            site.kill(signal.SIGTERM)
        said = site.manage("restore", str(file), "--yes")
        assert "set the same TOOLSUPPORT_SECRET_KEY" in said and SECRET_KEY not in said
        assert archives.contents(site)["auth_user"] == before["auth_user"]


def give_tables(site: Site, engine: str) -> None:
    """What a site begins with, without the time of its migrations."""
    if engine == "sqlite":
        (site.directory / "toolsupport.sqlite3").write_bytes(databases.migrated_file())
        return
    address = urlsplit(site.environment["DATABASE_URL"])
    name = address.path[1:]
    with psycopg.connect(address._replace(path="/postgres").geturl(), autocommit=True) as server:
        server.execute(f'DROP DATABASE "{name}"')
        server.execute(f'CREATE DATABASE "{name}" TEMPLATE "{databases.migrated()}"')


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """An SQLite site with tables."""
    with empty(tmp_path / "site", "sqlite") as one:
        give_tables(one, "sqlite")
        yield one


def test_what_does_not_fit_is_refused_and_changes_nothing(site: Site, tmp_path: Path) -> None:  # P3
    file = tmp_path / "a.tar"
    site.manage("backup", str(file))
    parts = {name: data for name, data in unpacked(file).items() if name.startswith("database/")}
    whole, before = file.read_bytes(), archives.contents(site)
    refusals = {
        "ends too early": lambda: file.write_bytes(whole[: len(whole) // 2]),
        "is not as it was written": lambda: file.write_bytes(whole.replace(b"0001_initial", b"0001_INITIAL")),
        "holds a database of postgresql": lambda: written_as(
            file, parts, database="postgresql", tables={}, sequences={}
        ),
        "newer version of toolsupport (9.9)": lambda: written_as(file, parts, migrations=[["chat", "9999_later"]]),
        "lacks what a restore needs": lambda: written_as(file, parts, migrations=[["chat"]]),
        "manifest.json lacks": lambda: written_as(file, parts, database=None),
        "it lacks 'database/toolsupport.sqlite3'": lambda: written_as(file, {}),
        "no manifest.json": lambda: file.write_bytes(bytes(1024)),
        "No such file": file.unlink,
    }
    for words, spoil in refusals.items():
        spoil()
        assert words in refused(site, "restore", str(file), "--yes"), words
    assert archives.contents(site) == before
    assert not (site.directory / "restoring").exists() and not (site.directory / "restore.json").exists()


ODD: dict[str, list[Any]] = {
    "tables": [None, [], {"a": 1}, {"a": [1]}, {"a": ["b\0"]}],
    "sequences": [None, 5, {"a": "1"}],
    "migrations": [None, {}, ["chat"], [["chat"]], [["chat", 1]]],
    "keys": [None, "", "outside"],
    "version": [1],
    "made_at": [None],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in ODD.items() for value in values])
def test_a_manifest_without_what_a_restore_needs(name: str, value: Any) -> None:  # P3
    whole: dict[str, Any] = {"version": "1", "made_at": "now", "keys": "inside", "database": "postgresql"}
    whole |= {"migrations": [["chat", "0001"]], "tables": {"a": ["b"]}, "sequences": {"a_id": 1}}
    assert restoring._described(whole) and not restoring._described(whole | {name: value})


def written_as(file: Path, parts: dict[str, bytes], **facts: object) -> None:
    written(file, parts)
    with file.open("wb") as opened:
        writer = ArchiveWriter(opened)
        for name, data in parts.items():
            writer.add(name, io.BytesIO(data), len(data))
        known = {"version": "9.9", "made_at": "now", "keys": "environment", "database": "sqlite", "migrations": []}
        writer.finish(known | facts)


def test_rows_of_a_newer_version_are_found_in_the_file_itself(site: Site, tmp_path: Path) -> None:
    with closing(sqlite3.connect(site.directory / "toolsupport.sqlite3")) as database, database:
        database.execute(
            "INSERT INTO django_migrations (app, name, applied) VALUES ('chat', '9999_later', '2030-01-01')"
        )
    rows = (site.directory / "toolsupport.sqlite3").read_bytes()
    written_as(tmp_path / "a.tar", {"database/toolsupport.sqlite3": rows})
    assert "rows of a newer version" in refused(site, "restore", str(tmp_path / "a.tar"), "--yes")
    written_as(tmp_path / "a.tar", {"database/toolsupport.sqlite3": b"SQLite format 3\0" + bytes(5000)})
    assert "cannot be read" in refused(site, "restore", str(tmp_path / "a.tar"), "--yes")


@pytest.mark.parametrize("name", ["C#", "what?", "100%25"])
def test_a_database_is_checked_in_a_folder_of_any_name(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    file = tmp_path / name / "rows.sqlite3"
    file.write_bytes(databases.migrated_file())
    assert ("chat", "0001_initial") in database_parts.checked_sqlite(file)


def test_a_start_finishes_a_restore_that_was_killed_in_between(site: Site, tmp_path: Path) -> None:  # P3
    data = site.directory
    (data / "restoring/files/workspaces").mkdir(parents=True)
    (data / "restoring/files/workspaces/notes.txt").write_text("restored")
    names = ("restoring/files/workspaces", "workspaces", "before-restore/workspaces")
    step = dict(zip(("new", "current", "kept"), (str(data / name) for name in names), strict=True))
    (data / "restore.json").write_text(json.dumps({"steps": [step], "token": ""}))
    assert "ok" in site.manage("doctor")
    assert (data / "workspaces/notes.txt").read_text() == "restored"
    (data / "restoring").mkdir()
    site.start()
    site.kill(signal.SIGTERM)
    assert "interrupted restore" in (data / "serve.log").read_text() and not (data / "restoring").exists()


def test_a_place_that_cannot_be_written_is_named(site: Site, tmp_path: Path) -> None:
    assert "No backup was made" in refused(site, "backup", str(tmp_path / "none" / "a.tar"))
    assert "is not a file" in refused(site, "backup", str(tmp_path))
    (tmp_path / "a.tar.unfinished").symlink_to(tmp_path / "elsewhere")
    assert "No backup was made" in refused(site, "backup", str(tmp_path / "a.tar"))
    assert not (tmp_path / "elsewhere").exists() and not (tmp_path / "a.tar").exists()


@pytest.mark.django_db
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_backup_that_is_ended_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    before = {one: signal.getsignal(one) for one in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)}  # S3
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    monkeypatch.setattr(making, "_add_all", lambda *_: os.kill(os.getpid(), number))
    try:
        with pytest.raises(SystemExit) as ended:
            call_command("backup", str(tmp_path / "a.tar"))
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
    assert ended.value.code == 128 + number and list(tmp_path.iterdir()) == []


def test_a_process_that_began_before_a_restore_was_killed_removes_none_of_its_files(tmp_path: Path) -> None:  # P3
    """It had looked for a journal before there was one; then it gets the lock, because the other process is gone."""
    names = ("restoring/files/workspaces", "workspaces", "before-restore/workspaces")
    (tmp_path / names[0]).mkdir(parents=True)
    RestoreJournal([RestoreStep(*(str(tmp_path / name) for name in names))]).write(tmp_path)
    for begin in (lambda: exclusive(tmp_path, wait=False), lambda: none_running(tmp_path)):
        with pytest.raises(ConfigError, match="interrupted just now"), begin():
            pass
    assert (tmp_path / names[0]).exists()
    finish(tmp_path, {})
    assert (tmp_path / "workspaces").exists() and not (tmp_path / "restoring").exists()


def stays(*_: object, **__: object) -> None:
    """As with a folder that its own account may not read."""


def too_deep(*_: object, **__: object) -> None:
    raise RecursionError


@pytest.mark.parametrize("removal", [stays, too_deep])
def test_what_an_earlier_restore_left_and_cannot_be_removed_stops_the_next_one(  # P3
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, removal: Callable[..., None]
) -> None:
    old = tmp_path / "before-restore.old"
    (old / "workspaces").mkdir(parents=True)
    with monkeypatch.context() as patched:
        patched.setattr(shutil, "rmtree", removal)
        with pytest.raises(ConfigError, match=r"before-restore\.old .* cannot be removed"):
            restoring._set_aside(tmp_path / "before-restore")
    assert restoring._set_aside(tmp_path / "before-restore") == [] and not old.exists()


@needs("bwrap")
@pytest.mark.parametrize("mounted", ["workspaces", "secret_key"])
def test_a_part_of_the_data_directory_that_is_mounted_is_named_before_anything_changes(
    tmp_path: Path, mounted: str
) -> None:  # P3
    data, file, other = tmp_path / "data dir", tmp_path / "a.tar", tmp_path / "other"
    data.mkdir()
    site = Site(data, {"TOOLSUPPORT_SECRET_KEY": ""})
    (data / "toolsupport.sqlite3").write_bytes(databases.migrated_file())
    (data / "workspaces").mkdir()
    site.manage("backup", str(file))
    if mounted == "workspaces":
        other.mkdir()
    else:
        other.write_text("a key that is long enough for the site " * 2)
    before = {path.name for path in data.iterdir()}
    mount = ["bwrap", "--dev-bind", "/", "/", "--bind", str(other), str(data / mounted)]
    command = [*mount, sys.executable, "manage.py", "restore", str(file), "--yes"]
    ran = subprocess.run(command, cwd=databases.ROOT, env=site.environ(), capture_output=True, text=True)
    assert ran.returncode and f"{data / mounted} is mounted" in ran.stderr and "Nothing was changed" in ran.stderr
    locks = {"restore.lock", "toolsupport.sqlite3.serve"}
    assert {path.name for path in data.iterdir()} - locks == before - locks


def test_a_restore_that_fails_keeps_what_an_earlier_one_kept(tmp_path: Path) -> None:  # P3
    """Also where the database is on another disk than the data directory."""
    address = {"DATABASE_URL": f"sqlite:///{tmp_path / 'disk' / 'rows.sqlite3'}"}
    (tmp_path / "disk").mkdir()
    (tmp_path / "data").mkdir()
    one, file = Site(tmp_path / "data", address), tmp_path / "a.tar"
    (tmp_path / "disk/rows.sqlite3").write_bytes(databases.migrated_file())
    one.manage("backup", str(file))
    one.manage("restore", str(file), "--yes")
    kept = tmp_path / "disk/rows.sqlite3.before-restore/rows.sqlite3"
    before, whole = kept.read_bytes(), file.read_bytes()
    (tmp_path / "data/before-restore/note").write_text("of the first")
    manifest_at = whole.index(b"manifest.json")
    at = whole.index(b"CREATE TABLE", 0, manifest_at)
    file.write_bytes(whole[:at] + b"create" + whole[at + 6 :])
    assert "is not as it was written" in refused(one, "restore", str(file), "--yes")
    assert kept.read_bytes() == before and (tmp_path / "data/before-restore/note").read_text() == "of the first"
    assert sorted(path.name for path in (tmp_path / "disk").iterdir() if "restor" in path.name) == [kept.parent.name]
    file.write_bytes(whole)
    one.manage("restore", str(file), "--yes")
    assert not (tmp_path / "data/before-restore/note").exists() and kept.exists()
    (tmp_path / "disk/rows.sqlite3.before-restore.old").mkdir()
    (tmp_path / "data/restoring").mkdir()
    left = [tmp_path / "disk/rows.sqlite3.restoring", tmp_path / "disk/rows.sqlite3.before-restore.old"]
    note_elsewhere(tmp_path / "data/restoring", *left)
    remove_staged(tmp_path / "data")
    assert not [path for path in tmp_path.rglob("*.old")]
