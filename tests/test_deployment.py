"""Behind https, Django's own examination of a deployment finds nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.fork_server import run_command, run_forked

RUN = run_forked if sys.platform == "linux" else run_command


def check(directory: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    chosen = {**os.environ, "TOOLSUPPORT_DATA_DIR": str(directory), **environment}
    return RUN(("check", "--deploy", "--fail-level", "WARNING"), chosen)


def test_behind_https_nothing_is_found(tmp_path: Path) -> None:  # O4
    done = check(tmp_path, TOOLSUPPORT_ORIGINS="https://chat.example.org", TOOLSUPPORT_ALLOWED_HOSTS="chat.example.org")
    assert done.returncode == 0, done.stderr
    assert "no issues (0 silenced)" in done.stdout
    assert "W" not in done.stderr


def test_without_https_it_would_be_found(tmp_path: Path) -> None:
    done = check(tmp_path, TOOLSUPPORT_ORIGINS="http://chat.example.org")
    assert done.returncode != 0 and "security.W" in done.stderr


def test_on_this_machine_alone_https_is_not_missed(tmp_path: Path) -> None:  # O4
    done = check(tmp_path, TOOLSUPPORT_ORIGINS="", TOOLSUPPORT_DEBUG="0")
    assert done.returncode == 0 and "W" not in done.stderr, done.stderr
