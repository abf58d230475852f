"""Stops answers at random moments, and measures how soon the connection to the server closes and the page is notified.

python -m tests.nightly.stops --times 200
"""

from __future__ import annotations

import argparse
import asyncio
import random
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx

from tests.hostile_server import Evil, ask, evil_server, serving_evil, until_listed
from tests.serving import Site, new_chat, page, sign_in

MODELS = ("evil-long", "evil-hang-before", "evil-hang-between")
LONGEST = 0.5  # seconds until the stop


@dataclass(frozen=True, slots=True)
class Stop:
    """Seconds until the connection to the model's server was closed, and until the page was told."""

    model: str
    closed: float
    told: float


async def stop_once(site: Site, client: httpx.Client, evil: Evil, chance: random.Random) -> Stop:
    """One answer of one model, stopped at a moment of its first half second."""
    model = chance.choice(MODELS)
    async with page(site, client, await asyncio.to_thread(new_chat, client)) as open_page:
        await ask(open_page, model)
        await evil.until_chats(1)
        await asyncio.sleep(chance.uniform(0, LONGEST))

        async def closed() -> float:
            await evil.until_chats(0)
            return time.monotonic()

        async def told() -> float:
            await open_page.until("turn.ended", reason="stopped")
            return time.monotonic()

        began = time.monotonic()
        await open_page.send("turn.stop")
        ends = await asyncio.wait_for(asyncio.gather(closed(), told()), 30)
        return Stop(model, *(end - began for end in ends))


def run(times: int, seed: int) -> list[Stop]:
    chance = random.Random(seed)

    async def everything(site: Site, client: httpx.Client, evil: Evil) -> list[Stop]:
        return [await stop_once(site, client, evil, chance) for _ in range(times)]

    with (
        evil_server() as evil,
        TemporaryDirectory() as directory,
        serving_evil(Path(directory), evil) as site,
        closing(sign_in(site)) as client,
    ):
        until_listed(client)
        return asyncio.run(everything(site, client, evil))


def table(stops: Sequence[Stop]) -> str:
    rows = {"server left": [stop.closed for stop in stops], "page told": [stop.told for stop in stops]}
    lines = []
    for name, seconds in rows.items():
        ordered = sorted(seconds)
        median = ordered[len(ordered) // 2]
        lines.append(f"| {name}, median / longest | {median * 1000:.0f} / {ordered[-1] * 1000:.0f} ms |")
    return "\n".join(lines)


if __name__ == "__main__":
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--times", type=int, default=200)
    given.add_argument("--seed", type=int, default=0)
    chosen = given.parse_args()
    print(table(run(chosen.times, chosen.seed)))
