"""A test is left out only where what it needs is not installed, and never on the build server."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import house

SKIPPED = """
import pytest
from tests.installed import needs

@needs("no-such-program")
def test_marked(): pass

def test_from_within(): pytest.skip("the machine lacks it")

@pytest.fixture
def lacking(): pytest.skip("the machine lacks it")

def test_by_a_fixture(lacking): pass
"""
OF_OTHERS = "import pytest\n\n@pytest.mark.real_server\ndef test_one(): pytest.skip('names no server')\n"
WHOLE_FILE = "import pytest\npytest.skip('the machine lacks it', allow_module_level=True)\n"
INSTALLED = "from tests.installed import needs\n\n@needs('sh')\ndef test_one(): assert False\n"
EXPECTED = "import pytest\n\n@pytest.mark.xfail\ndef test_one(): assert False\n"


def outcome(directory: Path, source: str, ci: str) -> tuple[int, str]:
    """How a run of this file ends: its exit code, and its last line."""
    (directory / "test_it.py").write_text(source)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.installed", "-p", "no:django", "-c", "/dev/null"]
    environment = {**os.environ, "CI": ci, "PYTHONPATH": str(house.ROOT)}
    ran = subprocess.run(
        [*command, "--rootdir", str(directory), "test_it.py"],
        cwd=directory,
        env=environment,
        capture_output=True,
        text=True,
    )
    return ran.returncode, ran.stdout.strip().splitlines()[-1]


@pytest.mark.parametrize(
    ("source", "ci", "code", "counted"),
    [
        (SKIPPED, "", 0, "3 skipped"),
        (SKIPPED, "true", 1, "1 failed"),
        (WHOLE_FILE, "", 5, "1 skipped"),
        (WHOLE_FILE, "true", 2, "1 error"),
        (OF_OTHERS, "true", 0, "1 skipped"),
        (INSTALLED, "", 1, "1 failed"),
        (EXPECTED, "true", 0, "1 xfailed"),
    ],
    ids=["one", "one in CI", "file", "file in CI", "of others in CI", "installed", "expected to fail in CI"],
)
def test_nothing_is_left_out_on_the_build_server(tmp_path: Path, source: str, ci: str, code: int, counted: str) -> None:
    found, last = outcome(tmp_path, source, ci)
    assert (found, counted in last) == (code, True), last
