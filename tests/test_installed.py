"""A test is left out only where what it needs is not installed, and never on the build server."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

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
FILES = {
    "skipped": SKIPPED,
    "of_others": "import pytest\n\n@pytest.mark.real_server\ndef test_one(): pytest.skip('names no server')\n",
    "whole": "import pytest\npytest.skip('the machine lacks it', allow_module_level=True)\n",
    "installed": "from tests.installed import needs\n\n@needs('sh')\ndef test_one(): assert False\n",
    "expected": "import pytest\n\n@pytest.mark.xfail\ndef test_one(): assert False\n",
}
MARKERS = "markers=real_server: needs servers of others"


def outcomes(directory: Path, ci: str) -> dict[str, str]:
    """How the tests of each file end: in the words of pytest's own summary."""
    for name, source in FILES.items():
        (directory / f"test_{name}.py").write_text(source)
    words = ("-m", "pytest", "-rA", "--tb=no", "-p", "tests.installed", "-c", "/dev/null", "--rootdir", str(directory))
    environment = {**os.environ, "CI": ci, "PYTHONPATH": str(house.ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    environment.pop("PYTEST_ADDOPTS", None)
    command = [sys.executable, *words, "--continue-on-collection-errors", "--strict-markers", "-o", MARKERS, "."]
    ran = subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True)
    found: dict[str, set[str]] = {}
    for outcome, name in re.findall(r"^([A-Z]+) .*?test_(\w+)\.py", ran.stdout, re.M):
        found.setdefault(name, set()).add(outcome)
    return {name: " ".join(sorted(words)) for name, words in found.items()}


def test_where_something_may_be_left_out_it_is(tmp_path: Path) -> None:
    assert outcomes(tmp_path, "") == {
        "skipped": "SKIPPED",
        "whole": "SKIPPED",
        "of_others": "SKIPPED",
        "installed": "FAILED",
        "expected": "XFAIL",
    }


def test_nothing_is_left_out_on_the_build_server(tmp_path: Path) -> None:
    assert outcomes(tmp_path, "true") == {
        "skipped": "ERROR FAILED",
        "whole": "ERROR",
        "of_others": "SKIPPED",
        "installed": "FAILED",
        "expected": "XFAIL",
    }
