"""The systemd unit and the Containerfile: their restrictions, and a site that works under them."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import httpx
import pytest

from tests import house, wheels
from tests.child_process import running
from tests.installed import needs
from tests.serving import PATIENCE, free_port
from toolsupport.web.connection_table import ConnectionLimits

FILES = house.ROOT / "docs" / "deploy"
UNIT, IMAGE = FILES / "toolsupport.service", FILES / "Containerfile"
MOST_EXPOSURE = 4.0
# As the image runs: everything but the data and /tmp is read-only, no rights, not root. And as the unit: no namespaces.
LOCKED = (
    *("bwrap", "--die-with-parent", "--unshare-user", "--unshare-pid", "--disable-userns", "--cap-drop", "ALL"),
    *("--uid", "10001", "--gid", "10001", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"),
)


def instructions() -> list[list[str]]:
    """The instructions of the Containerfile, each as words."""
    text = re.sub(r"\\\n", " ", re.sub(r"^#.*\n", "", IMAGE.read_text(), flags=re.MULTILINE))
    return [shlex.split(line) for line in text.splitlines() if line.strip()]


def test_commands_run_with_the_account_folder_and_settings_of_the_unit() -> None:  # P6
    guide = re.sub(r"\\\n", " ", (house.ROOT / "docs" / "guides" / "operate.md").read_text())
    [line] = re.findall(r"^systemd-run .*", guide, flags=re.MULTILINE)
    words = shlex.split(line)
    given = {one for before, one in pairwise(words) if before in ("--property", "--setenv")}
    same = r"^(?:Environment=)?((?:DynamicUser|StateDirectory|StateDirectoryMode|EnvironmentFile|TOOLSUPPORT_\w+)=.*)"
    assert given == set(re.findall(same, UNIT.read_text(), flags=re.MULTILINE)) and len(given) == 5
    assert words[words.index("--uid") + 1] == UNIT.stem  # the name that DynamicUser gives the account of the unit


def test_what_the_image_copies_is_enough_for_the_wheel(tmp_path: Path) -> None:  # P6
    source = tmp_path / "source"
    source.mkdir()
    for word, *what in instructions():
        if word == "COPY":
            for one in what[:-1]:
                copy = shutil.copytree if (house.ROOT / one).is_dir() else shutil.copy
                copy(house.ROOT / one, source / one)
    words = ("wheel", str(source), "--no-deps", "--no-index", "--no-build-isolation", "--wheel-dir", str(tmp_path))
    wheels.pip(*words)
    assert len(list(tmp_path.glob("toolsupport-*.whl"))) == 1


def test_the_image_is_not_root_and_keeps_its_data_in_a_volume() -> None:  # P6
    last = {word: what for word, *what in instructions()}
    assert last["USER"] == ["10001:10001"] and last["VOLUME"] == ["/data"]
    assert "TOOLSUPPORT_DATA_DIR=/data" in last["ENV"]
    assert [*last["ENTRYPOINT"], *last["CMD"]]
    froms = [what[0] for word, *what in instructions() if word == "FROM"]
    assert froms and not [one for one in froms if one.endswith(":latest") or ":" not in one.rpartition("/")[2]]


@pytest.mark.parametrize(
    ("name", "line"), [("nginx.conf", r"keepalive_timeout (\d+)s;"), ("Caddyfile", r"keepalive (\d+)s\n")]
)
def test_a_proxy_gives_up_idle_connections_before_the_site_does(name: str, line: str) -> None:  # P6
    """A request that meets the end of its connection is lost, unless it can be repeated."""
    [seconds] = re.findall(line, (FILES / name).read_text())
    assert 0 < int(seconds) < ConnectionLimits().idle


def test_nginx_listens_for_ipv6_too() -> None:  # P6
    text = (FILES / "nginx.conf").read_text()
    assert re.findall(r"^    listen (.+?);", text, re.MULTILINE) == ["80", "[::]:80", "443 ssl", "[::]:443 ssl"]


@pytest.mark.nightly
@needs("systemd-analyze")
def test_the_unit_exposes_little() -> None:  # P6
    command = ["systemd-analyze", "security", "--offline=true", str(UNIT)]
    shown = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"SYSTEMD_PAGER": ""}).stdout
    found = re.search(r"Overall exposure level for toolsupport.service: ([\d.]+)", shown)
    assert found and float(found[1]) <= MOST_EXPOSURE, shown[-300:]


@contextmanager
def locked_site(folder: Path) -> Iterator[tuple[httpx.Client, list[str], dict[str, str]]]:
    """A site from the wheel under these restrictions, what runs another command there, and its environment."""
    packages, data = folder / "packages", folder / "data"
    wheel = wheels.build(folder)
    wheels.pip("install", "--no-deps", "--no-index", "--target", str(packages), str(wheel))
    data.mkdir(mode=0o700)
    data.chmod(0o777)  # another user's, where this one may not give files away
    folder.chmod(0o755)
    places = ("--ro-bind", str(packages), str(packages), "--bind", str(data), str(data), "--chdir", "/")
    paths = f"{packages}:{sysconfig.get_path('purelib')}"
    environment = wheels.bare(Path("/nonexistent"), PYTHONPATH=paths, TOOLSUPPORT_DATA_DIR=str(data))
    start = [*LOCKED, *places, sys.executable, "-m", "toolsupport"]
    port = free_port()
    command = [*start, "serve", "--port", str(port)]
    with running(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert any("is ready at" in line for line in process.stdout)
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=PATIENCE) as browser:
            yield browser, start, environment
        process.terminate()
        process.wait(PATIENCE)


@pytest.mark.nightly
@needs("bwrap")
def test_a_locked_site_serves_and_the_doctor_says_that_bash_is_absent(tmp_path: Path) -> None:  # P6 O3
    with locked_site(tmp_path) as (browser, start, environment):
        assert browser.get("/healthz").status_code == browser.get("/login/").status_code == 200
        while browser.get("/readyz").status_code != 200:  # the first tests of models are being written
            assert browser.get("/healthz").status_code == 200
        doctor = subprocess.run([*start, "doctor"], env=environment, capture_output=True, text=True)
        print(doctor.stdout)
        assert "FAIL" not in doctor.stdout and doctor.returncode == 0
        [bash] = re.findall(r"^(\w+) +tool bash: (.+)", doctor.stdout, re.MULTILINE)
        assert bash[0] == "note" and "namespaces" in bash[1], bash
