"""The wheel has everything inside, and its command works in an empty folder without any setting."""

from __future__ import annotations

import re
import subprocess
import sysconfig
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from zipfile import ZipFile

import httpx
import pytest

from tests import house, wheels
from tests.child_process import running
from tests.serving import PATIENCE, free_port
from toolsupport import __version__
from toolsupport.config import application_paths

INSIDE = {"toolsupport": "toolsupport", "chat": "chat"} | {
    name: f"toolsupport/assets/{name}" for name in ("templates", "static")
}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return wheels.build(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(wheel: Path) -> Path:
    folder = wheel.parent / "packages"
    wheels.pip("install", "--no-deps", "--no-index", "--target", str(folder), str(wheel))
    return folder


class Machine:
    """An empty working directory and an empty home, and the command of the installed wheel."""

    def __init__(self, folder: Path, installed: Path) -> None:
        self.home, self.here, self.program = folder / "home", folder / "here", installed / "bin" / "toolsupport"
        for one in (self.home, self.here):
            one.mkdir()
        # Libraries come from the environment of the tests; the application itself only from the wheel.
        packages = f"{installed}:{sysconfig.get_path('purelib')}"
        self.environment = wheels.bare(self.home, PYTHONPATH=packages)

    def start(self, *words: str) -> AbstractContextManager[subprocess.Popen[str]]:
        command = [str(self.program), *words]
        pipe = subprocess.PIPE
        return running(command, cwd=self.here, env=self.environment, stdout=pipe, stderr=pipe, text=True)

    def run(self, *words: str) -> str:
        with self.start(*words) as process:
            printed, errors = process.communicate(timeout=PATIENCE)
        return printed + errors


@pytest.fixture
def machine(tmp_path: Path, installed: Path) -> Machine:
    return Machine(tmp_path, installed)


def expected() -> Iterator[str]:
    for folder, inside in INSIDE.items():
        for file in (house.ROOT / folder).rglob("*"):
            if file.is_file() and "__pycache__" not in file.parts:
                yield f"{inside}/{file.relative_to(house.ROOT / folder).as_posix()}"


def test_the_wheel_has_every_file_of_the_application(wheel: Path) -> None:  # P1
    names = {name for name in ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert names == set(expected())
    assert any("/migrations/" in name for name in names) and any(name.endswith(".toml") for name in names)


def test_the_overview_names_every_command_and_leaves_nothing_behind(machine: Machine) -> None:  # P1
    shown = machine.run("--help")
    commands = re.findall(r"^  (\w+) +(\S.*)", shown, re.MULTILINE)
    assert commands[0][0] == "serve" and len(commands) >= 13 and "Usage: toolsupport COMMAND" in shown
    assert machine.run() == machine.run("help") == shown
    assert machine.run("--version") == f"toolsupport {__version__}\n"
    assert [*machine.home.iterdir(), *machine.here.iterdir()] == []


def test_the_command_serves_from_an_empty_folder_and_keeps_data_in_the_home(machine: Machine) -> None:  # P1
    port, data = free_port(), machine.home / ".local" / "share" / "toolsupport"
    with machine.start("serve", "--host", "127.0.0.1", "--port", str(port)) as process:
        assert process.stdout
        lines = [process.stdout.readline() for _ in range(4)]
        address = f"http://127.0.0.1:{port}"
        with httpx.Client(base_url=address, trust_env=False, follow_redirects=True, timeout=PATIENCE) as browser:
            page = browser.get("/login/").text
            style = browser.get(re.findall(r'href="(/static/[^"]+\.css)"', page)[0])
            setup = browser.get(re.findall(r"http\S+(/setup/\S+)", "".join(lines))[0])
            doctor = machine.run("doctor")
        process.terminate()
        assert process.wait(PATIENCE) == 0
    assert lines[0] == f"Data is kept in {data}\n" and (data / "toolsupport.sqlite3").is_file()
    assert "password" in page and style.status_code == 200 and "color" in style.text
    assert setup.status_code == 200 and 'name="token"' in setup.text
    assert "`toolsupport serve` prints" in doctor and "manage.py" not in doctor and "server simulator" in doctor.lower()
    assert list(machine.here.iterdir()) == []


def test_without_a_home_the_command_names_the_setting(machine: Machine) -> None:
    machine.environment["HOME"] = "/dev/null/none"
    assert "Set TOOLSUPPORT_DATA_DIR" in machine.run("doctor")
    machine.environment["TOOLSUPPORT_DATA_DIR"] = "mine"
    assert f"data directory: {machine.here / 'mine'}" in machine.run("doctor")


HOME = Path.home()


@pytest.mark.parametrize(
    ("installed", "given", "shared", "expected"),
    [
        (False, "", "/shared", application_paths.IMPORT_ROOT / "data"),
        (False, "mine", "", application_paths.IMPORT_ROOT / "mine"),
        (False, "/mine", "", Path("/mine")),
        (True, "", "", HOME / ".local/share/toolsupport"),
        (True, "", "/shared", Path("/shared/toolsupport")),
        (True, "", "relative", HOME / ".local/share/toolsupport"),
        (True, "mine", "/shared", Path.cwd() / "mine"),
        (True, "~/mine", "", HOME / "mine"),
    ],
)
def test_where_data_is_kept(
    monkeypatch: pytest.MonkeyPatch, installed: bool, given: str, shared: str, expected: Path
) -> None:
    monkeypatch.setattr(application_paths, "INSTALLED", installed)
    assert application_paths.data_dir(given, {"XDG_DATA_HOME": shared}) == expected
