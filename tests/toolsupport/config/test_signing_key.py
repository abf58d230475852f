"""The signing key is made once, whole, however many processes start and whenever one ends."""

from __future__ import annotations

import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.house import ROOT
from toolsupport.config import signing_key

UNSET = {"TOOLSUPPORT_SECRET_KEY": ""}
KILLED = """
import os, signal, sys
from pathlib import Path
from toolsupport.config import signing_key
left = int(sys.argv[2])
def count(event, _):
    global left
    if event.startswith(("open", "os.")):
        left -= 1
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(count)
signing_key.of_site({"TOOLSUPPORT_SECRET_KEY": ""}, Path(sys.argv[1]))
"""


def test_the_environment_comes_first(tmp_path: Path) -> None:
    assert signing_key.of_site({"TOOLSUPPORT_SECRET_KEY": "given"}, tmp_path) == "given" and not [*tmp_path.iterdir()]


def test_of_processes_that_start_at_once_all_have_one_key(tmp_path: Path) -> None:  # P2
    with ThreadPoolExecutor(8) as pool:
        [key] = set(pool.map(lambda _: signing_key.of_site(UNSET, tmp_path), range(40)))
    [file] = tmp_path.iterdir()
    assert len(key) > 60 and file.read_text() == key and stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize("left", ["", "\n"])
def test_an_empty_file_is_no_key(tmp_path: Path, left: str) -> None:
    (tmp_path / "secret_key").write_text(left)
    assert len(signing_key.of_site(UNSET, tmp_path)) > 60


def test_a_start_that_is_killed_leaves_no_half_key(tmp_path: Path) -> None:  # P2
    step, codes = 0, list[int]()
    while 0 not in codes:
        step += 1
        folder = tmp_path / str(step)
        folder.mkdir()
        ran = subprocess.run([sys.executable, "-c", KILLED, str(folder), str(step)], cwd=ROOT)
        codes.append(ran.returncode)
        kept = (folder / "secret_key").read_text() if (folder / "secret_key").exists() else ""
        assert len(kept) in (0, 67) and len(signing_key.of_site(UNSET, folder)) == 67
        assert not kept or signing_key.of_site(UNSET, folder) == kept
    assert len(codes) > 3
