"""Asks many streams at once and sums up what came when."""

from __future__ import annotations

import asyncio
import random
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import cycle

from tests.bench import processes, wire
from tests.bench.stream import Answer, Stream

PATIENCE = 120.0  # seconds for one answer
SPREAD = 1.0  # seconds over which paced streams begin


@dataclass(frozen=True)
class Target:
    """Who is asked: `open` readies a connection, `payload` is the next question on it."""

    port: int
    end: bytes
    payload: Callable[[str], bytes]
    greetings: Sequence[tuple[bytes, bytes]] = ()
    pid: int = 0


@dataclass(frozen=True)
class Scenario:
    """`streams` at once, each with `rounds` answers of `tokens`, one token every `pace` ms."""

    name: str
    streams: int
    tokens: int
    pace: int
    rounds: int

    @property
    def model(self) -> str:
        return f"fake-n{self.tokens}-d{self.pace}"


@dataclass
class Figures:
    """What one run showed: times in ms, `cpu` in seconds for 100,000 tokens, `memory` in MiB."""

    tokens: int = 0
    rate: float = 0.0
    first: float = 0.0
    token: float = 0.0
    token_95: float = 0.0
    cpu: float = 0.0
    memory: float = 0.0
    errors: list[str] = field(default_factory=list)


def direct(port: int) -> Target:
    """The fake model server itself."""
    host = f"127.0.0.1:{port}"
    question = [{"role": "user", "content": "hello"}]
    return Target(
        port, b'"done": true', lambda model: wire.post(host, "/api/chat", {"model": model, "messages": question})
    )


def chat(port: int, cookie: str, paths: Sequence[str], pid: int) -> Target:
    """Our server: each stream is a page of a conversation of its own, asking by `message.send`."""
    host = f"127.0.0.1:{port}"

    def payload(_: str) -> bytes:
        return wire.frame({"type": "message.send", "client_id": str(uuid.uuid4()), "text": "hello"})

    greetings = [(wire.upgrade(host, path, cookie), b'"type":"hello"') for path in paths]
    return Target(port, b'"type":"turn.ended"', payload, greetings, pid)


async def connect(target: Target, greeting: tuple[bytes, bytes] | None) -> Stream:
    loop = asyncio.get_running_loop()
    _, stream = await loop.create_connection(lambda: Stream(target.end), "127.0.0.1", target.port)
    if greeting:
        await stream.until(greeting[1], greeting[0], PATIENCE)
        stream.wanted = target.end
    return stream


async def one(stream: Stream, target: Target, scenario: Scenario, start: asyncio.Event) -> list[Answer]:
    await start.wait()
    if scenario.pace:
        await asyncio.sleep(random.random() * SPREAD)
    answers = []
    for _ in range(scenario.rounds):
        stream.wanted = target.end
        answers.append(await stream.ask(target.payload(scenario.model), scenario.tokens, PATIENCE))
    return answers


async def measure(target: Target, scenario: Scenario) -> Figures:
    """Open all connections, start them together, and sum up. A stream that fails is counted, not hidden."""
    greetings = cycle(target.greetings or [None])
    streams = [await connect(target, next(greetings)) for _ in range(scenario.streams)]
    start = asyncio.Event()
    tasks = [asyncio.create_task(one(stream, target, scenario, start)) for stream in streams]
    before, _ = processes.cost(target.pid)
    start.set()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    after, memory = processes.cost(target.pid)
    for stream in streams:
        stream.transport.close()
    figures = sum_up([answer for result in results if isinstance(result, list) for answer in result])
    figures.errors = [f"{type(lost).__name__}: {lost}"[:300] for lost in results if isinstance(lost, BaseException)]
    figures.cpu, figures.memory = (after - before) / max(1, figures.tokens) * 1e5, memory
    return figures


def sum_up(answers: Sequence[Answer]) -> Figures:
    if not answers:
        return Figures()
    latencies = sorted(latency for answer in answers for latency in answer.latencies)
    firsts = sorted(answer.first - answer.asked for answer in answers)
    wall = (max(answer.last for answer in answers) - min(answer.asked for answer in answers)) / 1e9
    return Figures(len(latencies), len(latencies) / wall, at(firsts, 0.5), at(latencies, 0.5), at(latencies, 0.95))


def at(ordered: Sequence[int], share: float) -> float:
    """A percentile in ms of ordered times in ns."""
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] / 1e6
