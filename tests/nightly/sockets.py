"""Five hundred pages of one person at once: the limit works, and others notice nothing."""

from __future__ import annotations

import argparse
import asyncio
import time
from collections import Counter
from contextlib import AsyncExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx

from tests.many_users import Person, browser, crowd
from tests.serving import Page, Site, new_chat, page, serving, sign_in

AT_ONCE = 50  # handshakes on their way


@dataclass(frozen=True)
class Rush:
    """How many pages were kept and refused, by what they heard; seconds of an answer of others before and during."""

    received: Counter[str]
    alone: float
    beside: float


async def rush(site: Site, client: httpx.Client, other: Person, times: int) -> Rush:
    conversation, busy = new_chat(client), asyncio.Semaphore(AT_ONCE)
    async with AsyncExitStack() as stack:
        others = stack.enter_context(closing(browser(site, other)))
        theirs = await stack.enter_async_context(page(site, others, other["conversation"]))
        await theirs.send("model.select", model="sim-honest:latest")
        await theirs.until("notice", code="switched")
        alone = await answered(theirs)

        async def one() -> str:
            async with busy:
                open_page = await stack.enter_async_context(page(site, client, conversation))
                return await heard_first(open_page)

        opening = [asyncio.create_task(one()) for _ in range(times)]
        beside = await answered(theirs)
        received = Counter(await asyncio.gather(*opening))
        return Rush(received, alone, max(beside, await answered(theirs)))


async def heard_first(open_page: Page) -> str:
    frame = await open_page.next()
    return str(frame.get("code", frame["type"]))


async def answered(theirs: Page) -> float:
    """Seconds that an answer with a tool takes."""
    began = time.monotonic()
    await theirs.send("message.send", text="What's in this folder?")
    assert (await theirs.until("turn.ended"))["reason"] == "done"
    return time.monotonic() - began


def run(times: int) -> Rush:
    with TemporaryDirectory() as directory, serving(Path(directory)) as site, closing(sign_in(site)) as client:
        return asyncio.run(rush(site, client, crowd(site, 1)[0], times))


if __name__ == "__main__":
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--times", type=int, default=500)
    found = run(given.parse_args().times)
    print(f"{dict(found.received)}; an answer of others took {found.alone:.2f} s alone, {found.beside:.2f} s beside")
