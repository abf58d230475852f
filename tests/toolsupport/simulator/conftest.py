"""Running simulators for the tests, with no pause between tokens."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx
import pytest_asyncio

from toolsupport.simulator.server import Simulator


@pytest_asyncio.fixture
async def simulator() -> AsyncIterator[Simulator]:
    server = Simulator(pace_ms=0, load_seconds=0)
    await server.start()
    yield server
    await server.stop()


@pytest_asyncio.fixture
async def http(simulator: Simulator) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=simulator.url, timeout=20) as client:
        yield client
