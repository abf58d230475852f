"""Fixtures of exams and comparisons: a simulated server, and the jobs of a process."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio

from toolsupport import providers
from toolsupport.services.background_jobs import JobRunner
from toolsupport.simulator.server import Simulator


@pytest_asyncio.fixture
async def simulator() -> AsyncIterator[Simulator]:
    server = Simulator(pace_ms=0.0)
    await server.start()
    yield server
    await providers.close()
    await server.stop()


@pytest_asyncio.fixture
async def jobs() -> AsyncIterator[JobRunner]:
    made = JobRunner()
    yield made
    await made.stop()
