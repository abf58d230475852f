"""The image of the Containerfile, built without a daemon, runs with the restrictions that its head names."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests import house
from tests.deploy.test_unit_and_image import IMAGE, instructions
from tests.installed import needs
from tests.serving import PATIENCE, free_port

BUNDLE = Path("/etc/ssl/certs/ca-certificates.crt")
PACKAGES = "python3,python3-pip,python3-venv,ca-certificates"
pytestmark = [pytest.mark.nightly, needs("buildah"), needs("debootstrap"), needs("bwrap")]
ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root may give the volume to the user of the image")


@dataclass(frozen=True)
class Builder:
    """buildah with a store of its own, as it works without a daemon and within a container."""

    folder: Path

    def __call__(self, *words: str) -> str:
        places = ("--root", str(self.folder / "store"), "--runroot", str(self.folder / "run"))
        command = ["buildah", "--storage-driver", "vfs", *places, *words]
        made = os.environ | {"BUILDAH_ISOLATION": "chroot"}
        ran = subprocess.run(command, env=made, capture_output=True, text=True)
        assert ran.returncode == 0, ran.stderr[-3000:] + ran.stdout[-1000:]
        return ran.stdout.strip()


def lay_base(folder: Path) -> None:
    """Make the files of the base image: Debian with Python, and this machine's certificates and settings of pip."""
    command = ["debootstrap", "--variant=minbase", f"--include={PACKAGES}", "trixie", str(folder)]
    subprocess.run(command, check=True, capture_output=True)
    (folder / "usr/bin/python").symlink_to("python3")
    for marker in folder.glob("usr/lib/python3.*/EXTERNALLY-MANAGED"):
        marker.unlink()
    if BUNDLE.exists():
        shutil.copy(BUNDLE, folder / BUNDLE.relative_to("/"))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, dict[str, Any]]]:
    """The folder with all files of the image, and its settings."""
    folder = tmp_path_factory.mktemp("image")
    buildah = Builder(folder)
    [base] = {words[1] for words in instructions() if words[0] == "FROM"}
    lay_base(folder / "base")
    fresh = buildah("from", "scratch")
    buildah("copy", "--quiet", fresh, str(folder / "base"), "/")
    buildah("commit", "--quiet", "--rm", fresh, base)
    settings = Path("/etc/pip.conf")
    given = ("--volume", f"{settings}:{settings}:ro") if settings.exists() else ()
    words = ("--pull-never", "--network", "host", "--format", "docker", *given, "--file", str(IMAGE), "--tag", "site")
    buildah("build", *words, str(house.ROOT))
    config = json.loads(buildah("inspect", "--type", "image", "site"))["Docker"]["config"]
    container = buildah("from", "--pull-never", "site")
    yield Path(buildah("mount", container)), config
    buildah("umount", container)
    shutil.rmtree(folder, ignore_errors=True)


def command_in(files: Path, config: dict[str, Any], data: Path) -> list[str]:
    """What starts a command of the image: a read-only root, its own user, no capabilities, its data in its volume."""
    user, group = config["User"].split(":")
    [volume] = config["Volumes"]
    box = ["bwrap", "--die-with-parent", "--unshare-pid", "--clearenv", "--cap-drop", "ALL"]
    for right in ("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP"):  # until setpriv has changed the user
        box += ["--cap-add", right]
    box += ["--ro-bind", str(files), "/", "--dev", "/dev", "--proc", "/proc"]
    box += ["--perms", "1777", "--tmpfs", "/tmp"]
    for one in config["Env"]:
        box += ["--setenv", *one.split("=", 1)]
    drop = ["setpriv", "--reuid", user, "--regid", group, "--clear-groups", "--no-new-privs", "--bounding-set=-all"]
    return [*box, "--bind", str(data), volume, *drop, "--"]


@contextmanager
def running(start: list[str], config: dict[str, Any]) -> Iterator[int]:
    """Run the site as the image does, at a free port."""
    port = free_port()
    serve = [str(port) if word == "8000" else word for word in config["Cmd"]]
    command = [*start, *config["Entrypoint"], *serve]
    with (
        tempfile.TemporaryFile("w+") as log,
        subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=log) as process,
    ):
        assert process.stdout
        try:
            assert any("is ready at" in line for line in process.stdout)
            yield port
        finally:
            process.terminate()
            process.wait()
        log.seek(0)
        assert "Traceback" not in (written := log.read()), written


@pytest.fixture
def data() -> Iterator[Path]:
    """A volume that belongs to the user of the image, in folders that this user may pass."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o711)
        volume = Path(folder) / "data"
        volume.mkdir(mode=0o700)
        os.chown(volume, 10001, 10001)
        yield volume


WRITES = "import pathlib; pathlib.Path('/opt/toolsupport/x').write_text('x')"


@ROOT
def test_the_image_runs_read_only_without_root_and_gets_ready(built: tuple[Path, dict[str, Any]], data: Path) -> None:
    files, config = built  # P6
    assert config["User"] == "10001:10001" and config["Healthcheck"]["Test"][0] == "CMD"
    start = command_in(files, config, data)
    with running(start, config) as port:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=PATIENCE) as browser:
            assert browser.get("/login/").status_code == browser.get("/healthz").status_code == 200
            while browser.get("/readyz").status_code != 200:  # the first tests of models are being written
                assert browser.get("/healthz").status_code == 200
        doctor = subprocess.run([*start, *config["Entrypoint"], "doctor"], capture_output=True, text=True)
        health = [word.replace(":8000/", f":{port}/") for word in config["Healthcheck"]["Test"][1:]]
        subprocess.run([*start, *health], check=True)
        refused = subprocess.run([*start, health[0], "-c", WRITES], capture_output=True, text=True).stderr
    print(doctor.stdout)
    assert "FAIL" not in doctor.stdout and doctor.returncode == 0 and "Read-only file system" in refused
    assert re.search(r"^\w+ +data directory: /data", doctor.stdout, re.MULTILINE)
    assert (data / "toolsupport.sqlite3").stat().st_uid == 10001
