"""Runs the simulator alone, without the rest of this project."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
from dataclasses import dataclass

from toolsupport.simulator.server import LOAD_SECONDS, PACE_MS, Simulator


@dataclass(frozen=True, slots=True)
class SimulatorOptions:
    """The options of the simulator; with `with_parent` it ends when its standard input does."""

    host: str
    port: int
    pace_ms: float
    load_seconds: float
    with_parent: bool = False
    holds: int = 0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--host", default="127.0.0.1", help="Address to listen on.")
    parser.add_argument("--port", type=int, required=True, help="Port to listen on. 0: any free port.")
    parser.add_argument("--pace-ms", type=float, default=PACE_MS, help="Milliseconds per token.")
    load = "Seconds that sim-slow-load takes to load."
    parser.add_argument("--load-seconds", type=float, default=LOAD_SECONDS, help=load)
    parser.add_argument("--holds", type=int, default=0, help="How many models fit in memory. 0 (default): all.")
    parser.add_argument("--with-parent", action="store_true", help="End when standard input is closed.")


class ParentPipe(asyncio.Protocol):
    """Watches the pipe from the parent process, which ends when the parent dies."""

    def __init__(self, gone: asyncio.Event) -> None:
        self.gone = gone

    def eof_received(self) -> None:
        self.gone.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self.gone.set()


async def serve(orders: SimulatorOptions) -> None:
    """Run until a signal arrives or the parent has ended. Raises OSError if it cannot listen."""
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    simulator = Simulator(orders.host, orders.port, pace_ms=orders.pace_ms, load_seconds=orders.load_seconds)
    simulator.hold(orders.holds)
    await simulator.start()
    for sign in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(sign, ended.set)
    if orders.with_parent:
        await loop.connect_read_pipe(lambda: ParentPipe(ended), sys.stdin)
    print(f"Simulator listening on {simulator.url}", flush=True)
    await ended.wait()
    await simulator.stop()


def run(orders: SimulatorOptions) -> None:
    """Run to the end. Raises OSError if it cannot listen."""
    asyncio.run(serve(orders))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m toolsupport.simulator", description=__doc__)
    add_arguments(parser)
    try:
        run(SimulatorOptions(**vars(parser.parse_args(arguments))))
    except OSError as error:
        print(f"The simulator cannot listen: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
