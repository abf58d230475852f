"""Kills a serving site at random moments of its answers, and counts what is missing afterwards.

python -m tests.nightly.kills --times 100
"""

from __future__ import annotations

import argparse
import asyncio
import random
import signal
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx

from tests.hostile_server import Evil, ask, evil_server, serving_evil, until_listed
from tests.serving import Page, Site, new_chat, page, sign_in

CONVERSATIONS = 3
LONGEST = 1.5  # seconds until the kill
PATIENCE = 15.0


@dataclass
class Seen:
    """What one page saw until the kill: the acknowledged message, and when how much of the answer was there."""

    acknowledged: int = 0
    answer: int = 0
    growth: list[tuple[float, int]] = field(default_factory=list)

    def note(self, frame: dict) -> None:
        if frame["type"] == "message.accepted":
            self.acknowledged = frame["message"]
        elif frame["type"] == "text.delta":
            self.answer = frame["message"]
            self.growth.append((time.monotonic(), frame["offset"] + len(frame["text"])))


@dataclass
class Kill:
    """What a kill cost. Times in seconds; `odd` holds everything that must not be."""

    answers: int = 0
    acknowledged: int = 0
    lost_text: float = 0.0
    settled: float = 0.0
    odd: list[str] = field(default_factory=list)


async def watch(open_page: Page, seen: Seen) -> None:
    """Ask, then note every frame until the connection is gone."""
    await ask(open_page, "evil-long")
    while True:
        for frame in open_page.got:
            seen.note(frame)
        open_page.got.clear()
        await open_page.next()


async def follow(site: Site, client: httpx.Client, conversation: str, seen: Seen) -> None:
    try:
        async with page(site, client, conversation) as open_page:
            await watch(open_page, seen)
    except (ConnectionError, OSError, httpx.HTTPError):
        pass


async def answer_once(site: Site, client: httpx.Client) -> None:
    """Let the site answer: on a busy machine the first answer after a start takes longer than all moments."""
    async with page(site, client, await asyncio.to_thread(new_chat, client)) as open_page:
        await ask(open_page, "evil-long")
        await open_page.until("text.delta")
        await open_page.send("turn.stop")
        await open_page.until("turn.ended")


async def kill_once(site: Site, client: httpx.Client, moment: float) -> Kill:
    """Let several conversations be answered, kill the site at a moment, start it again and look."""
    await answer_once(site, client)
    chats = [await asyncio.to_thread(new_chat, client) for _ in range(CONVERSATIONS)]
    seen = [Seen() for _ in chats]
    pages = [asyncio.ensure_future(follow(site, client, *pair)) for pair in zip(chats, seen, strict=True)]
    await asyncio.sleep(moment)
    killed = time.monotonic()
    await asyncio.to_thread(site.kill, signal.SIGKILL)
    await asyncio.gather(*pages)
    await asyncio.to_thread(site.start)
    started = time.monotonic()
    kill = Kill(settled=await settled(site) - started)
    for one in seen:
        judge(site, one, killed, kill)
    return kill


async def settled(site: Site) -> float:
    """When the last open turn was interrupted."""
    end = time.monotonic() + PATIENCE
    while site.rows("SELECT id FROM chat_turn WHERE status IN ('queued', 'running', 'waiting')"):
        if time.monotonic() > end:
            return float("inf")
        await asyncio.sleep(0.05)
    return time.monotonic()


def judge(site: Site, seen: Seen, killed: float, kill: Kill) -> None:
    if seen.acknowledged:
        kill.acknowledged += 1
        kept = site.rows("SELECT content FROM chat_message WHERE id = ? AND role = 'user'", seen.acknowledged)
        if kept != [("Hello?",)]:
            kill.odd.append(f"acknowledged message {seen.acknowledged}: {kept}")
    if not seen.growth:
        return
    kill.answers += 1
    found = site.rows(
        "SELECT m.content, m.finished, t.status FROM chat_message m JOIN chat_turn t ON t.id = m.turn_id"
        " WHERE m.id = ?",
        seen.answer,
    )
    if len(found) != 1 or found[0][1:] != (1, "interrupted") or not counted(found[0][0]):
        kill.odd.append(f"answer {seen.answer}: {found}")
        return
    missing = [moment for moment, length in seen.growth if length > len(found[0][0])]
    kill.lost_text = max([kill.lost_text, *(killed - moment for moment in missing)])


def counted(text: str) -> bool:
    """True for a beginning of "0 1 2 3 …"."""
    return "".join(f"{number} " for number in range(len(text))).startswith(text)


async def kill_often(directory: Path, evil: Evil, times: int, chance: random.Random) -> list[Kill]:
    """One site, killed so many times."""
    with serving_evil(directory, evil) as site, closing(sign_in(site)) as client:
        await asyncio.to_thread(until_listed, client)
        return [await kill_once(site, client, chance.uniform(0.0, LONGEST)) for _ in range(times)]


def run(times: int, sites: int, seed: int) -> list[Kill]:
    """The kills, spread over sites that run side by side."""

    async def everything(evil: Evil, directory: str) -> list[list[Kill]]:
        shares = [times // sites + (number < times % sites) for number in range(sites)]
        places = [Path(directory, str(number)) for number in range(sites)]
        for place in places:
            place.mkdir()
        chances = [random.Random(f"{seed} {number}") for number in range(sites)]
        work = zip(places, shares, chances, strict=True)
        return await asyncio.gather(*(kill_often(place, evil, share, chance) for place, share, chance in work))

    with evil_server() as evil, TemporaryDirectory() as directory:
        return [kill for part in asyncio.run(everything(evil, directory)) for kill in part]


def table(kills: Sequence[Kill]) -> str:
    lost = sorted(kill.lost_text for kill in kills)
    ends = sorted(kill.settled for kill in kills)
    figures = {
        "kills": len(kills),
        "answers that were being written": sum(kill.answers for kill in kills),
        "acknowledged messages": sum(kill.acknowledged for kill in kills),
        "of these lost, or otherwise odd": sum(len(kill.odd) for kill in kills),
        "text lost, median / longest": f"{lost[len(lost) // 2] * 1000:.0f} / {lost[-1] * 1000:.0f} ms",
        "settled after the start, median / longest": f"{ends[len(ends) // 2]:.1f} / {ends[-1]:.1f} s",
    }
    return "\n".join(f"| {name} | {value} |" for name, value in figures.items())


if __name__ == "__main__":
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--times", type=int, default=100)
    given.add_argument("--sites", type=int, default=4)
    given.add_argument("--seed", type=int, default=0)
    chosen = given.parse_args()
    result = run(chosen.times, chosen.sites, chosen.seed)
    print(table(result))
    for kill in result:
        print(*kill.odd, sep="\n", end="\n" if kill.odd else "")
