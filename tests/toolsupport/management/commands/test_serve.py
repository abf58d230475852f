"""`manage.py serve` brings its database up to date, alone or beside other processes, or stops with the reason."""

from __future__ import annotations

import ctypes
import re
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from django.db.migrations.loader import MigrationLoader

from tests import databases
from tests.serving import ADMIN, ROOT, Site, prepare, sign_in
from toolsupport.services import database_upgrade


@pytest.fixture
def environment() -> Iterator[dict[str, str]]:
    """What points a site at an empty database of the kind that the tests run on."""
    with ExitStack() as held:
        url = held.enter_context(databases.database()) if databases.POSTGRESQL else ""
        yield {"TOOLSUPPORT_SIMULATOR": "off"} | ({"DATABASE_URL": url} if url else {})


def refused(site: Site) -> str:
    """What a start that fails prints, with a status that is not 0."""
    with pytest.raises(subprocess.CalledProcessError) as ended:
        site.manage("serve", "--port", str(site.port))
    assert ended.value.returncode == 1
    assert "Traceback" not in ended.value.stderr
    return str(ended.value.stderr)


def stop(site: Site) -> None:
    site.kill(signal.SIGTERM if site.process and site.process.poll() is None else signal.SIGKILL)


# P2, O2
def test_of_processes_that_start_at_once_on_an_empty_database_all_come_up_or_one(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    sites = [Site(tmp_path, environment) for _ in range(2)]
    try:
        with ThreadPoolExecutor() as pool:
            up = [site for site in pool.map(started, sites) if site]
        assert len(up) == (2 if databases.POSTGRESQL else 1)
        for site in up:
            with closing(sign_in(site)) as browser:
                assert browser.get("/").status_code == 200
        assert sites[0].rows("SELECT username FROM auth_user") == [(ADMIN[0],)]
    finally:
        for site in sites:
            stop(site)


def started(site: Site) -> Site | None:
    with suppress(RuntimeError):
        site.start()
        return site
    return None


# O2
def test_a_second_process_on_one_sqlite_file_is_refused_until_the_first_has_ended(kept: Site) -> None:
    link = kept.directory / "link.sqlite3"
    link.symlink_to(kept.directory / "toolsupport.sqlite3")
    linked = {"DATABASE_URL": f"sqlite:///{link}"}
    others = [Site(kept.directory, given, forked=kept.forked) for given in (kept.environment, linked)]
    (kept.directory / "toolsupport.sqlite3").chmod(0o644)
    kept.start()
    for other in others:
        other.environment["TOOLSUPPORT_SIMULATOR"] = "off"
        assert kept.process and f"already served by process {kept.process.pid} at {kept.url}" in refused(other)
    assert "ok" in kept.manage("doctor"), "other commands run beside it"
    modes = {path.name: path.stat().st_mode & 0o777 for path in kept.directory.glob("toolsupport.sqlite3*")}
    assert set(modes) >= {"toolsupport.sqlite3", "toolsupport.sqlite3-wal"} and set(modes.values()) == {0o600}
    kept.kill()
    others[0].start()
    stop(others[0])


@pytest.fixture
def kept(tmp_path: Path) -> Site:
    """A site with a migrated SQLite file that does not run yet."""
    chosen = {"TOOLSUPPORT_SIMULATOR": "off", "DATABASE_URL": f"sqlite:///{tmp_path}/toolsupport.sqlite3"}
    site = Site(tmp_path, chosen, forked=sys.platform == "linux")
    prepare(site)
    return site


def change(site: Site, statement: str) -> None:
    with closing(sqlite3.connect(site.directory / "toolsupport.sqlite3")) as file, file:
        file.execute(statement)


def older(site: Site) -> str:
    """Take the newest migration of the file back; gives its name."""
    loader = MigrationLoader(None)
    newest = loader.graph.leaf_nodes("toolsupport")[0]
    [before] = [name for app, name in loader.get_migration(*newest).dependencies if app == "toolsupport"]
    site.manage("migrate", "toolsupport", before, "--verbosity", "0")
    return newest[1]


# Runs the command where no file may grow beyond a size: a write then fails, or the system kills the process in it.
LIMITED = """
import resource, signal, sys
from django.core.management import execute_from_command_line
resource.setrlimit(resource.RLIMIT_FSIZE, ({bytes}, {bytes}))
signal.signal(signal.SIGXFSZ, signal.{then})
execute_from_command_line(["manage.py", "serve", "--port", "{port}"])
"""


def limited(site: Site, then: str) -> subprocess.CompletedProcess[str]:
    code = LIMITED.format(bytes=256 * 1024, then=then, port=site.port)
    environ = site.environ() | {"DJANGO_SETTINGS_MODULE": "toolsupport.config.settings"}
    command = [sys.executable, "-c", code]
    return subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, timeout=60)


@contextmanager
def full_disk(folder: Path) -> Iterator[bool]:
    """A disk of 256 KiB at this folder, where this user may mount one."""
    folder.mkdir(exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k,mode=0700", "tmpfs", str(folder)]
    mounted = subprocess.run(mount, capture_output=True).returncode == 0
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", str(folder)], check=True)


def test_an_older_sqlite_file_is_copied_before_it_is_brought_up_to_date_or_stays_as_it_was(kept: Site) -> None:  # P2
    newest, copies = older(kept), kept.directory / "backups"
    applied = "SELECT count(*) FROM django_migrations WHERE name = ?"
    copies.write_text("in the way")
    assert "could not be copied" in refused(kept)
    copies.unlink()
    with full_disk(copies) as mounted:
        if mounted:
            assert "could not be copied" in refused(kept)
            assert list(copies.iterdir()) == []
    failed = limited(kept, "SIG_IGN")
    assert failed.returncode == 1 and "could not be copied" in failed.stderr and "Traceback" not in failed.stderr
    assert list(copies.iterdir()) == []
    assert limited(kept, "SIG_DFL").returncode == -signal.SIGXFSZ
    assert [file.suffix for file in copies.iterdir() if "journal" not in file.name] == [".unfinished"]
    assert kept.rows(applied, newest) == [(0,)]
    kept.start()
    stop(kept)
    assert kept.rows(applied, newest) == [(1,)]
    [copy] = copies.iterdir()
    assert copy.suffix == ".sqlite3" and copy.stat().st_mode & 0o077 == 0
    assert databases.rows(f"sqlite:///{copy}", applied, newest) == [(0,)]
    log = (kept.directory / "serve.log").read_text()
    assert len([line for line in log.splitlines() if "never finished" in line]) == 1


def test_two_copies_of_one_moment_are_two_files(tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.DATA_DIR = tmp_path
    monkeypatch.setattr("django.utils.timezone.now", lambda: datetime(2026, 11, 3, tzinfo=UTC))
    with closing(sqlite3.connect(":memory:")) as database:
        database.executescript("CREATE TABLE part (name TEXT); INSERT INTO part VALUES ('bolt');")
        held = SimpleNamespace(connection=database, ensure_connection=lambda: None)
        monkeypatch.setattr(database_upgrade, "connection", held)
        copies = {database_upgrade.copy_sqlite() for _ in range(3)}
    assert len(copies) == 3
    for copy in copies:
        assert databases.rows(f"sqlite:///{copy}", "SELECT name FROM part") == [("bolt",)]
        assert copy.stat().st_mode & 0o077 == 0


def test_a_database_of_a_newer_version_is_refused_in_words(kept: Site) -> None:
    change(kept, "INSERT INTO django_migrations (app, name, applied) VALUES ('chat', '9999_later', '2030-01-01')")
    assert "newer version of toolsupport" in refused(kept)
    assert "chat.9999_later" in refused(kept)


def test_a_disabled_administrator_of_the_environment_stays_disabled_and_stops_nothing(kept: Site) -> None:
    kept.start()
    kept.kill(signal.SIGTERM)
    change(kept, "UPDATE auth_user SET is_active = 0")
    kept.start()
    try:
        assert kept.process and kept.process.stdout
        kept.process.send_signal(signal.SIGTERM)
        printed = kept.process.stdout.read()
    finally:
        stop(kept)
    assert re.search(r"/setup/\?token=\w+", printed)
    assert "TOOLSUPPORT_ADMIN names an account" in printed
    assert kept.rows("SELECT username, is_active FROM auth_user") == [(ADMIN[0], 0)]


@pytest.mark.parametrize(
    ("variable", "value", "reason"),
    [
        ("TOOLSUPPORT_SIMULATOR", "maybe", "TOOLSUPPORT_SIMULATOR='maybe' cannot be used"),
        ("TOOLSUPPORT_ADMIN", "ana", "name:password"),
        ("TOOLSUPPORT_ADMIN", "ana:12", "TOOLSUPPORT_ADMIN cannot be used"),
        ("DATABASE_URL", "sqlite:////dev/null/none.sqlite3", "database"),
        ("DATABASE_URL", "mysql://a", "DATABASE_URL cannot be used"),
    ],
)
def test_a_start_that_cannot_succeed_gives_the_reason_without_a_traceback(
    kept: Site, variable: str, value: str, reason: str
) -> None:
    kept.environment[variable] = value
    assert reason in refused(kept)


# S2: the event loop waits for threads six times until a ping is answered.
BEHIND = {"TOOLSUPPORT_ORIGINS": "https://chat.example.org", "TOOLSUPPORT_ALLOWED_HOSTS": "chat.example.org"}


@pytest.mark.skipif(sys.platform != "linux", reason="uses an address of the loopback network that only Linux has")
@pytest.mark.parametrize(
    ("host", "environment", "site", "reached"),
    [
        ("127.0.0.9", {}, "http://127.0.0.9:{port}", "127.0.0.9"),
        ("0.0.0.0", {}, "http://127.0.0.1:{port}", "127.0.0.9"),
        ("127.0.0.1", BEHIND, "https://chat.example.org", "127.0.0.1"),
    ],
)
def test_the_printed_set_up_address_is_answered(
    kept: Site, host: str, environment: dict[str, str], site: str, reached: str
) -> None:  # O1 P6
    """As a browser or a proxy asks for it, with nothing else set."""
    kept.environment |= {"TOOLSUPPORT_ADMIN": "", **environment}
    kept.options = ("--host", host)
    kept.start()
    try:
        assert kept.process and kept.process.stdout
        printed = next(line for line in kept.process.stdout if "token=" in line)
        [(start, path)] = re.findall(r"(https?://[^/]+)(/setup/\S+)", printed)
        assert start == site.format(port=kept.port)
        headers = {"Host": start.partition("://")[2], "X-Forwarded-Proto": start.partition(":")[0]}
        asked = httpx.get(f"http://{reached}:{kept.port}{path}", headers=headers, trust_env=False)
        assert asked.status_code == 200 and 'name="token"' in asked.text
        assert "FAIL" not in kept.manage("doctor")
    finally:
        stop(kept)


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_info"), reason="the C library is not glibc")
def test_its_threads_share_two_parts_of_the_heap(kept: Site) -> None:
    """Each part but the first reserves 64 MiB: pages that are in use, and the rest behind them."""
    kept.forked = False
    kept.start()
    try:
        with closing(sign_in(kept)) as browser, ThreadPoolExecutor(4) as pool:
            assert {one.status_code for one in pool.map(lambda _: browser.get("/models/"), range(8))} == {200}
        assert kept.process
        maps = Path(f"/proc/{kept.process.pid}/maps").read_text().splitlines()
        ranges = [[int(end, 16) for end in line.split()[0].split("-")] for line in maps]
        parts = [begin for (begin, used), (after, end) in pairwise(ranges) if used == after and end - begin == 64 << 20]
        assert len(parts) == 1
    finally:
        stop(kept)
