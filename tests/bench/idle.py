"""Many open pages on which nothing happens: what each costs, and whether answers still come beside them."""

from __future__ import annotations

import asyncio
import resource
from itertools import cycle, islice

from tests.bench import load, processes
from tests.bench.load import Scenario, Target
from tests.bench.site import Bench
from tests.bench.verdicts import Line, Promise, judge

OPEN = 2000
BESIDE = Scenario("2,000 idle pages", 50, 50, 20, rounds=1)
AT_ONCE = 50
PROMISES = (Promise("KiB a page", 64), Promise("errors beside 50 answers", 0), Promise("added token p95", 60))


async def crowd(target: Target) -> list[asyncio.Transport]:
    """Open all pages, some at a time."""
    room = asyncio.Semaphore(AT_ONCE)

    async def one(greeting: tuple[bytes, bytes]) -> asyncio.Transport:
        async with room:
            return (await load.connect(target, greeting)).transport

    return await asyncio.gather(*(one(greeting) for greeting in islice(cycle(target.greetings), OPEN)))


async def measured(bench: Bench) -> list[Line]:
    port, pid = bench.served[0]
    paths = bench.paths[BESIDE.model]
    plain = await load.measure(load.direct(bench.upstream), BESIDE)
    _, before = processes.cost(pid)
    # Nobody writes in the conversations that the crowd looks at.
    open_pages = await crowd(load.chat(port, bench.cookie, paths[BESIDE.streams :], pid))
    _, after = processes.cost(pid)
    seen = await load.measure(load.chat(port, bench.cookie, paths[: BESIDE.streams], pid), BESIDE)
    lost = sum(transport.is_closing() for transport in open_pages)
    for transport in open_pages:
        transport.close()
    figures = {
        "KiB a page": (after - before) * 1024 / OPEN,
        "errors beside 50 answers": float(len(seen.errors) + lost),
        "added token p95": seen.token_95 - plain.token_95,
    }
    return judge(BESIDE.name, PROMISES, figures)


def main(bench: Bench) -> list[Line]:
    """The lines of the table; the limit of open files is raised as far as it may be."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    return asyncio.run(measured(bench))
