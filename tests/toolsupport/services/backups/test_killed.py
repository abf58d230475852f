"""A backup or restore that is killed leaves the old state or the new one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests import databases
from tests.databases import ENGINES

# With the rows in an SQLite file outside of the data directory as well.
PLACES = (*ENGINES, "elsewhere")


@contextmanager
def environment(folder: Path, engine: str) -> Iterator[dict[str, str]]:
    kept = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
    if engine == "sqlite":
        yield kept
        return
    if engine == "elsewhere":
        yield kept | {"DATABASE_URL": f"sqlite:///{folder / 'disk' / 'rows.sqlite3'}"}
        return
    with databases.database() as url:
        yield kept | {"DATABASE_URL": url}


def run(folder: Path, engine: str, first: int, every: int) -> dict[str, list[str]]:
    command = [sys.executable, "-m", "tests.toolsupport.services.backups.killed", str(folder), str(first), str(every)]
    with environment(folder, engine) as given:
        ran = subprocess.run(command, cwd=databases.ROOT, env=given, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr[-2000:]
    found: dict[str, list[str]] = json.loads(ran.stdout.splitlines()[-1])
    return found


def expect_old_or_new(found: dict[str, list[str]], least: int) -> None:
    assert set(found["restores"]) == {"old", "new"}, found["restores"]
    assert found["restores"][-1] == "new" and len(found["restores"]) > least
    assert set(found["backups"]) == {"none", "whole", "clean"} and len(found["backups"]) > least


@pytest.mark.parametrize(("engine", "every"), [(one, {"postgresql": 10}.get(one, 23)) for one in PLACES])
def test_killed_at_some_moments_all_is_old_or_all_is_new(tmp_path: Path, engine: str, every: int) -> None:  # P3
    expect_old_or_new(run(tmp_path, engine, 3, every), 3)


@pytest.mark.nightly
@pytest.mark.parametrize("engine", PLACES)
def test_killed_at_each_moment_all_is_old_or_all_is_new(tmp_path: Path, engine: str) -> None:  # P3
    expect_old_or_new(run(tmp_path, engine, 1, 1), 30)
