"""The cost of ASGI servers without the product, in turns: CPU milliseconds of 50 frames, 50 events, or a page.

`python -m tests.bench.bare ROUNDS NAME…`, with the names of tests/bench/servers.py; decision 023 has the figures.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
from collections import defaultdict

from tests.bench import bare_server, processes, servers, wire
from tests.bench.stream import Stream

# name → connections, times each asks
KINDS = {"websocket": (200, 2), "/sse": (200, 2), "/page": (50, 10)}
PATIENCE = 60.0


async def connected(port: int, kind: str) -> Stream:
    loop = asyncio.get_running_loop()
    _, stream = await loop.create_connection(lambda: Stream(bare_server.END), "127.0.0.1", port)
    if kind == "websocket":
        await stream.until(b" 101 ", wire.upgrade(f"127.0.0.1:{port}", "/", "a=b"), PATIENCE)
    return stream


async def measure(port: int, pid: int, kind: str) -> float:
    """CPU milliseconds for one answer."""
    count, rounds = KINDS[kind]
    streams = [await connected(port, kind) for _ in range(count)]
    asked = wire.frame({}) if kind == "websocket" else wire.post(f"127.0.0.1:{port}", kind, {})
    before = processes.cost(pid)[0]
    for _ in range(rounds):
        await asyncio.gather(*(stream.until(bare_server.END, asked, PATIENCE) for stream in streams))
    spent = processes.cost(pid)[0] - before
    for stream in streams:
        stream.transport.close()
    return spent / count / rounds * 1000


def command(name: str, port: int) -> list[str]:
    if name == "daphne":
        return ["-m", "tests.bench.bare_server", str(port)]
    words = [word.format(port=port) for word in servers.SERVERS[name]]
    return ["tests.bench.bare_server:application" if word == servers.APPLICATION else word for word in words]


def main(rounds: int, names: list[str]) -> None:
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    processes.pin(processes.OURS)
    with tempfile.TemporaryDirectory() as directory:
        for turn in range(rounds):
            for name in names if turn % 2 == 0 else names[::-1]:
                port = processes.free_port()
                env = {"TOOLSUPPORT_DATA_DIR": directory}
                with processes.running(command(name, port), processes.THEIRS, env) as server:
                    processes.wait_until_answers(f"http://127.0.0.1:{port}/", server)
                    for kind in KINDS:
                        found[kind, name].append(asyncio.run(measure(port, server.pid, kind)))
    for kind in KINDS:
        for name in names:
            values = found[kind, name]
            print(f"{kind} {name}: {statistics.median(values):.2f} ms ({min(values):.2f} to {max(values):.2f})")


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:] or list(servers.SERVERS))
