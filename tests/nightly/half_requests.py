"""A thousand half requests, slow bodies and slow readers, while Bob signs in, loads pages and gets answers.

python -m tests.nightly.half_requests --seconds 60 --files 1024 --host ::1
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.serving import ROOT, Page, Site, new_chat, page, prepare, sign_in

HALF, BODIES, READERS, GARBAGE = 1000, 200, 100, 50
PAUSE = 15.0  # seconds between two lines of a half request
AGAIN = 1.0  # seconds after which a closed connection is opened again
PIPELINED = 300  # requests that a reader sends and whose answers it never reads
PATIENCE = 30.0  # seconds after which Bob gives up
HEAD = "POST /login/ HTTP/1.1\r\nHost: localhost:{port}\r\n"
Place = tuple[str, int]
HELLO = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200)  # of a client that expects TLS


@dataclass
class Found:
    """Bob's worst seconds by what he did (PATIENCE: no answer), and what the server held at most."""

    worst: dict[str, float] = field(default_factory=dict)
    rounds: int = 0
    failed: list[str] = field(default_factory=list)
    memory: float = 0.0
    files: int = 0


async def half(place: Place) -> None:
    """One header line now and then, and never the last one."""
    reader, writer = await asyncio.open_connection(*place)
    with closing(writer):
        writer.write(HEAD.format(port=place[1]).encode())
        while not reader.at_eof():
            writer.write(b"X-Line: 1\r\n")
            with suppress(TimeoutError):
                await asyncio.wait_for(reader.read(4096), PAUSE)


async def slow_body(place: Place) -> None:
    """One byte of a large body each second."""
    reader, writer = await asyncio.open_connection(*place)
    with closing(writer):
        writer.write(f"{HEAD.format(port=place[1])}Content-Length: 1000000\r\n\r\n".encode())
        while not reader.at_eof():
            writer.write(b"x")
            with suppress(TimeoutError):
                await asyncio.wait_for(reader.read(4096), 1)


async def slow_reader(place: Place) -> None:
    """Many requests at once, and no answer of them is read."""
    _, writer = await asyncio.open_connection(*place, limit=1)
    with closing(writer):
        one = f"GET /login/ HTTP/1.1\r\nHost: localhost:{place[1]}\r\n\r\n".encode()
        writer.write(one * PIPELINED)
        while not writer.transport.is_closing():
            await asyncio.sleep(1)


async def garbage(place: Place) -> None:
    reader, writer = await asyncio.open_connection(*place)
    with closing(writer):
        writer.write(HELLO)
        await reader.read(4096)


async def again(kind: Counter[str], attack: object, place: Place) -> None:
    """Repeat an attack for ever; a refused or closed connection is opened again."""
    while True:
        with suppress(OSError, asyncio.LimitOverrunError):
            await attack(place)  # type: ignore[operator]
        kind[attack.__name__] += 1  # type: ignore[attr-defined]
        await asyncio.sleep(AGAIN)


async def attack(place: Place) -> None:
    """Run all attackers until this process is ended; print a line when they had time to connect."""
    closed: Counter[str] = Counter()
    kinds = {half: HALF, slow_body: BODIES, slow_reader: READERS, garbage: GARBAGE}
    attackers = [asyncio.create_task(again(closed, one, place)) for one, times in kinds.items() for _ in range(times)]
    await asyncio.sleep(5)
    print("connected", flush=True)
    await asyncio.gather(*attackers)


class OtherSite(Site):
    """A site at another address of this machine."""

    host = "127.0.0.1"

    @property
    def url(self) -> str:
        return f"http://[{self.host}]:{self.port}" if ":" in self.host else f"http://{self.host}:{self.port}"


def serve(site: OtherSite, files: int) -> subprocess.Popen[str]:
    """Serve with a hard limit of open files, which the tests' own way of starting cannot set."""
    command = [
        "bash",
        "-c",
        f"ulimit -n {files}; exec {sys.executable} manage.py serve --host {site.host} --port {site.port}",
    ]
    log = (site.directory / "serve.log").open("w")
    process = subprocess.Popen(command, cwd=ROOT, env=site.environ(), stdout=subprocess.PIPE, stderr=log, text=True)
    assert process.stdout
    assert any("is ready at" in line for line in process.stdout)
    return process


def held(pid: int) -> tuple[float, int]:
    """MiB in memory and open files of a process."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    memory = next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS:"))
    return memory, len(os.listdir(f"/proc/{pid}/fd"))


def timed(found: Found, name: str, began: float) -> None:
    found.worst[name] = max(found.worst.get(name, 0.0), time.monotonic() - began)


async def answer(site: Site, client: object, conversation: str, found: Found) -> None:
    """Stream one answer of a simulated model."""
    began = time.monotonic()
    async with asyncio.timeout(PATIENCE), page(site, client, conversation) as chat:  # type: ignore[arg-type]
        await ask(chat)
    timed(found, "answer", began)


async def ask(chat: Page) -> None:
    await chat.send("message.send", text="Hello")
    await chat.until("turn.ended")


def bob(site: Site, found: Found) -> None:
    """Sign in, load a page, get an answer; note the seconds of each."""
    for step in ("sign in", "page", "answer"):
        found.worst.setdefault(step, 0.0)
    began = time.monotonic()
    try:
        with closing(sign_in(site)) as client:
            timed(found, "sign in", began)
            began = time.monotonic()
            conversation = new_chat(client)
            timed(found, "page", began)
            asyncio.run(answer(site, client, conversation, found))
    except Exception as error:  # whatever a client meets on a site that does not answer
        found.failed.append(f"{type(error).__name__}: {error}"[:120])
    found.rounds += 1


def run(seconds: float, files: int, host: str = "127.0.0.1") -> tuple[Found, Found]:
    """Return what Bob saw alone and beside the attack."""
    alone, beside = Found(), Found()
    with TemporaryDirectory() as directory:
        site = OtherSite(Path(directory))
        site.host = host
        prepare(site)
        process = serve(site, files)
        bob(site, alone)
        bob(site, alone)
        alone.memory, alone.files = held(process.pid)
        command = [sys.executable, "-m", "tests.nightly.half_requests", "--host", host, "--attack", str(site.port)]
        attackers = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        try:
            assert attackers.stdout and attackers.stdout.readline() == "connected\n"
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                bob(site, beside)
                memory, open_files = held(process.pid)
                beside.memory, beside.files = max(beside.memory, memory), max(beside.files, open_files)
        finally:
            attackers.kill()
            attackers.wait()
            process.terminate()
            process.wait(60)
    return alone, beside


def main() -> None:
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--seconds", type=float, default=60)
    given.add_argument("--files", type=int, default=1024, help="hard limit of open files of the server")
    given.add_argument("--host", default="127.0.0.1", help="address of this machine to serve at")
    given.add_argument("--attack", type=int, metavar="PORT", help="only attack the site at this port")
    options = given.parse_args()
    if options.attack:
        asyncio.run(attack((options.host, options.attack)))
        return
    for name, found in zip(("alone", "beside"), run(options.seconds, options.files, options.host), strict=True):
        worst = ", ".join(f"{step} {value:.2f} s" for step, value in found.worst.items())
        print(f"{name}: {found.rounds} rounds, {len(found.failed)} failed; worst: {worst}")
        print(f"  {found.memory:.0f} MiB, {found.files} open files {sorted(set(found.failed))[:3]}")


if __name__ == "__main__":
    main()
