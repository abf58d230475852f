"""A start beside a restore: it waits or is refused in words, and never serves what is being replaced."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest

from tests import databases
from tests.child_process import running
from tests.databases import ENGINES
from tests.serving import Site
from tests.toolsupport.services.backups.test_backups import empty, give_tables, refused
from toolsupport.config import restore_journal
from toolsupport.services import schema_lock

# A restore that stops when everything was checked and nothing was replaced, until its standard input ends.
HELD = """
import sys, django
django.setup()
from pathlib import Path
from toolsupport.services.backups import restoring
unpacked = restoring._unpacked
def held(*given):
    journal = unpacked(*given)
    print("unpacked", flush=True)
    sys.stdin.read()
    return journal
restoring._unpacked = held
restoring.restore(Path(sys.argv[1]), replace=True)
print("restored", flush=True)
"""


@contextmanager
def held_restore(site: Site, file: Path) -> Iterator[subprocess.Popen[str]]:
    environment = {**site.environ(), "DJANGO_SETTINGS_MODULE": "toolsupport.config.settings"}
    command = [sys.executable, "-c", HELD, str(file)]
    pipe = subprocess.PIPE
    with running(command, cwd=databases.ROOT, env=environment, text=True, stdin=pipe, stdout=pipe) as restore:
        assert restore.stdout and restore.stdout.readline() == "unpacked\n"
        yield restore


def let_go(restore: subprocess.Popen[str]) -> None:
    assert restore.stdin and restore.stdout
    restore.stdin.close()
    assert restore.stdout.readline() == "restored\n"


# P3
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("redis", ["", "redis://127.0.0.1:1"], ids=["alone", "with others"])
def test_a_start_on_the_same_folder_is_refused(tmp_path: Path, engine: str, redis: str) -> None:
    file = tmp_path / "site.tar"
    with empty(tmp_path / "one", engine, REDIS_URL=redis) as site:
        give_tables(site, engine)
        site.manage("backup", str(file))
        with held_restore(site, file) as restore:
            words = refused(site, "serve", "--port", str(site.port))
            assert "A restore is running on this data directory" in words or "the command restore" in words
            assert "A restore is running" in refused(site, "restore", str(file), "--yes")
            let_go(restore)


def test_a_start_on_another_machine_waits(tmp_path: Path) -> None:
    """Two data directories and one PostgreSQL database."""
    file = tmp_path / "site.tar"
    with empty(tmp_path / "one", "postgresql", REDIS_URL="redis://127.0.0.1:1") as one:
        give_tables(one, "postgresql")
        add_person(one.environment["DATABASE_URL"], "of the backup")
        one.manage("backup", str(file))
        add_person(one.environment["DATABASE_URL"], "later")
        (tmp_path / "two").mkdir()
        two = Site(tmp_path / "two", dict(one.environment), forked=one.forked)
        with held_restore(one, file) as restore:
            ready = threading.Thread(target=two.start)
            ready.start()
            until, log = time.monotonic() + 60, two.directory / "serve.log"
            while not (log.exists() and schema_lock.WAITING in log.read_text()):  # it tries for some seconds first
                assert time.monotonic() < until, "the start does not wait"
                ready.join(0.02)
            let_go(restore)
            ready.join(60)
        try:
            names = {name for (name,) in two.rows("SELECT username FROM auth_user")}
            assert "of the backup" in names and "later" not in names
        finally:
            two.kill()


def add_person(url: str, name: str) -> None:
    values = "(%s, '', FALSE, '', '', '', FALSE, TRUE, now())"
    columns = "username, password, is_superuser, first_name, last_name, email, is_staff, is_active, date_joined"
    with psycopg.connect(url) as server:
        server.execute(f"INSERT INTO auth_user ({columns}) VALUES {values}".encode(), [name])


def wait_for_lock(url: str, number: int) -> None:
    """Return when somebody waits for this lock."""
    waiting = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND objid = %s AND NOT granted"
    until = time.monotonic() + 30
    with psycopg.connect(url, autocommit=True) as server:
        while not server.execute(waiting, [number]).fetchone():
            assert time.monotonic() < until, "nobody waits for the lock"
            server.execute("SELECT pg_sleep(0.02)")


def test_the_mark_of_a_restore_is_read_after_its_commit() -> None:
    """The process that sent the commit may have been killed before PostgreSQL has ended it."""
    with databases.database() as url, psycopg.connect(url) as loading:
        place = urlsplit(url)
        known: dict[str, Any] = {
            "NAME": place.path[1:],
            "USER": place.username,
            "PASSWORD": place.password or "",
            "OPTIONS": {},
        }
        database = {**known, "HOST": place.hostname, "PORT": place.port}
        loading.execute("CREATE TABLE django_migrations (id integer)")
        loading.commit()
        loading.execute("SELECT pg_advisory_xact_lock(%s)", [restore_journal.LOADING])
        loading.execute("COMMENT ON TABLE django_migrations IS 'restore 1'")
        found: list[str] = []
        reading = threading.Thread(target=lambda: found.append(restore_journal.restored_token(database)))
        reading.start()
        wait_for_lock(url, restore_journal.LOADING)
        loading.commit()
        reading.join(10)
        assert found == ["restore 1"]
