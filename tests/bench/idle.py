"""Many open idle pages: the cost of each, and whether answers still arrive beside them."""

from __future__ import annotations

import asyncio
import resource
from itertools import cycle, islice

from tests.bench import load, processes
from tests.bench.load import Caller, Scenario, Target
from tests.bench.site import Bench
from tests.bench.verdicts import Line, Promise, judge

OPEN = 2000
BESIDE = Scenario("idle", 50, 50, 20, rounds=1, times=2)
AT_ONCE = 50
PROMISES = (Promise("KiB a page", 64), Promise("errors beside 50 answers", 0), Promise("added token p95", 60))


async def crowd(target: Target) -> list[asyncio.Transport]:
    """Open all pages, some at a time."""
    room = asyncio.Semaphore(AT_ONCE)

    async def one(caller: Caller) -> asyncio.Transport:
        async with room:
            return (await load.connect(target, caller)).transport

    return await asyncio.gather(*(one(caller) for caller in islice(cycle(target.callers), OPEN)))


async def measured(bench: Bench) -> list[Line]:
    port, pid = bench.served[0]
    (plain,) = await load.measure(load.direct(bench.upstream), BESIDE)
    _, before = processes.cost(pid)
    # Nobody writes in the conversations that the crowd looks at.
    open_pages = await crowd(load.chat(port, bench.pages(BESIDE, 1), pid))
    _, after = processes.cost(pid)
    (seen,) = await load.measure(load.chat(port, bench.pages(BESIDE), pid), BESIDE)
    lost = sum(transport.is_closing() for transport in open_pages)
    for transport in open_pages:
        transport.close()
    figures = {
        "KiB a page": (after - before) * 1024 / OPEN,
        "errors beside 50 answers": float(len(seen.errors) + lost),
        "added token p95": load.at(seen.latencies, 0.95) - load.at(plain.latencies, 0.95),
    }
    return judge("2,000 idle pages", PROMISES, figures)


def main(bench: Bench) -> list[Line]:
    """The lines of the table; the limit of open files is raised as far as it may be."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    return asyncio.run(measured(bench))
