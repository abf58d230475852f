"""An installation from a folder of wheels, in a box without network, comes to the first tool card in a minute."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import house, wheels
from tests.installed import needs

# Namespaces of their own for network and processes; only the given folder can be written.
BOX = ("bwrap", "--unshare-net", "--unshare-pid", "--die-with-parent", "--ro-bind", "/", "/", "--dev", "/dev")
LONGEST, MOST_WORK = 60, 25  # seconds, and those of processors: a busy machine shares them among others


# P1
@pytest.mark.nightly
@needs("bwrap")
def test_a_folder_of_wheels_is_enough_for_the_first_tool_card(tmp_path: Path) -> None:
    wheels.fill(tmp_path / "wheels")
    for name in ("home", "empty"):
        (tmp_path / name).mkdir()
    box = [*BOX, "--proc", "/proc", "--bind", str(tmp_path), str(tmp_path), "--chdir", str(house.ROOT)]
    inside = [sys.executable, "-m", "tests.nightly.first_card", str(tmp_path / "wheels"), str(tmp_path)]
    ran = subprocess.run([*box, *inside], env=dict(os.environ), capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr[-3000:]
    found = json.loads(ran.stdout.splitlines()[-1])
    print(found)
    assert found["card"] == "read_file" and found["networks"] == ["lo"]
    assert found["seconds"] <= LONGEST and found["CPU seconds"] <= MOST_WORK
