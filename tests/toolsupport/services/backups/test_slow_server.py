"""A database server that is slow to accept connections is waited for, as on a busy machine."""

from __future__ import annotations

import signal
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.databases import ENGINES
from tests.silent_proxy import silent_proxy
from tests.toolsupport.services.backups.test_backups import empty, give_tables

LATE = 5  # seconds: a site that serves shows the absence of its database after 3


# P3
@pytest.mark.skipif("postgresql" not in ENGINES, reason="SQLite has no server")
@pytest.mark.parametrize(("words", "answer"), [("backup", "Wrote"), ("restore --yes", "Restored"), ("serve", "")])
def test_it_is_waited_for(tmp_path: Path, words: str, answer: str) -> None:
    file = str(tmp_path / "site.tar")
    with empty(tmp_path / "one", "postgresql") as one:
        give_tables(one, "postgresql")
        one.manage("backup", file)
        address = urlsplit(one.environment["DATABASE_URL"])
        with silent_proxy(address.port or 5432, LATE) as proxy:
            slow = f"{address.username}@127.0.0.1:{proxy.port}"
            one.environment["DATABASE_URL"] = address._replace(netloc=slow).geturl()
            if words == "serve":
                one.start()
                one.kill(signal.SIGTERM)
            else:
                assert answer in one.manage(*words.split(), file)
        assert proxy.late == 0, "the server was asked through the slow way"
