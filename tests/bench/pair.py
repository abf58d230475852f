"""Two processes of one site on PostgreSQL and Redis, beside one: how much more they carry, how far behind a page is.

On a machine of two cores two processes, two databases, the fake server and the client cannot all run at full speed, so
what they carry is counted in CPU seconds: the same answers, and what the busier of the two spent on them.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

from tests.bench import load, site
from tests.bench.load import Figures, Scenario, Target
from tests.bench.site import Bench
from tests.bench.stream import Answer, Stream
from tests.bench.verdicts import Line, Promise, judge

# Half of them, in one of two processes, still have the longest pause between reads (`read_coalescing`). With fewer,
# one process reads more at once than each of two, and its answers cost less for that reason alone.
BUSY = Scenario("pair", 224, 50, 20, times=4)
FOLLOWED = 10
PROMISES = (Promise("times one process", least=1.9), Promise("ms behind on the other, p95", 60), Promise("errors", 0))


def target(bench: Bench, worker: int, share: slice, time: int = 0) -> Target:
    port, pid = bench.served[worker]
    return load.chat(port, bench.pages(BUSY, time)[share], pid)


async def alone(bench: Bench) -> float:
    """CPU seconds of one process for all answers."""
    return load.summed(await load.measure(target(bench, 0, slice(None)), BUSY)).spent


async def shared(bench: Bench) -> Sequence[Figures]:
    """What each of two processes showed where it served half of the answers."""
    half = BUSY.streams // 2
    parts = (target(bench, 0, slice(None, half), 1), target(bench, 1, slice(half, None), 1))
    scenario = replace(BUSY, streams=half)
    rounds = (load.measure(one, scenario, worker) for worker, one in enumerate(parts))
    return [load.summed(each) for each in await asyncio.gather(*rounds)]


async def behind(bench: Bench) -> float:
    """How many ms after it was sent a token is on a page of the other process, for 95 of 100."""
    here, there = (target(bench, worker, slice(None, FOLLOWED)) for worker in (0, 1))
    followers = [await load.connect(there, caller) for caller in there.callers]
    askers = [await load.connect(here, caller) for caller in here.callers]
    following = [asyncio.create_task(follow(one)) for one in followers]
    payload = here.callers[0].payload
    await asyncio.gather(*(one.ask(payload(BUSY.model), BUSY.tokens, load.PATIENCE) for one in askers))
    answers = await asyncio.gather(*following)
    for one in (*followers, *askers):
        one.transport.close()
    return load.at([latency for answer in answers for latency in answer.latencies], 0.95)


async def follow(stream: Stream) -> Answer:
    """What a page that asked for nothing sees of an answer."""
    stream.answer = answer = Answer(BUSY.tokens, time.monotonic_ns())
    await stream.until(stream.end, b"", load.PATIENCE)
    return answer


async def measured(bench: Bench) -> Mapping[str, float]:
    one, halves = await alone(bench), await shared(bench)
    two = max(half.spent for half in halves)
    errors = [error for half in halves for error in half.errors]
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
        return judge("two processes", PROMISES, asyncio.run(measured(bench)))
