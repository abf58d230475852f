"""The Simulator in a thread and an event loop of its own, for tests of what runs a loop itself."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

from toolsupport.simulator.server import Simulator


@contextmanager
def running_simulator() -> Iterator[str]:
    """Yield its address."""
    loop = asyncio.new_event_loop()
    thread = Thread(target=loop.run_forever)
    thread.start()
    server = Simulator(pace_ms=0.0)
    asyncio.run_coroutine_threadsafe(server.start(), loop).result(10)
    try:
        yield server.url
    finally:
        asyncio.run_coroutine_threadsafe(server.stop(), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()
