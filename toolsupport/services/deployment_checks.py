"""Checks how the site is run: the disk, the age of its backup, proxies, processes, poolers, traces."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import httpx
from django.conf import settings
from django.db import DatabaseError, connection
from django.utils import timezone

from toolsupport.config import traces
from toolsupport.config.application_paths import COMMAND
from toolsupport.core import passkey_origins
from toolsupport.core.history_sentences import counted
from toolsupport.services import schema_lock
from toolsupport.services.backups import making
from toolsupport.services.doctor import Finding

OLD = timedelta(days=7)
PATIENCE = 5  # seconds
LITTLE, TOO_LITTLE = 2**30, 50 * 2**20  # bytes that are free on the disk


def findings() -> Iterator[Finding]:
    """Return a finding for each."""
    yield disk()
    yield temporary_files()
    yield backup()
    yield proxies()
    yield processes(connection.vendor)
    yield from pooler()
    yield from letters()
    yield retention()
    yield passkey_addresses()
    yield trace_collector()


def passkey_addresses() -> Finding:
    """Report at which addresses people can use passkeys."""
    what = "passkeys"
    if not settings.ENV["TOOLSUPPORT_PASSWORD_SIGN_IN"]:
        return Finding(what, None, "off, because sign-in with a password is switched off")
    able = [one for one in settings.ORIGINS if passkey_origins.site_of(one)]
    if not able:
        why = passkey_origins.why_not(settings.ORIGINS[0])
        return Finding(what, None, f"None of the origins can have passkeys. {settings.ORIGINS[0]}: {why}")
    return Finding(what, True, f"people can use them at {', '.join(able)}")


def disk() -> Finding:
    """Report how much is free where the data directory is."""
    what, data = "disk", Path(settings.DATA_DIR)
    try:
        free = shutil.disk_usage(data).free
    except OSError as error:
        return Finding(what, False, f"It cannot be read: {error}.")
    words = f"{free / 2**20:,.0f} MiB free at {data}"
    if free < TOO_LITTLE:
        return Finding(what, False, f"{words}. Free some: nothing can be saved on a full disk.")
    return Finding(what, None if free < LITTLE else True, words + (". Free some." if free < LITTLE else ""))


def temporary_files() -> Finding:
    """Report where temporary files are: SQLite, uploads and backups need some."""
    what = "temporary files"
    try:
        # Python falls back to the working directory, which is unsuitable and which SQLite tries last.
        folder = next(one for one in (os.environ.get("TMPDIR"), "/var/tmp", "/tmp") if one and _writable(one))
    except StopIteration:
        words = "No folder for them can be written. Mount one at /tmp, or name one in TMPDIR."
        return Finding(what, False, f"{words} SQLite reports `disk I/O error` until then.")
    return Finding(what, True, f"in {folder}")


def _writable(folder: str) -> bool:
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def backup() -> Finding:
    """Report when and where the last backup was written, and whether it is still there."""
    what, last = "backup", making.last()
    if last is None:
        return Finding(what, None, f"There was none yet. Run: {COMMAND} backup FILE")
    made_at, file = last
    age = timezone.now() - made_at
    words = f"{file}, made {counted(age.days, 'day')} ago"
    if age > OLD:
        return Finding(what, None, f"{words}. Make one each day: {COMMAND} backup FILE")
    if not Path(file).exists():
        return Finding(what, None, f"{words}, no longer exists. Check that it is kept on another machine.")
    return Finding(what, True, words)


def pooler() -> Iterator[Finding]:
    """Report a pooler before PostgreSQL: most of the site works with it."""
    if connection.vendor != "postgresql":
        return
    try:
        if schema_lock.through_a_pooler():
            words = (
                "DATABASE_URL leads to a pooler (such as PgBouncer). `restore` needs the address of PostgreSQL itself."
            )
            yield Finding("pooler", None, words)
    except DatabaseError:
        return  # the check of the database has the reason


def letters() -> Iterator[Finding]:
    """Report a locale of PostgreSQL that compares only ASCII letters in any case."""
    if connection.vendor != "postgresql":
        return
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT lower('Ü') = 'ü', datctype FROM pg_database WHERE datname = current_database()")
            compared, locale = cursor.fetchone()
    except DatabaseError:
        return  # the check of the database has the reason
    if not compared:
        words = (
            f"With the locale {locale} of the database, a search ignores the case of ASCII letters only: “über” does"
        )
        yield Finding("letters", None, f"{words} not find “Über”. Restore a backup into a database with C.UTF-8.")


def proxies() -> Finding:
    """Report whose X-Forwarded-For counts; a network of all addresses lets each client choose its own."""
    what, declared = "proxies", settings.ENV["TOOLSUPPORT_TRUSTED_PROXIES"]
    listed = ", ".join(map(str, declared))
    if any(network.prefixlen == 0 for network in declared):
        words = f"{listed} are all addresses, so each client can state any address. Name only your proxies"
        return Finding(what, False, f"{words} in TOOLSUPPORT_TRUSTED_PROXIES.")
    if declared:
        return Finding(what, True, f"X-Forwarded-For counts from {listed}")
    if settings.BEHIND_HTTPS:
        words = "X-Forwarded-For counts from this machine and private networks. Name your proxies"
        return Finding(what, None, f"{words} in TOOLSUPPORT_TRUSTED_PROXIES.")
    return Finding(what, True, "none; browsers connect to the site itself")


def trace_collector() -> Finding:
    """Send an empty list of spans to the collector, if there is one."""
    what, collector = "traces", settings.ENV["TOOLSUPPORT_TRACES"]
    if not collector:
        return Finding(what, True, "off; TOOLSUPPORT_TRACES names a collector")
    if not traces.installed():
        return Finding(what, False, f"The packages are missing, so none are sent. Run: {traces.INSTALL}")
    place = traces.address(collector)
    try:
        headers = {"content-type": "application/x-protobuf"}
        status = httpx.post(place, content=b"", headers=headers, trust_env=False, timeout=PATIENCE).status_code
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        return Finding(what, False, f"{place} does not answer ({type(error).__name__}). See TOOLSUPPORT_TRACES.")
    if status != httpx.codes.OK:
        return Finding(what, False, f"{place} answers {status}. See TOOLSUPPORT_TRACES.")
    return Finding(what, True, f"sent to {place}")


def retention() -> Finding:
    """Report how long rows are kept."""
    days = {kind: settings.ENV[f"TOOLSUPPORT_KEEP_{kind}_DAYS"] for kind in ("CHATS", "EXCHANGES", "EVIDENCE", "AUDIT")}
    words = (f"{kind.lower()} {f'{kept} days' if kept else 'for ever'}" for kind, kept in days.items())
    return Finding("retention", True, f"kept: {', '.join(words)}")


def processes(database: str) -> Finding:
    """Report whether several processes may serve the site."""
    what, redis = "processes", bool(settings.ENV["REDIS_URL"])
    if redis:
        where = "on this machine; several machines need PostgreSQL" if database == "sqlite" else "on any machine"
        return Finding(what, True, f"several may serve this site, {where}")
    if database == "sqlite":
        return Finding(what, True, "one start, also with --processes; a second on the same database is refused")
    return Finding(
        what, None, "Start `serve` once only: several exchange messages through Redis, and REDIS_URL is not set."
    )
