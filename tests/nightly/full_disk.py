"""Fills a disk of 24 MiB while an answer streams, and measures what stays, what the site shows, and what is kept.

python -m tests.nightly.full_disk --seconds 20 (as root: it mounts the disk)
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx

from tests.hostile_server import ask, evil_server, serving_evil, until_listed
from tests.serving import ADMIN, Site, new_chat, page, sign_in


@dataclass(frozen=True)
class FullDisk:
    """Seconds until the page was told and until it was told that all is saved; characters shown and kept."""

    told: float
    saved: float
    shown: int
    kept: int
    status: str


def expect_only_reading(site: Site, client: httpx.Client) -> None:
    """Pages are there; what would have to be saved is refused with the reason."""
    ready = client.get("/readyz")
    assert ready.status_code == 503 and "Cannot save right now" in ready.json()["why"]
    for path in ("/models/", "/history/", "/servers/", "/"):
        assert client.get(path).status_code == 200
    token = {"csrfmiddlewaretoken": client.cookies["csrftoken"]}
    with closing(httpx.Client(base_url=site.url, cookies={"csrftoken": client.cookies["csrftoken"]})) as stranger:
        page = stranger.post("/login/", data={"username": ADMIN[0], "password": ADMIN[1], **token})
    assert page.status_code == 503 and page.headers["Retry-After"] and "Cannot save right now" in page.text


def kept(site: Site, message: int) -> tuple[str, str]:
    """(text, how the turn stands) as the rows say it."""
    query = "SELECT m.content, t.status FROM chat_message m JOIN chat_turn t ON t.id = m.turn_id WHERE m.id = ?"
    return site.rows(query, message)[0]


@contextmanager
def small_disk(folder: Path) -> Iterator[None]:
    """Mount a disk; where that is not possible the campaign fails, since it shows nothing else."""
    mount = ["mount", "-t", "tmpfs", "-o", "size=24m,mode=0700", "tmpfs", str(folder)]
    subprocess.run(mount, check=True, capture_output=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@contextmanager
def filled(folder: Path) -> Iterator[None]:
    """Leave no byte on a disk."""
    ballast = folder / "ballast"
    handle = os.open(ballast, os.O_CREAT | os.O_WRONLY)
    try:
        while os.write(handle, b"x" * 4096):
            pass
    except OSError:
        yield
    finally:
        os.close(handle)
        ballast.unlink()


async def once(site: Site, client: httpx.Client, seconds: float) -> FullDisk:
    """One answer that counts before, while and after the disk is full."""
    clock = time.monotonic
    async with page(site, client, await asyncio.to_thread(new_chat, client)) as open_page:
        await ask(open_page, "evil-long")
        message = int((await open_page.until("text.delta"))["message"])
        with filled(site.directory):
            began = clock()
            await open_page.until("storage", saving=False)
            told = clock() - began
            await asyncio.to_thread(expect_only_reading, site, client)
            while clock() - began < seconds:
                await open_page.until("text.delta", message=message)
        began = clock()
        await open_page.until("storage", saving=True)
        saved = clock() - began
        await open_page.send("turn.stop")
        await open_page.until("turn.ended", reason="stopped")
        text, status = kept(site, message)
        return FullDisk(told, saved, len(open_page.text(message)), len(text), status)


def run(seconds: float) -> FullDisk:
    with TemporaryDirectory() as name, small_disk(Path(name)), evil_server() as evil:
        file = f"sqlite:///{name}/toolsupport.sqlite3"
        with serving_evil(Path(name), evil, DATABASE_URL=file) as site, closing(sign_in(site)) as client:
            until_listed(client)
            return asyncio.run(once(site, client, seconds))


if __name__ == "__main__":
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--seconds", type=float, default=20.0)
    print(run(given.parse_args().seconds))
