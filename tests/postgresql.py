"""A PostgreSQL server of our own, on a port and in a directory of its own, that tests can take away and bring back."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.serving import free_port

# Debian keeps these programs where the path does not lead.
PLACES = [str(place) for place in sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)]
PG_CTL = shutil.which("pg_ctl", path=os.pathsep.join([os.environ.get("PATH", ""), *PLACES]))
# Its programs refuse to run as root.
OWNER = "postgres" if os.getuid() == 0 else None


@dataclass(frozen=True)
class Cluster:
    """One server with one database; `stop` ends it as a crash does."""

    data: Path
    port: int

    @property
    def url(self) -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/postgres"

    def start(self) -> None:
        options = f"-p {self.port} -k {self.data} -c listen_addresses=127.0.0.1 -c fsync=off"
        self._run("start", "-w", "-o", options, "-l", str(self.data / "log"))

    def stop(self) -> None:
        self._run("stop", "-w", "-m", "immediate")

    def _run(self, *words: str) -> None:
        assert PG_CTL
        command = [PG_CTL, "-D", str(self.data), *words]
        subprocess.run(command, check=True, user=OWNER, cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@contextmanager
def cluster() -> Iterator[Cluster]:
    """A running server; gone afterwards."""
    with TemporaryDirectory(prefix="toolsupport-postgresql-", dir="/tmp") as directory:
        if OWNER:
            shutil.chown(directory, OWNER)
        running = Cluster(Path(directory) / "data", free_port())
        running._run("init", "-s", "-o", "-A trust -U postgres --no-sync -E UTF8 --locale=C")
        running.start()
        try:
            yield running
        finally:
            with suppress(subprocess.CalledProcessError):  # a test that failed left it stopped
                running.stop()
