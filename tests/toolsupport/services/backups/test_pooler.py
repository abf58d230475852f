"""A pooler before PostgreSQL is recognised: `doctor` names it, and a restore through it is refused."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

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
