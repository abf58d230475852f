"""Mallory's model writes the texts that cost most to format, while Bob's page sends pings and is loaded.

python -m tests.nightly.costly_texts
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import httpx

from tests.hostile_server import Evil, ask, evil_server, serving_evil, until_listed
from tests.many_users import browser, crowd
from tests.serving import Page, Site, page, sign_in
from toolsupport.rendering import format_tasks

TEXTS = {
    "a plain sentence": "Hello, Bob.",
    "`c`, 19,900 blank lines": "```c\n" + "\n" * 19_900 + "```",
    "five of `c`, 3,900 blank lines": ("```c\n" + "\n" * 3_900 + "```\n\n") * 5,
    "`java`, 4,000 characters": "```java\n" + "a " * 2_000 + "\n```",
    "`make`, 4,000 characters": "```make\n" + "a" * 4_000 + "\n```",
    "`tsx`, 10,000 open tags": "```tsx\n" + "<a " * 3_300 + "\n```",
    "`markdown` with `c` in it": "```markdown\n~~~c\n" + "\n" * 4_000 + "~~~\n```",
    "`html` with scripts": "```html\n" + "<script>\n" * 2_000 + "\n```",
    "lists, 100,000 characters": "- a\n" * 25_000,
    "links, 100,000 characters": "[a](" * 25_000,
    "emphasis, 98,000 characters": "*a **b " * 14_000,
    "a table of 300 columns": "|" + "a|" * 300 + "\n|" + "-|" * 300 + "\n" + "x\n" * 40_000,
    "nested quotes and lists": "> - " * 25_000,
}
NOTES = {
    "no colors": "Shown without colors",
    "plain, costly": format_tasks.TOO_COSTLY,
    "plain, long": format_tasks.TOO_LONG,
    "plain at first": 'class="toolong"',
}


# A page may send 30 frames in ten seconds.
PAUSE = 0.35


class Participant(NamedTuple):
    client: httpx.Client
    conversation: str


@dataclass(frozen=True, slots=True)
class CostlyText:
    """Seconds until the end of the answer, and of a load of its page.

    `shown` is the form on the open page, `reloaded` that of the next load. `pings` and `pages` are what another person
    waited for meanwhile, in seconds.
    """

    name: str
    ended: float
    loaded: float
    shown: str
    reloaded: str
    pings: tuple[float, ...]
    pages: tuple[float, ...]

    def row(self) -> str:
        quiet = f"{max(self.pings) * 1000:.0f} ms | {max(self.pages) * 1000:.0f} ms"
        own = f"{unlimited(TEXTS[self.name]):.2f} s | {self.ended:.2f} s | {self.loaded * 1000:.0f} ms"
        return f"| {self.name} | {own} | {self.shown}, {self.reloaded} | {quiet} |"


def unlimited(text: str) -> float:
    """What formatting costs outside a worker, where nothing limits it."""
    from toolsupport.rendering.messages import render

    began = time.process_time()
    render(text[: format_tasks.LONGEST])
    return time.process_time() - began


async def pings(quiet: Page, waits: list[float]) -> None:
    while True:
        began = time.monotonic()
        await quiet.send("ping")
        await quiet.until("pong")
        waits.append(time.monotonic() - began)
        await asyncio.sleep(PAUSE)


def load(person: Participant) -> tuple[str, float]:
    began = time.monotonic()
    text = person.client.get(f"/chat/{person.conversation}/messages/").text
    return text, time.monotonic() - began


async def loads(person: Participant, waits: list[float]) -> None:
    while True:
        waits.append((await asyncio.to_thread(load, person))[1])
        await asyncio.sleep(PAUSE)


async def one(site: Site, evil: Evil, people: tuple[Participant, Participant], name: str) -> CostlyText:
    """Mallory gets the text and loads its page, Bob is there."""
    (mallory, bob), evil.text = people, TEXTS[name]
    waits: tuple[list[float], list[float]] = ([], [])
    async with page(site, *bob) as quiet, page(site, *mallory) as loud:
        await quiet.until("hello")
        beside = [asyncio.ensure_future(pings(quiet, waits[0])), asyncio.ensure_future(loads(bob, waits[1]))]
        began = time.monotonic()
        await ask(loud, "evil-markup")
        await loud.until("turn.ended", reason="done")
        ended = time.monotonic() - began
        html, loaded = await asyncio.to_thread(load, mallory)
        while not all(waits):
            await asyncio.sleep(0.02)
        for task in beside:
            task.cancel()
    last = loud.of("message.finished")[-1]["html"]
    return CostlyText(name, ended, loaded, form(last), form(html.rpartition("<article")[2]), *map(tuple, waits))


def form(html: str) -> str:
    return next((name for name, sign in NOTES.items() if sign in html), "formatted")


async def measured(site: Site, evil: Evil, names: Iterable[str]) -> list[CostlyText]:
    first, second = await asyncio.to_thread(crowd, site, 2)
    with closing(browser(site, first)) as mallory, closing(browser(site, second)) as bob:
        people = Participant(mallory, first["conversation"]), Participant(bob, second["conversation"])
        return [await one(site, evil, people, name) for name in names]


def run(names: Iterable[str] = TEXTS) -> list[CostlyText]:
    with (
        evil_server() as evil,
        TemporaryDirectory() as directory,
        serving_evil(Path(directory), evil) as site,
        closing(sign_in(site)) as client,
    ):
        until_listed(client)
        return asyncio.run(measured(site, evil, names))


if __name__ == "__main__":
    print(
        "| text | without limits | answer ended | its page | shown at once, later | ping of another | page of another |"
    )
    for found in run():
        print(found.row())
