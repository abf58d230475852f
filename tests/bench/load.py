"""Asks many streams at once and sums up what came when."""

from __future__ import annotations

import asyncio
import random
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import cycle, islice, repeat

from tests.bench import processes, wire
from tests.bench.stream import Answer, Stream

PATIENCE = 120.0  # seconds for one answer
SPREAD = 1.0  # seconds over which paced streams begin
SETTLED = 0.3  # seconds after which a round has left nothing to do


@dataclass(frozen=True)
class Caller:
    """One stream: `payload` is the next question on it, `greeting` the first bytes and the answer to wait for."""

    payload: Callable[[str], bytes]
    greeting: tuple[bytes, bytes] | None = None


@dataclass(frozen=True)
class Target:
    """Who is asked, and by whom; `end` is in the last bytes of an answer."""

    port: int
    end: bytes
    callers: Sequence[Caller]
    pid: int = 0


@dataclass(frozen=True)
class Scenario:
    """`streams` at once, each with `rounds` answers of `tokens`, one token every `pace` ms; all of it `times` times.

    Its name is in that of its model, so no two scenarios share one.
    """

    name: str
    streams: int
    tokens: int
    pace: int
    rounds: int = 2
    times: int = 1

    @property
    def model(self) -> str:
        return f"fake-{self.name.replace(' ', '-')}-n{self.tokens}-d{self.pace}"

    @property
    def chats(self) -> int:
        """How many conversations it needs."""
        return self.streams * self.times


@dataclass
class Figures:
    """What one round showed: `firsts` and `latencies` in ns, `seconds` from the first question to the last token.

    `spent` is in seconds of the processor, `memory` in MiB.
    """

    firsts: list[int] = field(default_factory=list)
    latencies: list[int] = field(default_factory=list)
    seconds: float = 0.0
    spent: float = 0.0
    memory: float = 0.0
    errors: list[str] = field(default_factory=list)

    @property
    def rate(self) -> float:
        return len(self.latencies) / self.seconds if self.seconds else 0.0

    @property
    def cpu(self) -> float:
        """CPU seconds for 100,000 tokens."""
        return self.spent / max(1, len(self.latencies)) * 1e5


def summed(rounds: Sequence[Figures]) -> Figures:
    """Several rounds as one."""
    whole = Figures()
    for each in rounds:
        whole.firsts += each.firsts
        whole.latencies += each.latencies
        whole.errors += each.errors
        whole.seconds += each.seconds
        whole.spent += each.spent
        whole.memory = max(whole.memory, each.memory)
    return whole


def direct(port: int) -> Target:
    """The fake model server itself."""
    host = f"127.0.0.1:{port}"
    question = [{"role": "user", "content": "hello"}]
    asked = Caller(lambda model: wire.post(host, "/api/chat", {"model": model, "messages": question}))
    return Target(port, b'"done": true', [asked])


def relay(port: int, pid: int) -> Target:
    """The least that a relay can do."""
    greeting = wire.upgrade(f"127.0.0.1:{port}", "/", "a=b"), b'"type":"hello"'
    return Target(port, b'"type":"turn.ended"', [Caller(lambda model: wire.frame({"model": model}), greeting)], pid)


def chat(port: int, pages: Sequence[Sequence[str]], pid: int) -> Target:
    """Our server: each stream is a page (path, cookie) of a conversation of its own, asking by `message.send`."""
    host = f"127.0.0.1:{port}"

    def payload(_: str) -> bytes:
        return wire.frame({"type": "message.send", "client_id": str(uuid.uuid4()), "text": "hello"})

    callers = [Caller(payload, (wire.upgrade(host, path, cookie), b'"type":"hello"')) for path, cookie in pages]
    return Target(port, b'"type":"turn.ended"', callers, pid)


async def connect(target: Target, caller: Caller) -> Stream:
    loop = asyncio.get_running_loop()
    _, stream = await loop.create_connection(lambda: Stream(target.end), "127.0.0.1", target.port)
    if caller.greeting:
        await stream.until(caller.greeting[1], caller.greeting[0], PATIENCE)
    return stream


async def one(stream: Stream, caller: Caller, scenario: Scenario, start: float) -> Answer:
    """One answer that begins after `start` seconds."""
    await asyncio.sleep(start)
    return await stream.ask(caller.payload(scenario.model), scenario.tokens, PATIENCE)


def starts(scenario: Scenario, turn: int) -> list[float]:
    """Seconds after which each stream begins: the same for every target, so that their rates differ by nothing else."""
    drawn = random.Random(turn)
    return [drawn.random() * SPREAD if scenario.pace else 0.0 for _ in range(scenario.streams)]


async def measure(target: Target, scenario: Scenario, time: int = 0) -> list[Figures]:
    """Open all connections; then a round of answers after the other. A stream that fails is counted, not hidden.

    `time` counts the calls for one target.
    """
    callers = list(islice(cycle(target.callers), scenario.streams))
    streams = [await connect(target, caller) for caller in callers]
    found = []
    for turn in range(scenario.rounds):
        begins = starts(scenario, time * scenario.rounds + turn)
        await asyncio.sleep(SETTLED)
        before, _ = processes.cost(target.pid)
        asked = [one(*each) for each in zip(streams, callers, repeat(scenario), begins, strict=False)]
        results = await asyncio.gather(*asked, return_exceptions=True)
        await asyncio.sleep(SETTLED)
        after, memory = processes.cost(target.pid)
        figures = sum_up([result for result in results if isinstance(result, Answer)])
        lost = [result for result in results if isinstance(result, BaseException)]
        figures.errors = [f"{type(error).__name__}: {error}"[:300] for error in lost]
        figures.spent, figures.memory = after - before, memory
        found.append(figures)
    for stream in streams:
        stream.transport.close()
    return found


def sum_up(answers: Sequence[Answer]) -> Figures:
    if not answers:
        return Figures()
    latencies = [latency for answer in answers for latency in answer.latencies]
    wall = (max(answer.last for answer in answers) - min(answer.asked for answer in answers)) / 1e9
    return Figures([answer.first - answer.asked for answer in answers], latencies, wall)


def at(times: Sequence[int], share: float) -> float:
    """A percentile in ms of times in ns."""
    ordered = sorted(times)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] / 1e6 if ordered else 0.0
