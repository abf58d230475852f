"""Two pages of one conversation do whatever comes to their minds; afterwards rows and pages are compared."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, field

import httpx

from tests.serving import Page, Site, new_chat, page

MODELS = ("sim-honest:latest", "sim-long:latest", "sim-refuses:latest")
# At most so many a socket, as long as the server lets through; a reload opens another one.
STEPS_PER_SOCKET = 12


@dataclass
class Tab:
    """What all the sockets of one tab were told."""

    acknowledged: dict[str, int] = field(default_factory=dict)
    started: list[int] = field(default_factory=list)
    odd: list[str] = field(default_factory=list)

    def note(self, open_page: Page) -> None:
        seqs = [frame["seq"] for frame in open_page.got if "seq" in frame]
        if seqs != sorted(set(seqs)):
            self.odd.append(f"numbers out of order: {seqs}")
        for frame in open_page.of("message.accepted"):
            before = self.acknowledged.setdefault(frame["client_id"], frame["message"])
            if before != frame["message"]:
                self.odd.append(f"{frame['client_id']} is two messages")
        order = [frame["message"] for frame in open_page.of("message.started")]
        if order != sorted(order):
            self.odd.append(f"messages out of order: {order}")
        self.started += order
        self.odd += [frame["text"] for frame in open_page.of("error") if frame["code"] == "internal"]


async def act(open_page: Page, chance: random.Random, sent: list[str]) -> None:
    """One thing a person or a page may do."""
    what = chance.choice(["send", "send", "again", "stop", "model", "resync", "listen"])
    if what == "send":
        sent.append(await open_page.send("message.send", text=f"message {len(sent)} of {chance.random()}"))
    elif what == "again" and sent:
        await open_page.send("message.send", text="sent before", client_id=chance.choice(sent))
    elif what == "stop":
        await open_page.send("turn.stop")
    elif what == "model":
        await open_page.send("model.select", model=chance.choice(MODELS))
    elif what == "resync" and (started := open_page.of("message.started")):
        await open_page.send("turn.resync", message=chance.choice(started)["message"])
    await open_page.send("ping")
    await open_page.until("pong")


async def live(site: Site, client: httpx.Client, conversation: str, chance: random.Random, steps: int) -> Tab:
    """One tab: acts, and opens its socket anew now and then."""
    tab, sent = Tab(), list[str]()
    while steps > 0:
        several = min(steps, chance.randint(1, STEPS_PER_SOCKET))
        steps -= several
        async with page(site, client, conversation) as open_page:
            await open_page.until("hello")
            for _ in range(several):
                await act(open_page, chance, sent)
            tab.note(open_page)
    return tab


async def interleave(site: Site, client: httpx.Client, chance: random.Random, steps: int) -> list[str]:
    """Let two tabs act; gives everything that must not be."""
    conversation = new_chat(client)
    async with page(site, client, conversation) as open_page:
        await open_page.until("hello")
        await open_page.send("model.select", model=MODELS[0])
        await open_page.send("ping")
        await open_page.until("pong")
    tabs = await asyncio.gather(
        *(live(site, client, conversation, random.Random(chance.random()), steps) for _ in range(2))
    )
    await come_to_rest(site, client, conversation)
    return [odd for tab in tabs for odd in (*tab.odd, *missing(site, conversation, tab))]


async def come_to_rest(site: Site, client: httpx.Client, conversation: str) -> None:
    async with page(site, client, conversation) as open_page:
        hello = await open_page.until("hello")
        if "turn" in hello:
            await open_page.send("turn.stop")
            await open_page.until("turn.ended")


def missing(site: Site, conversation: str, tab: Tab) -> list[str]:
    """What the rows say against what a tab was told."""
    key = conversation.replace("-", "")
    query = "SELECT t.client_id, m.id, t.status FROM chat_turn t JOIN chat_message m ON m.turn_id = t.id"
    rows = site.rows(f"{query} WHERE t.conversation_id = ? AND m.role = 'user'", key)
    odd = [f"open turn of {client_id}" for client_id, _, status in rows if status in ("queued", "running", "waiting")]
    kept = [(client_id, message) for client_id, message, _ in rows]
    odd += [f"{pair} is kept {kept.count(pair)} times" for pair in tab.acknowledged.items() if kept.count(pair) != 1]
    return odd if rows or not tab.acknowledged else ["nothing was kept"]
