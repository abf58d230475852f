"""Two processes of one site on PostgreSQL and Redis, beside one: how much more they carry, how far behind a page is.

On a machine of two cores two processes, two databases, the fake server and the client cannot all run at full speed, so
what they carry is counted in CPU seconds: the same answers, and what the busier of the two spent on them.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping

from tests.bench import load, processes, site
from tests.bench.load import Figures, Scenario, Target
from tests.bench.site import Bench
from tests.bench.stream import Answer, Stream
from tests.bench.verdicts import Line, Promise, judge

BUSY = Scenario("two processes", 60, 50, 20, rounds=2)
FOLLOWED = 10
PROMISES = (Promise("times one process", least=1.7), Promise("ms behind on the other, p95", 150), Promise("errors", 0))


def target(bench: Bench, worker: int, share: slice) -> Target:
    port, pid = bench.served[worker]
    return load.chat(port, bench.cookie, bench.paths[BUSY.model][share], pid)


def part(streams: int) -> Scenario:
    return Scenario(BUSY.name, streams, BUSY.tokens, BUSY.pace, BUSY.rounds)


async def alone(bench: Bench) -> float:
    """CPU seconds of one process for all answers."""
    before, _ = processes.cost(bench.served[0][1])
    await load.measure(target(bench, 0, slice(None)), part(BUSY.streams))
    return processes.cost(bench.served[0][1])[0] - before


async def shared(bench: Bench) -> tuple[float, list[str]]:
    """CPU seconds of the busier process where each serves half, and what failed."""
    half = BUSY.streams // 2
    before = [processes.cost(pid)[0] for _, pid in bench.served]
    parts = (target(bench, 0, slice(None, half)), target(bench, 1, slice(half, None)))
    seen: list[Figures] = await asyncio.gather(*(load.measure(one, part(half)) for one in parts))
    spent = [processes.cost(pid)[0] - start for (_, pid), start in zip(bench.served, before, strict=True)]
    return max(spent), [error for figures in seen for error in figures.errors]


async def behind(bench: Bench) -> float:
    """How many ms after it was sent a token is on a page of the other process, for 95 of 100."""
    here, there = (target(bench, worker, slice(None, FOLLOWED)) for worker in (0, 1))
    followers = [await load.connect(there, greeting) for greeting in there.greetings]
    askers = [await load.connect(here, greeting) for greeting in here.greetings]
    following = [asyncio.create_task(follow(one)) for one in followers]
    await asyncio.gather(*(one.ask(here.payload(BUSY.model), BUSY.tokens, load.PATIENCE) for one in askers))
    answers = await asyncio.gather(*following)
    for one in (*followers, *askers):
        one.transport.close()
    return load.at(sorted(latency for answer in answers for latency in answer.latencies), 0.95)


async def follow(stream: Stream) -> Answer:
    """What a page that asked for nothing sees of an answer."""
    stream.answer = answer = Answer(BUSY.tokens, time.monotonic_ns())
    await stream.until(stream.end, b"", load.PATIENCE)
    return answer


async def measured(bench: Bench) -> Mapping[str, float]:
    one = await alone(bench)
    two, errors = await shared(bench)
    for error in sorted(set(errors))[:3]:
        print(f"  error: {error}", flush=True)
    return {
        "times one process": one / two if two else 0.0,
        "ms behind on the other, p95": await behind(bench),
        "errors": float(len(errors)),
    }


def main() -> list[Line]:
    """The lines of the table; none where PostgreSQL or Redis is not installed."""
    found = site.programs()
    if found is None:
        print("Two processes were not measured: PostgreSQL or Redis is not installed here.", flush=True)
        return []
    with site.databases(found) as more, site.serving([BUSY], 2, more) as bench:
        return judge(BUSY.name, PROMISES, asyncio.run(measured(bench)))
