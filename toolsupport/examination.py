"""What could be wrong with an installation, looked at piece by piece."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from asgiref.sync import async_to_sync
from django.conf import settings
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor

from toolsupport import providers, refreshing
from toolsupport.core.errors import ConfigError
from toolsupport.refreshing import Refreshed
from toolsupport.registry import people, servers


@dataclass(frozen=True, slots=True)
class Finding:
    """`ok` is True, False (broken) or None (worth knowing); `words` say what is and, where needed, what to do."""

    what: str
    ok: bool | None
    words: str

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def examine() -> Iterator[Finding]:
    """All findings. What needs the tables is left out where the database has none."""
    yield data_directory()
    database = tables()
    yield database
    if database.ok:
        for look in NEED_TABLES:
            yield from look()


def data_directory() -> Finding:
    path = Path(settings.DATA_DIR)
    if not os.access(path, os.R_OK | os.W_OK | os.X_OK):
        return Finding("data directory", False, f"{path} cannot be written. Give it to the user this runs as.")
    open_to_others = path.stat().st_mode & 0o077
    if open_to_others:
        return Finding("data directory", None, f"Others can look into {path}. Close it: chmod 700 {path}")
    return Finding("data directory", True, str(path))


def tables() -> Finding:
    try:
        executor = MigrationExecutor(connection)
        plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    except DatabaseError as error:
        return Finding("database", False, f"It cannot be used: {error}. Check DATABASE_URL.")
    if plan:
        return Finding("database", False, f"Migrations are missing ({len(plan)}). Run: manage.py migrate")
    return Finding("database", True, f"{connection.vendor}, up to date")


def administrator() -> Iterator[Finding]:
    if people.needs_setup():
        yield Finding("administrator", None, "There is none yet. `manage.py serve` prints the address to make one.")
    else:
        yield Finding("administrator", True, "there is one")


def model_servers() -> Iterator[Finding]:
    try:
        asked = async_to_sync(_ask)()
    except ConfigError as error:
        yield Finding("servers", False, str(error))
        return
    if not asked:
        yield Finding("servers", None, "None. Start Ollama, or add one: manage.py add_server NAME URL --kind ollama")
    yield from (_server(one) for one in asked)


def simulator() -> Iterator[Finding]:
    mode = settings.ENV["TOOLSUPPORT_SIMULATOR"]
    words = {"off": "switched off", "on": "always shown", "auto": "shown while no other server answers"}[mode]
    yield Finding("simulator", True, f"{words} (TOOLSUPPORT_SIMULATOR={mode})")


NEED_TABLES: tuple[Callable[[], Iterator[Finding]], ...] = (administrator, model_servers, simulator)


async def _ask() -> tuple[Refreshed, ...]:
    try:
        await refreshing.ensure_servers()
        return await refreshing.refresh_all()
    finally:
        await providers.close()


def _server(asked: Refreshed) -> Finding:
    server = servers.shown(asked.server)
    what = f"server {server.name}"
    if not asked.why:
        return Finding(what, True, f"{server.base_url} answers, models: {asked.models}")
    if server.simulated:
        return Finding(what, None, "It runs only while `manage.py serve` does.")
    return Finding(what, False, f"{asked.why} {server.hint if server.hint not in asked.why else ''}".strip())
