"""Mallory sends the worst texts of every kind; what Bob's pages, ping and stream feel of it is measured.

python -m tests.nightly.mallory --seconds 60
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack, asynccontextmanager, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.many_users import Person, browser, crowd
from tests.serving import ROOT, Page, Site, page, serving, sign_in

SOCKETS = 200
A_PERSON = 50  # pages that one person may have open
TOKENS = 400
# Pages that ping, and the seconds between two pings of one: a socket may send 30 frames in 10 s.
PINGING, BETWEEN = 8, 0.4


@dataclass
class Felt:
    """What Bob felt: seconds of his pings and page loads, and the tokens of his streams that were lost."""

    pings: list[float] = field(default_factory=list)
    loads: list[float] = field(default_factory=list)
    streams: int = 0
    lost: int = 0
    answers: dict[str, int] = field(default_factory=dict)

    @property
    def faults(self) -> dict[str, int]:
        """What Mallory got that is neither an answer nor a typed error; a 502 names what her server did."""
        signs = (" 5", " 404", "internal", "Error")
        expected = ("/v1 502 too_large",)
        found = {name: times for name, times in self.answers.items() if any(sign in name for sign in signs)}
        return {name: times for name, times in found.items() if name not in expected}


@contextmanager
def worst_server() -> Iterator[str]:
    """Run the model server as a process; give its address."""
    command = [sys.executable, "-m", "tests.nightly.worst_server"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
        finally:
            process.kill()


@asynccontextmanager
async def mallory(site: Site, people: list[Person], seconds: float, sockets: int) -> Any:
    """Run the attacks as a process; give it once all of its sockets are open."""
    key = site.manage("create_api_key", people[0]["name"]).strip().split()[-1]
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.nightly.mallory_attacks"),
        cwd=ROOT,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=2**20,
    )
    assert process.stdin and process.stdout
    given = {"site": site.url, "people": people, "key": key, "seconds": seconds, "sockets": sockets}
    process.stdin.write(json.dumps(given).encode() + b"\n")
    try:
        assert (await process.stdout.readline()).strip() == b"open"
        yield process.stdout
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def ping(bob: Page, felt: Felt, done: asyncio.Event, number: int) -> None:
    await asyncio.sleep(BETWEEN * number / PINGING)
    while not done.is_set():
        await asyncio.sleep(BETWEEN)
        began = time.monotonic()
        await bob.send("ping")
        await bob.until("pong")
        felt.pings.append(time.monotonic() - began)


async def stream(bob: Page, felt: Felt, done: asyncio.Event) -> None:
    """Read answers that count, and look for each number."""
    while not done.is_set():
        await bob.send("message.send", text=json.dumps({"count": TOKENS}))
        begun = len(bob.got)
        await bob.until("turn.ended")
        messages = [frame["message"] for frame in bob.got[begun:] if frame["type"] in ("text.delta", "resync")]
        numbers = bob.text(messages[-1]).split() if messages else []
        felt.streams += 1
        felt.lost += TOKENS - len(set(numbers) & {str(number) for number in range(TOKENS)})


async def load(site: Site, person: Person, felt: Felt, done: asyncio.Event) -> None:
    with closing(browser(site, person)) as client:
        while not done.is_set():
            began = time.monotonic()
            answer = await asyncio.to_thread(client.get, f"/chat/{person['conversation']}/")
            felt.loads.append(time.monotonic() - began)
            assert answer.status_code == 200
            await asyncio.sleep(0.5)


async def beside(site: Site, people: list[Person], seconds: float, sockets: int) -> Felt:
    """Measure Bob, the first of the people, while Mallory, who is all others, attacks; without sockets she does not."""
    felt, done = Felt(), asyncio.Event()
    bob, others = people[0], people[1:]
    with closing(browser(site, bob)) as client:
        async with AsyncExitStack() as stack:
            streaming, *pinging = [
                await stack.enter_async_context(page(site, client, bob["conversation"])) for _ in range(1 + PINGING)
            ]
            await streaming.send("model.select", model="worst")
            tasks = [stream(streaming, felt, done), load(site, bob, felt, done)]
            tasks += [ping(one, felt, done, number) for number, one in enumerate(pinging)]
            running = [asyncio.create_task(one) for one in tasks]
            if sockets:
                async with mallory(site, others, seconds, sockets) as said:
                    felt.pings.clear()
                    felt.answers = json.loads(await said.readline())
            else:
                await asyncio.sleep(seconds)
            done.set()
            await asyncio.gather(*running)
    return felt


def run(seconds: float, sockets: int = SOCKETS) -> tuple[Felt, Felt]:
    """Return what Bob felt alone and beside Mallory."""
    with worst_server() as address, TemporaryDirectory() as directory:
        environment = {"OLLAMA_HOST": address, "TOOLSUPPORT_SIMULATOR": "off"}
        with serving(Path(directory), **environment) as site, closing(sign_in(site)) as admin:
            while "worst" not in admin.get("/models/").text:
                pass
            people = crowd(site, 2 + max(1, sockets // A_PERSON))
            alone = asyncio.run(beside(site, people, min(seconds, 5), 0))
            return alone, asyncio.run(beside(site, people, seconds, sockets))


def line(name: str, felt: Felt) -> str:
    pings, loads = sorted(felt.pings), sorted(felt.loads)
    middle, worst = pings[len(pings) // 2] * 1000, pings[-1] * 1000
    shown = (
        f"| {name} | {middle:.0f} / {worst:.0f} ms | {loads[len(loads) // 2] * 1000:.0f} / {loads[-1] * 1000:.0f} ms "
    )
    return f"{shown}| {felt.lost} of {felt.streams * TOKENS} |"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--sockets", type=int, default=SOCKETS)
    asked = parser.parse_args()
    before, found = run(asked.seconds, asked.sockets)
    print(line("alone", before), line("beside Mallory", found), found.answers, found.faults, sep="\n")
