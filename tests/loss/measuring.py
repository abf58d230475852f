"""Asks for many answers at once, and counts the calls that are lost, changed or added on the way."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp

from tests.loss import gold
from tests.loss.programs import APIS
from tests.loss.upstream import Upstream, question, running
from tests.serving import ADMIN, Site, serving

AT_ONCE = 16
KNOWN = """
from toolsupport.models import ModelProfile
from toolsupport.registry.knowledge import overrides
for profile in ModelProfile.objects.all():
    native = profile.name == "native"
    overrides.add(overrides.NewOverride(profile.pk, "tools", native, reason="For this test."))
    if not native:
        overrides.add(overrides.NewOverride(profile.pk, "format", profile.name, reason="For this test."))
"""


@dataclass(frozen=True)
class Case:
    """One answer: the calls of a seed in a format, cut at a place, asked for through an API."""

    format: str
    seed: int
    cut: int
    api: str


@dataclass
class Tally:
    """`calls` were written, `lost` of them did not arrive, `added` arrived that nobody wrote.

    `moved` answers had their calls in another order, `again` were asked twice.
    """

    answers: int = 0
    calls: int = 0
    lost: int = 0
    added: int = 0
    moved: int = 0
    again: int = 0
    examples: list[str] = field(default_factory=list)


def written(call: tuple[str, Any]) -> str:
    """The call as text that is the same for the same JSON: 5.0 is 5 there, and the order of names means nothing."""
    return json.dumps([call[0], _plain(call[1])], sort_keys=True)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


@dataclass
class Gateway:
    """A site in front of the scripted server, and an open session with a key."""

    upstream: Upstream
    session: aiohttp.ClientSession

    async def ask(self, case: Case, tally: Tally) -> None:
        task = gold.task(case.seed, case.format)
        wanted = task.calls
        found = await APIS[case.api](self.session, f"loss/{case.format}", question(case.seed, case.cut), task.tools)
        here, expected = ([written(one) for one in calls] for calls in (found, wanted))
        lost, added = Counter(expected), Counter(here)
        tally.answers += 1
        tally.calls += len(wanted)
        tally.lost += (missing := (lost - added).total())
        tally.added += (more := (added - lost).total())
        tally.moved += (moved := not missing and not more and here != expected)
        if missing or more or moved:
            tally.examples.append(f"{task.name} {case}: wrote {wanted}, read {found}")


@asynccontextmanager
async def gateway(folder: Path) -> AsyncIterator[Gateway]:
    async with running() as upstream:
        server = f"loss=openai+http://127.0.0.1:{upstream.port}"
        chosen = {"TOOLSUPPORT_SERVERS": server, "TOOLSUPPORT_SIMULATOR": "off", "TOOLSUPPORT_KEY_REQUESTS": "10000000"}
        with serving(folder, **chosen) as site:
            key = await asyncio.to_thread(prepared, site)
            headers, patience = {"Authorization": f"Bearer {key}"}, aiohttp.ClientTimeout(total=300)
            async with aiohttp.ClientSession(site.url, headers=headers, timeout=patience) as session:
                yield Gateway(upstream, session)


def prepared(site: Site) -> str:
    """Make a key, once the models have the formats that they write."""
    site.manage("refresh_models")
    site.manage("shell", "--no-imports", "-c", KNOWN)
    return site.manage("create_api_key", ADMIN[0]).strip()


async def measured(asked: Gateway, cases: Iterable[Case], seconds: float = 600) -> dict[str, Tally]:
    """The counts by format, of the cases that fit into the time."""
    tallies: dict[str, Tally] = {}
    clock = asyncio.get_running_loop()
    end = clock.time() + seconds
    left = itertools.takewhile(lambda _: clock.time() < end, cases)

    async def work() -> None:
        for case in left:
            await asked.ask(case, tallies.setdefault(case.format, Tally()))

    asked.upstream.asked.clear()
    async with asyncio.TaskGroup() as group:
        for _ in range(AT_ONCE):
            group.create_task(work())
    for (format, _, _), times in asked.upstream.asked.items():
        tallies[format].again += times > 1
    return tallies
