"""A pooler before PostgreSQL is recognised: `doctor` names it, and a restore through it is refused.

By day it is a relay that hides the number of the server's process, by night PgBouncer, where one pool serves a site.
"""

from __future__ import annotations

import os
import signal
import socket
import struct
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.child_process import running
from tests.installed import needs
from tests.serving import free_port, new_chat, sign_in
from tests.toolsupport.services.backups.test_backups import empty, give_tables, refused
from toolsupport.services.backups import restoring

WORDS = "DATABASE_URL leads to a pooler"


def relay(client: socket.socket, server: socket.socket, numbers: bool) -> None:
    """Pass on all bytes; with `numbers`, the number of the server's process is replaced as a pooler does."""
    with suppress(OSError):
        while data := client.recv(65536):
            if numbers and (at := data.find(b"K" + struct.pack(">I", 12))) >= 0:
                data, numbers = data[: at + 5] + struct.pack(">I", 77) + data[at + 9 :], False
            server.sendall(data)
    for one in (client, server):
        with suppress(OSError):
            one.shutdown(socket.SHUT_RDWR)


@contextmanager
def pooler(url: str) -> Iterator[str]:
    """The address of the same database behind a relay that gives out numbers of its own, as PgBouncer does."""
    place, opened = urlsplit(url), []
    listening = socket.create_server(("127.0.0.1", 0))

    def accept() -> None:
        with suppress(OSError):
            while True:
                client, _ = listening.accept()
                server = socket.create_connection((place.hostname, place.port))
                opened.extend([client, server])
                threading.Thread(target=relay, args=(server, client, True), daemon=True).start()
                threading.Thread(target=relay, args=(client, server, False), daemon=True).start()

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    try:
        yield place._replace(netloc=f"{place.username}@127.0.0.1:{listening.getsockname()[1]}").geturl()
    finally:
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        thread.join()
        for one in opened:
            one.close()


SETTINGS = """[databases]
* = host={host} port={port} user={user}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {listen}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 4
"""


@contextmanager
def pgbouncer(url: str) -> Iterator[str]:
    """The address of the same database through PgBouncer, which gives each transaction any of four connections."""
    place, listen = urlsplit(url), free_port()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "pgbouncer.ini"
        file.write_text(SETTINGS.format(host=place.hostname, port=place.port, user=place.username, listen=listen))
        Path(folder).chmod(0o755)
        command = ["pgbouncer", *(["-u", "nobody"] if os.geteuid() == 0 else []), str(file)]
        with running(command, stderr=subprocess.PIPE, text=True) as process:
            assert process.stderr and any("process up" in line for line in process.stderr)
            yield place._replace(netloc=f"{place.username}@127.0.0.1:{listen}").geturl()


@pytest.mark.nightly
@needs("pgbouncer")
def test_a_site_behind_pgbouncer(tmp_path: Path) -> None:  # P2 P3
    file = tmp_path / "site.tar"
    with empty(tmp_path / "one", "postgresql") as site:
        direct = site.environment["DATABASE_URL"]
        with pgbouncer(direct) as through:
            site.environment["DATABASE_URL"] = through
            site.start()  # creates the tables under the lock of an upgrade
            try:
                with closing(sign_in(site)) as browser:
                    pages = [browser.get(path).status_code for path in ("/models/", "/people/", "/quotas/", "/readyz")]
                    assert pages == [200, 200, 200, 200] and new_chat(browser)
                assert f"note  pooler: {WORDS}" in site.manage("doctor")
                site.manage("backup", str(file))
            finally:
                site.kill(signal.SIGTERM)
            assert restoring.POOLER in refused(site, "restore", str(file), "--yes")
        site.environment["DATABASE_URL"] = direct
        assert "Restored the backup" in site.manage("restore", str(file), "--yes")


def test_a_restore_through_a_pooler_is_refused(tmp_path: Path) -> None:  # P3
    file = tmp_path / "site.tar"
    with empty(tmp_path / "one", "postgresql") as site:
        give_tables(site, "postgresql")
        direct = site.environment["DATABASE_URL"]
        assert "pooler" not in site.manage("doctor")
        with pooler(direct) as through:
            site.environment["DATABASE_URL"] = through
            assert f"note  pooler: {WORDS}" in site.manage("doctor")
            site.manage("backup", str(file))
            assert restoring.POOLER in refused(site, "restore", str(file), "--yes")
        site.environment["DATABASE_URL"] = direct
        assert "Restored the backup" in site.manage("restore", str(file), "--yes")
