"""Chats over websockets whose model is changed at any moment, between servers that enforce schemas and that do not.

python -m tests.forced.chat_campaign --chats 300 --first 1000
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import httpx
import jsonschema_rs

from chat.statuses import CallStatus
from chat.tools import BUILTINS
from tests import databases
from tests.forced import moody_server
from tests.forced.moody_server import KINDS, MODELS, MOODS, MoodyServer
from tests.serving import Page, Site, new_chat, page, prepare, sign_in

STEPS = 6
AT_ONCE = 4
QUESTIONS = ("Do something.", "What's in this folder?", "Go on.", "Write a note.")
# Marks of a call; what an enforcing server sent is never shown with one.
CALL_MARKS = re.compile(r'\{"(?:tool|calls|answer)"\s*:|<tool_call>|"arguments"\s*:')
ROWS = """
import json
from django.contrib.auth.models import User
from toolsupport.models import ModelProfile, Server
from toolsupport.registry.knowledge import overrides
from toolsupport.registry.knowledge.overrides import NewOverride
KNOWN = {
    "native": {"tools": True, "constrains": "enforced"},
    "native-whole": {"tools": True, "constrains": "enforced", "streaming": False},
    "untested": {"tools": True},
    "text": {"tools": False, "format": "hermes", "constrains": "enforced"},
    "forced": {"tools": False, "format": "forced_json", "constrains": "enforced"},
    "toolless": {"tools": False, "format": False, "constrains": "enforced"},
}
person = User.objects.get(username="ana")
for kind in %(kinds)r:
    for mood in %(moods)r:
        server = Server.objects.create(
            name=f"{kind}-{mood}", kind=kind, base_url=f"http://127.0.0.1:%(port)s/{kind}/{mood}", reachable=True
        )
        for name in %(models)r:
            known, _, required = name.partition("-required")
            profile = ModelProfile.objects.create(server=server, name=name, digest=name)
            if name.endswith("-required"):
                profile.options = {"tool_choice": "required"}
                profile.save()
            for capability, value in KNOWN[known].items():
                if mood in ("enforces", "refuses") or capability != "constrains":
                    overrides.add(NewOverride(profile.pk, capability, value, actor=person.pk, reason="For this."))
                else:
                    overrides.measure(NewOverride(profile.pk, capability, value, "auto_detected", reason="Tested."))
"""


@dataclass
class ChatTally:
    """What happened: ends of turns by mood, calls by status, and what is `wrong`."""

    ends: Counter[tuple[str, str]] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    acts: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    calls: Counter[str] = field(default_factory=Counter)
    notices: Counter[str] = field(default_factory=Counter)
    shown: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


class Visitor:
    """A person who changes the model, branches, answers late or never, and stops."""

    def __init__(self, open_page: Page, chance: Random, tally: ChatTally) -> None:
        self.page, self.chance, self.tally = open_page, chance, tally
        self.sent: list[int] = []

    async def choose(self) -> None:
        kind, mood, name = self.chance.choice(KINDS), self.chance.choice(MOODS), self.chance.choice(MODELS)
        await self.page.send("model.select", model=f"{kind}-{mood}/{name}")

    async def hear(self) -> dict[str, Any]:
        """The next frame that ends a wait: a question, an end, an error."""
        while True:
            frame = await self.page.next()
            if frame["type"] == "error":
                self.tally.errors[frame["code"]] += 1
            if frame["type"] in ("error", "turn.ended", "turn.waiting", "pong"):
                return frame

    async def ended(self) -> None:
        """Wait for the end of the turn; answer its questions, some of them after another model was chosen."""
        stopping = self.chance.random() < 0.05
        if stopping:
            await self.page.send("turn.stop")
        while True:
            frame = await self.hear()
            if frame["type"] in ("error", "turn.ended"):
                return
            if frame["type"] == "turn.waiting":
                if self.chance.random() < 0.4:
                    self.tally.acts["a model chosen while a call waits"] += 1
                    await self.choose()
                if self.chance.random() < 0.15:
                    self.tally.acts["a question left open"] += 1
                    return
                answer = self.chance.choice(("once", "once", "deny", "chat"))
                await self.page.send("question.answer", question=frame["question"], answer=answer)

    async def act(self) -> None:
        way = self.chance.random()
        if way < 0.35 or not self.sent:
            await self.choose()
        answers = [frame["message"] for frame in self.page.of("message.finished")]
        if answers and way > 0.8:
            self.tally.acts["another answer"] += 1
            name = f"{self.chance.choice(KINDS)}-{self.chance.choice(MOODS)}/{self.chance.choice(MODELS)}"
            more = {"model": name} if way > 0.9 else {"mode": self.chance.choice(("same", "text", "without_tools"))}
            await self.page.send("turn.regenerate", message=self.chance.choice(answers), **more)
        else:
            branch = {"parent": self.chance.choice(self.sent)} if self.sent and way > 0.65 else {}
            self.tally.acts["a branch" if branch else "a message"] += 1
            await self.page.send("message.send", text=self.chance.choice(QUESTIONS), **branch)
        await self.ended()
        self.sent = [frame["message"] for frame in self.page.of("message.accepted")]


@asynccontextmanager
async def site_of(server: MoodyServer, directory: Path) -> AsyncIterator[tuple[Site, httpx.Client]]:
    chosen = {"TOOLSUPPORT_SIMULATOR": "off", "TOOLSUPPORT_TURNS_PER_PERSON": "100"}
    with databases.for_site(chosen) as database:
        site = Site(directory, {**database, **chosen}, forked=True)
        await asyncio.to_thread(prepare, site)
        await asyncio.to_thread(site.start)
        try:
            with closing(await asyncio.to_thread(sign_in, site)) as client:
                values = {"kinds": KINDS, "moods": MOODS, "models": MODELS, "port": server.port}
                await asyncio.to_thread(site.manage, "shell", "-c", ROWS % values)
                yield site, client
        finally:
            await asyncio.to_thread(site.kill, 15)


async def visit(site: Site, client: httpx.Client, number: int, tally: ChatTally) -> None:
    conversation = await asyncio.to_thread(new_chat, client)
    async with page(site, client, conversation) as open_page:
        await open_page.until("hello")
        visitor = Visitor(open_page, Random(f"visit {number}"), tally)
        for _ in range(STEPS):
            await visitor.act()
        tally.notices.update(frame["code"] for frame in open_page.of("notice"))


OF_MODEL = """JOIN chat_turn AS turn ON turn.id = {table}.turn_id
    JOIN toolsupport_modelprofile AS profile ON profile.id = turn.profile_id
    JOIN toolsupport_server AS server ON server.id = profile.server_id"""


def judge(site: Site, tally: ChatTally) -> None:
    """Compare all rows with what may be in them."""
    judge_calls(site, tally)
    judge_texts(site, tally)
    judge_turns(site, tally)


def judge_calls(site: Site, tally: ChatTally) -> None:
    fields = "run.name, run.arguments, run.status, run.format, server.name, profile.name"
    for name, arguments, status, format_, server, model in site.rows(
        f"SELECT {fields} FROM chat_toolrun AS run {OF_MODEL.format(table='run')}"
    ):
        tally.calls[f"{status} {format_}"] += 1
        given = arguments if isinstance(arguments, dict) else json.loads(arguments)
        tool = BUILTINS.get(name)
        fits = tool is not None and jsonschema_rs.is_valid(tool.spec.parameters, given)
        if status != CallStatus.REJECTED and not fits:
            tally.wrong.append(f"{server}/{model} {status} {format_}: {name} {json.dumps(given)[:300]}")


def judge_texts(site: Site, tally: ChatTally) -> None:
    for content, server, model, format_ in site.rows(
        "SELECT message.content, server.name, profile.name, turn.format FROM chat_message AS message"
        f" {OF_MODEL.format(table='message')} WHERE message.role = 'assistant'"
    ):
        if CALL_MARKS.search(content):
            tally.shown.append(f"{server}/{model} {format_}: {content[:160]!r}")
            if server.endswith("-enforces") and format_ == "forced_json":
                tally.wrong.append(f"shown: {tally.shown[-1]}")


def judge_turns(site: Site, tally: ChatTally) -> None:
    usable = "(SELECT count(*) FROM chat_toolrun AS run WHERE run.turn_id = one.id AND run.status != 'rejected')"
    for turn, status, reason, format_, server, model, count in site.rows(
        f"SELECT one.id, one.status, one.reason, one.format, server.name, profile.name, {usable} FROM chat_turn AS one"
        " JOIN toolsupport_modelprofile AS profile ON profile.id = one.profile_id"
        " JOIN toolsupport_server AS server ON server.id = profile.server_id"
    ):
        tally.ends[server.partition("-")[2], status] += 1
        if status == "failed":
            tally.failures[f"{server}/{model}: {reason[:200]}"] += 1
        required = model.endswith("-required") and server.endswith("-enforces") and format_
        if status == "done" and required and not count:
            tally.wrong.append(f"turn {turn} of {server}/{model} {format_}: no call was made, and one was required")


async def campaign(chats: int, first: int = 0) -> tuple[ChatTally, MoodyServer]:
    tally, waiting = ChatTally(), iter(range(first, first + chats))
    with TemporaryDirectory() as directory:
        async with moody_server.running() as server, site_of(server, Path(directory)) as (site, client):

            async def one_after_the_other() -> None:
                for number in waiting:
                    await visit(site, client, number, tally)

            await asyncio.gather(*(one_after_the_other() for _ in range(AT_ONCE)))
            await asyncio.to_thread(judge, site, tally)
            log = (site.directory / "serve.log").read_text()
            tally.wrong += [line for line in log.splitlines() if "Traceback" in line]
            if tally.wrong:
                print(log[-6000:])
    tally.wrong += server.wrong
    return tally, server


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--chats", type=int, default=100)
    arguments.add_argument("--first", type=int, default=0)
    options = arguments.parse_args()
    tally, server = asyncio.run(campaign(options.chats, options.first))
    for title, found in vars(tally).items():
        if isinstance(found, Counter):
            print(f"{title}: {found.most_common(40)}")
    print(f"requests: {server.number}, {Counter(what for _, _, what in server.asked.elements())}")
    print(f"{len(tally.shown)} texts with marks of a call", *tally.shown[:20], sep="\n")
    print(f"{len(tally.wrong)} wrong", *tally.wrong[:40], sep="\n")


if __name__ == "__main__":
    main()
