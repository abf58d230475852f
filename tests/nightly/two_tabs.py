"""Two pages of one chat act at random; afterwards rows and pages are compared.

python -m tests.nightly.two_tabs --runs 1000 --steps 50 [--processes 2]

Pages wait for the model most of the time, so several processes drive conversations of one site at once.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import time
from collections import Counter
from collections.abc import Coroutine
from concurrent.futures import ProcessPoolExecutor
from contextlib import AsyncExitStack, closing
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

import aiohttp
import httpx
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from tests.serving import Page, Site, new_chat, page, serving, sign_in

MODELS = ("sim-honest:latest", "sim-honest:latest", "sim-long:latest")
WORDS = (
    "Hello {}",
    'Write "{}" to notes.md',
    'Write "{}" to other.md',
    "What's in this folder? {}",
    "Tell me a long story {}",
    "😀 {}",
)
# The server lets 30 frames through in ten seconds; each step is one, and the ping after it.
STEPS_PER_SOCKET = 13
MOMENT = 0.3  # seconds
CONNECTIONS_TRIED = 5
DRIVERS = 8
# One person drives all of them; that one has to wait for another conversation is tested elsewhere.
LIMITS = {"TOOLSUPPORT_TURNS_PER_PERSON": "100"}
TABS = st.integers(0, 1)
ANY = st.integers(0, 1_000)


async def connected(stack: AsyncExitStack, *where: Any) -> Page:
    """Open a page; a busy machine gives up a handshake after a time, and a page connects again then."""
    for left in reversed(range(CONNECTIONS_TRIED)):
        try:
            return await stack.enter_async_context(page(*where))
        except aiohttp.ClientConnectionError:
            if not left:
                raise
    raise AssertionError("no connection was tried")


class Tab:
    """One page, and everything it was told on all its sockets."""

    def __init__(self, site: Site, client: httpx.Client, conversation: str) -> None:
        self.where = (site, client, conversation)
        self.acknowledged: dict[str, int] = {}
        self.texts: dict[int, str] = {}
        self.odd: list[str] = []
        self.steps = 0
        self.stack = AsyncExitStack()

    async def open(self) -> None:
        self.steps, self.stack = 0, AsyncExitStack()
        self.page = await connected(self.stack, *self.where)
        await self.page.until("hello")

    async def close(self, lost: bool = False) -> None:
        """Leave; with `lost` the connection breaks and the server is told nothing."""
        self.note()
        if lost:
            self.page.ws._response.connection.transport.abort()  # type: ignore[union-attr]
        await self.stack.aclose()

    async def act(self, kind: str, **fields: Any) -> str:
        """Send a frame, and hear everything up to the answer to a ping that follows it."""
        if self.steps == STEPS_PER_SOCKET:
            await self.close()
            await self.open()
        self.steps += 1
        client_id = await self.page.send(kind, **fields)
        await self.page.send("ping")
        await self.page.until("pong")
        return client_id

    async def listen(self) -> None:
        """Hear what comes in the next moment."""
        try:
            async with asyncio.timeout(MOMENT):
                while True:
                    await self.page.next()
        except TimeoutError:
            pass

    def known(self) -> list[int]:
        """The messages this socket has heard of."""
        return [frame["message"] for frame in self.page.of("message.started")]

    def note(self) -> None:
        """Keep what this socket was told, and whatever must not be."""
        got = self.page
        seqs = [frame["seq"] for frame in got.got if "seq" in frame]
        if seqs != sorted(set(seqs)):
            self.odd.append(f"numbers out of order: {seqs}")
        for frame in got.of("message.accepted"):
            if self.acknowledged.setdefault(frame["client_id"], frame["message"]) != frame["message"]:
                self.odd.append(f"{frame['client_id']} is two messages")
        self.odd += [str(frame) for frame in got.of("error") if frame["code"] in ("internal", "storage")]
        begun = {frame["message"] for frame in got.of("message.started") if frame["role"] == "assistant"}
        whole = {frame["message"] for frame in got.of("message.finished")}
        self.texts |= {message: got.text(message) for message in begun & whole}


class TwoTabs(RuleBasedStateMachine):
    """The acts of a person with two pages of one conversation; `teardown` holds rows and pages together."""

    done: ClassVar[Counter[str]] = Counter()

    def __init__(self, site: Site, client: httpx.Client) -> None:
        super().__init__()
        self.site, self.client = site, client
        self.loop = asyncio.new_event_loop()
        self.conversation = new_chat(client)
        self.tabs = [Tab(site, client, self.conversation) for _ in range(2)]
        self.sent: dict[str, str] = {}
        for tab in self.tabs:
            self.run(tab.open())
        self.run(self.tabs[0].act("model.select", model=MODELS[0]))

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self.loop.run_until_complete(work)

    def act(self, tab: int, kind: str, **fields: Any) -> str:
        self.done[kind] += 1
        return str(self.run(self.tabs[tab].act(kind, **fields)))

    def one_of(self, tab: int, which: int) -> int:
        """A message that this page knows of; 0 where there is none yet."""
        known = self.tabs[tab].known()
        return known[which % len(known)] if known else 0

    @rule(tab=TABS, words=st.sampled_from(WORDS))
    def send(self, tab: int, words: str) -> None:
        text = words.format(len(self.sent))
        self.sent[self.act(tab, "message.send", text=text)] = text

    @rule(tab=TABS, words=st.sampled_from(WORDS), which=ANY)
    def edit(self, tab: int, words: str, which: int) -> None:
        text, parent = words.format(f"{len(self.sent)} edited"), self.one_of(tab, which)
        self.sent[self.act(tab, "message.send", text=text, parent=parent)] = text

    @rule(tab=TABS, which=ANY)
    def send_again(self, tab: int, which: int) -> None:
        if self.sent:
            client_id = list(self.sent)[which % len(self.sent)]
            self.act(tab, "message.send", text=self.sent[client_id], client_id=client_id)

    @rule(tab=TABS)
    def listen(self, tab: int) -> None:
        self.done["listen"] += 1
        self.run(self.tabs[tab].listen())

    @rule(tab=TABS)
    def stop(self, tab: int) -> None:
        self.act(tab, "turn.stop")

    @rule(tab=TABS)
    def go_on(self, tab: int) -> None:
        self.act(tab, "turn.continue")

    @rule(tab=TABS, which=ANY, mode=st.sampled_from(("same", "without_tools")))
    def anew(self, tab: int, which: int, mode: str) -> None:
        self.act(tab, "turn.regenerate", message=self.one_of(tab, which), mode=mode)

    @rule(tab=TABS, which=ANY)
    def branch(self, tab: int, which: int) -> None:
        self.act(tab, "branch.select", message=self.one_of(tab, which))

    @rule(tab=TABS, model=st.sampled_from(MODELS))
    def swap(self, tab: int, model: str) -> None:
        self.act(tab, "model.select", model=model)

    @rule(tab=TABS, which=ANY)
    def resync(self, tab: int, which: int) -> None:
        self.act(tab, "turn.resync", message=self.one_of(tab, which))

    @rule(tab=TABS, answer=st.sampled_from(("once", "chat", "deny")), which=ANY)
    def answer(self, tab: int, answer: str, which: int) -> None:
        asked = self.tabs[tab].page.of("question.asked")
        if asked:
            self.act(tab, "question.answer", question=asked[which % len(asked)]["question"], answer=answer)

    @rule(tab=TABS, lost=st.booleans())
    def reload(self, tab: int, lost: bool) -> None:
        self.done["socket lost" if lost else "reload"] += 1
        self.run(self.tabs[tab].close(lost))
        self.run(self.tabs[tab].open())

    def teardown(self) -> None:
        """Raises AssertionError with everything that must not be."""
        try:
            for tab in self.tabs:
                self.run(tab.close())
            self.run(come_to_rest(self.site, self.client, self.conversation))
        finally:
            self.loop.close()
        self.done["runs"] += 1
        print(f"{self.done['runs']} conversations, {self.done.total()} acts", file=sys.stderr, flush=True)
        odd = [*self.tabs[0].odd, *self.tabs[1].odd, *self.missing(), *self.shown()]
        assert not odd, odd

    def missing(self) -> list[str]:
        """What the rows say against what the pages were told."""
        key = self.conversation.replace("-", "")
        turns = self.site.rows("SELECT client_id, status FROM chat_turn WHERE conversation_id = ?", key)
        query = "SELECT m.id, m.role, m.content, t.client_id FROM chat_message m"
        rows = self.site.rows(f"{query} LEFT JOIN chat_turn t ON t.id = m.turn_id WHERE m.conversation_id = ?", key)
        asked = [(client_id, message, text) for message, role, text, client_id in rows if role == "user"]
        texts = {message: text for message, _, text, _ in rows}
        odd = [f"open turn: {turn}" for turn in turns if turn[1] in ("queued", "running", "waiting")]
        for tab in self.tabs:
            for client_id, message in tab.acknowledged.items():
                self.done["acknowledged"] += 1
                if [one for one, _ in turns].count(client_id) != 1:
                    odd.append(f"{client_id} has not one turn")
                if client_id in self.sent and asked.count((client_id, message, self.sent[client_id])) != 1:
                    odd.append(f"{client_id} is not kept once as it was sent")
            for message, text in tab.texts.items():
                self.done["texts compared"] += 1
                kept = texts.get(message) or ""
                # A page at another process may get the HTML of a short answer before it follows its text.
                if kept != text and not (self.site.options and kept.startswith(text)):
                    odd.append(f"message {message}: {text!r} was shown, {texts.get(message)!r} is kept")
        return odd

    def shown(self) -> list[str]:
        """What both pages show once they are loaded again, against the branch that the rows say is shown."""
        key = self.conversation.replace("-", "")
        parents = dict(self.site.rows("SELECT id, parent_id FROM chat_message WHERE conversation_id = ?", key))
        ((leaf,),) = self.site.rows("SELECT leaf_id FROM chat_conversation WHERE id = ?", key)
        branch = []
        while leaf is not None:
            branch.append(leaf)
            leaf = parents[leaf]
        pages = [self.client.get(f"/chat/{self.conversation}/messages/").text for _ in self.tabs]
        odd = [] if pages[0] == pages[1] else ["the pages differ"]
        return odd + [f"{one} is not shown once" for one in branch if pages[0].count(f'id="message-{one}"') != 1]


async def come_to_rest(site: Site, client: httpx.Client, conversation: str) -> None:
    async with AsyncExitStack() as stack:
        open_page = await connected(stack, site, client, conversation)
        hello = await open_page.until("hello")
        # A turn may end between the first frames of a page and the row that its `hello` was read from.
        if "turn" in hello and hello["turn"] not in [frame["turn"] for frame in open_page.of("turn.ended")]:
            await open_page.send("turn.stop")
            try:
                await open_page.until("turn.ended")
            except TimeoutError as error:
                error.add_note(f"{conversation}: {open_page.got}")
                raise


def drive(site: Site, client: httpx.Client, runs: int, steps: int, first: int | None = None) -> Counter[str]:
    """So many conversations of so many steps; gives how often what was done. Raises AssertionError.

    `first` is the seed of the acts, by chance where there is none.
    """
    TwoTabs.done = Counter()
    chosen = settings(
        max_examples=runs,
        stateful_step_count=steps,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    chance = random.SystemRandom().getrandbits(32) if first is None else first
    make = seed(chance)(lambda: TwoTabs(site, client))
    try:
        run_state_machine_as_test(make, settings=chosen)  # type: ignore[arg-type]
    except AssertionError as failure:
        failure.add_note(f"seed: {chance}")
        raise
    return TwoTabs.done


def share(site: Site, runs: int, steps: int) -> Counter[str]:
    """What one process drives on a site that another one started."""
    with closing(sign_in(site)) as client:
        return drive(site, client, runs, steps)


def run(runs: int, steps: int, processes: int = 1) -> Counter[str]:
    options = ("--processes", str(processes)) if processes > 1 else ()
    with (
        TemporaryDirectory() as directory,
        serving(Path(directory), *options, **LIMITS) as site,
        ProcessPoolExecutor(DRIVERS, mp_context=get_context("spawn")) as pool,
    ):
        sign_in(site).close()  # the first one stores the password with today's cost, which ends other sign-ins
        running = replace(site, process=None)
        shares = [len(range(start, runs, DRIVERS)) for start in range(min(runs, DRIVERS))]
        found = [pool.submit(share, running, one, steps) for one in shares]
        return sum((one.result() for one in found), Counter[str]())


if __name__ == "__main__":
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--runs", type=int, default=1000)
    given.add_argument("--steps", type=int, default=50)
    given.add_argument("--processes", type=int, default=1)
    wanted = given.parse_args()
    began = time.monotonic()
    print(dict(run(wanted.runs, wanted.steps, wanted.processes)), f"{time.monotonic() - began:.0f} s")
