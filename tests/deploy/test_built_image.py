"""The image of the Containerfile, built without a daemon, runs with the restrictions that its head names."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
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


@dataclass(frozen=True)
class Builder:
    """buildah with a store of its own, as it works without a daemon and within a container."""

    folder: Path

    def __call__(self, *words: str) -> str:
        places = ("--root", str(self.folder / "store"), "--runroot", str(self.folder / "run"))
        made = {"STORAGE_DRIVER": "vfs", "BUILDAH_ISOLATION": "chroot"}
        ran = subprocess.run(["buildah", *places, *words], env=os.environ | made, capture_output=True, text=True)
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


@contextmanager
def running(files: Path, config: dict[str, Any], data: Path) -> Iterator[tuple[list[str], int]]:
    """A site from the image: a read-only root, its own user, no rights; and what starts another command there."""
    user, group = config["User"].split(":")
    [volume] = config["Volumes"]
    data.mkdir()
    os.chown(data, int(user), int(group))
    data.chmod(0o700)
    box = ["bwrap", "--die-with-parent", "--unshare-user", "--unshare-pid", "--cap-drop", "ALL", "--clearenv"]
    box += ["--uid", user, "--gid", group, "--ro-bind", str(files), "/", "--dev", "/dev", "--proc", "/proc"]
    box += ["--tmpfs", "/tmp", "--bind", str(data), volume]
    for one in config["Env"]:
        box += ["--setenv", *one.split("=", 1)]
    drop = ["setpriv", "--reuid", user, "--regid", group, "--clear-groups"]
    start, port = [*drop, *box, *config["Entrypoint"]], free_port()
    serve = [str(port) if word == "8000" else word for word in config["Cmd"]]
    with subprocess.Popen([*start, *serve], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            assert any("is ready at" in line for line in process.stdout)
            yield start, port
        finally:
            process.terminate()


def test_the_image_runs_read_only_without_root_and_gets_ready(
    built: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:  # P6
    files, config = built
    assert config["User"] == "10001:10001" and config["Healthcheck"]["Test"][0] == "CMD"
    tmp_path.chmod(0o755)
    with running(files, config, tmp_path / "data") as (start, port):
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=PATIENCE) as browser:
            assert browser.get("/login/").status_code == browser.get("/healthz").status_code == 200
            while browser.get("/readyz").status_code != 200:  # the first tests of models are being written
                assert browser.get("/healthz").status_code == 200
        doctor = subprocess.run([*start, "doctor"], capture_output=True, text=True)
        health = [word.replace(":8000/", f":{port}/") for word in config["Healthcheck"]["Test"][1:]]
        subprocess.run([*start[: -len(config["Entrypoint"])], *health], check=True)
        written = "import pathlib; pathlib.Path('/opt/toolsupport/x').write_text('x')"
        tried = [*start[: -len(config["Entrypoint"])], health[0], "-c", written]
        assert "Read-only file system" in subprocess.run(tried, capture_output=True, text=True).stderr
    assert "FAIL" not in doctor.stdout and doctor.returncode == 0, doctor.stdout
    assert re.search(r"^\w+ +data directory: /data", doctor.stdout, re.MULTILINE), doctor.stdout
    assert (tmp_path / "data" / "toolsupport.sqlite3").stat().st_uid == 10001
