"""Writes an archive of a site of today's state, with rows in every table: `python -m tests.upgrades.make_archive NAME`.

Run it at the commit whose state is to be kept, before the migrations of the next one are added. With a database of a
PostgreSQL server in DATABASE_URL it writes `NAME.postgresql.sql.gz` (pg_dump is needed), else `NAME.sqlite.sql.gz`.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import platform
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.serving import ROOT, Site, new_chat, page, sign_in

HERE = Path(__file__).parent
# Encrypted columns can only be read with the key that they were written with.
SECRET_KEY = "the key of archived sites, which protects nothing"
EXAM = {
    "name": "archived",
    "cases": [
        {
            "id": "folder",
            "messages": [{"role": "user", "content": "What's in this folder?"}],
            "tools": [{"type": "function", "function": {"name": "list_directory", "parameters": {}}}],
            "expected": [{"name": "list_directory", "optional": ["path"]}],
        }
    ],
}
MORE_ROWS = "tests.upgrades.archive_rows"


async def chat(site: Site) -> None:
    """One conversation in which a tool runs, as the product itself writes it, and a test and an exam of its model."""
    with closing(sign_in(site)) as admin:
        async with page(site, admin, new_chat(admin)) as opened:
            await opened.until("hello")
            await opened.send("model.select", model="sim-honest:latest")
            await opened.send("message.send", text="What's in this folder?")
            await opened.until("turn.ended")
    site.manage("detect", "sim-honest:latest", "--server", "Simulator")
    exam = site.directory / "exam.json"
    exam.write_text(json.dumps(EXAM))
    site.manage("validate_model", "--model", "Simulator/sim-honest:latest", "--suite", str(exam))


def dump(site: Site) -> bytes:
    """The database as statements, tables and rows."""
    address = site.environment.get("DATABASE_URL", "")
    if address:
        command = ["pg_dump", "--no-owner", "--no-privileges", "--rows-per-insert=100", "--dbname", address]
        written = subprocess.run(command, capture_output=True, check=True).stdout.decode()
        # Commands of psql itself are no SQL.
        return "\n".join(line for line in written.splitlines() if not line.startswith("\\")).encode()
    with closing(sqlite3.connect(site.directory / "toolsupport.sqlite3")) as database:
        return "\n".join(database.iterdump()).encode()


def main() -> None:
    name, address = sys.argv[1], os.environ.get("DATABASE_URL", "")
    with TemporaryDirectory() as directory:
        environment = {"TOOLSUPPORT_SECRET_KEY": SECRET_KEY} | ({"DATABASE_URL": address} if address else {})
        site = Site(Path(directory), environment)
        site.manage("migrate", "--verbosity", "0")
        site.start()
        try:
            asyncio.run(chat(site))
        finally:
            site.kill(15)
        subprocess.run([sys.executable, "-m", MORE_ROWS], cwd=ROOT, env=site.environ(), check=True)
        written = dump(site)
    named = re.search(rf"\b{re.escape(platform.node())}\b".encode(), written)
    assert not named, "the archive names the machine that it was made on"
    file = HERE / f"{name}.{'postgresql' if address else 'sqlite'}.sql.gz"
    file.write_bytes(gzip.compress(written, mtime=0))


if __name__ == "__main__":
    main()
