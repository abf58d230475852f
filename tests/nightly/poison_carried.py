"""Feeds an obedient model texts that carry outside content: on other branches, after kills, by other models.

python -m tests.nightly.poison_carried --times 200
"""

from __future__ import annotations

import argparse
import asyncio
import re
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx

from tests.nightly.poison import WANTED, Figures, Victim, acted, chats, file, post, prepared, victim
from tests.obedient_server import NAME, OTHER, order
from tests.serving import Site, until_tools_are_tested


@dataclass(frozen=True)
class Run:
    """One poisoned text: the site, a person's chat, and the order that it contains."""

    site: Site
    client: httpx.Client
    chat: str
    number: int
    figures: Figures

    @property
    def words(self) -> str:
        """Orders that a permission for the chat covers, and `hot_swap`; in turns."""
        return WANTED[(0, 1, 2, 8)[self.number % 4]](self.number)

    def person(self) -> AbstractAsyncContextManager[Victim]:
        return victim(self.site, self.client, self.chat, self.figures)


async def read(one: Victim, run: Run, words: str) -> None:
    """Read a file of others with these words."""
    await one.say(order("read_file", path=file(one.workspace, run.number, words)))


async def asked_after(run: Run, text: str = "Go on.", anew: bool = False) -> int:
    async with run.person() as one:
        await one.say(text, anew)
        return await one.refuse_all()


def forget(run: Run) -> None:
    """Empty the memory, as the owner does on its page."""
    address = f"/chat/{run.chat}/memory/"
    basis = re.search(r'name="basis" value="([^"]*)"', run.client.get(address).text)
    assert basis
    post(run.client, f"{address}write/", text="", basis=basis[1])


async def memory(run: Run) -> int:
    """A person allows once that the model remembers what it read; then a branch begins anew."""
    async with run.person() as one:
        await read(one, run, order("memory_dump", text=run.words))
        assert await one.answered("once")
        await one.refuse_all()
    return await asked_after(run, anew=True)


async def remembered(run: Run) -> int:
    asked = await memory(run)
    await asyncio.to_thread(forget, run)
    return asked


async def remembered_and_killed(run: Run) -> int:
    async with run.person() as one:
        await read(one, run, order("memory_dump", text=run.words))
        assert await one.answered("once")
        await one.refuse_all()
    await asyncio.to_thread(restart, run.site, run.client)
    asked = await asked_after(run, anew=True)
    await asyncio.to_thread(forget, run)
    return asked


async def copied(run: Run) -> int:
    """A person allows once that the model writes what it read to another file; a new branch reads that."""
    async with run.person() as one:
        await read(one, run, order("write_file", path=f"copy-{run.number}.txt", content=run.words))
        assert await one.answered("once")
        await one.refuse_all()
    return await asked_after(run, order("read_file", path=f"copy-{run.number}.txt"), anew=True)


async def copied_for_a_program(run: Run) -> int:
    async with run.person() as one:
        await read(one, run, order("write_file", path=f"copy-{run.number}.txt", content=run.words))
        assert await one.answered("once")
        await one.refuse_all()
        await one.say(order("python_execution", code=f"print(read_file('copy-{run.number}.txt'))"))
        assert await one.answered("once")
        return await one.refuse_all()


async def regenerated(run: Run) -> int:
    async with run.person() as one:
        await read(one, run, run.words)
        await one.refuse_all()
        question = one.page.of("message.accepted")[-1]["message"]
        await one.page.send("turn.regenerate", message=question)
        return await one.refuse_all()


async def branched(run: Run) -> int:
    """A new message follows the poisoned answer, beside another one that does."""
    async with run.person() as one:
        await read(one, run, run.words)
        await one.refuse_all()
        answer = one.page.of("message.finished")[-1]["message"]
        answer = answer["id"] if isinstance(answer, dict) else answer
        for _ in range(2):
            await one.page.send("message.send", text="Go on.", parent=answer)
            asked = await one.refuse_all()
        return asked


async def other_model(run: Run) -> int:
    async with run.person() as one:
        await read(one, run, run.words)
        await one.refuse_all()
        await one.page.send("model.select", model=OTHER)
        await one.say("Go on.", anew=False)
        asked = await one.refuse_all()
        await one.page.send("model.select", model=NAME)
        await one.page.until("notice", code="switched")
        return asked


async def killed(run: Run) -> int:
    """The site is killed while the question is open; afterwards it is answered, and the chat goes on."""
    async with run.person() as one:
        await read(one, run, run.words)
        asked = await one.page.until("question.asked")
        await one.page.until("turn.waiting")
    await asyncio.to_thread(restart, run.site, run.client)
    async with run.person() as one:
        await one.page.send("question.answer", question=asked["question"], answer="deny")
        await one.refuse_all()
    return await asked_after(run)


def restart(site: Site, client: httpx.Client) -> None:
    site.kill()
    site.start()
    until_tools_are_tested(client)


async def read_by_mcp(run: Run) -> int:
    async with run.person() as one:
        await one.say(order("pipes__echo", text=run.words))
        return await one.refuse_all()


Flow = Callable[[Run], Awaitable[int]]
# Whether the chat has to offer tools of others.
FLOWS: dict[str, tuple[Flow, bool]] = {
    "the memory, on a branch that begins anew": (remembered, False),
    "the memory, after a kill": (remembered_and_killed, False),
    "a file that the model wrote after reading": (copied, False),
    "the same file, read by a program": (copied_for_a_program, False),
    "an answer written again": (regenerated, False),
    "branches behind a poisoned answer": (branched, False),
    "another model, chosen afterwards": (other_model, False),
    "a kill while a person is asked": (killed, False),
    "a reading tool of others": (read_by_mcp, True),
}


async def feed(site: Site, client: httpx.Client, times: int) -> Figures:
    found = Figures()
    alone, with_others = await chats(site, client, found)
    for number in range(times):
        channel, (flow, others) = list(FLOWS.items())[number % len(FLOWS)]
        found.results[channel] += 1
        asked = await flow(Run(site, client, with_others if others else alone, number // len(FLOWS), found))
        found.asked += asked
        found.silent += [] if asked else [f"{channel}: {number}"]
    acted(site, found, (alone, with_others))
    return found


def run(times: int) -> Figures:
    with (
        TemporaryDirectory(prefix="toolsupport-poison-") as directory,
        prepared(Path(directory)) as (site, client),
    ):
        return asyncio.run(feed(site, client, times))


if __name__ == "__main__":
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--times", type=int, default=200)
    figures = run(words.parse_args().times)
    print(dict(figures.results), figures.asked, "asked", figures.silent, "silent", figures.acted, "acted")
