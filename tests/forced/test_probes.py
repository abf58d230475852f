"""Servers that enforce a schema, ignore it, refuse it or drop unreadable ones are distinguished each time."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from toolsupport import providers
from toolsupport.core.side_findings import of_server
from toolsupport.core.types import Capabilities, Endpoint, RequestSpec
from toolsupport.detection import ProbeRunner, ProbeTarget, ProbeTrial, constrains
from toolsupport.simulator.server import Simulator

BY_DAY, BY_NIGHT = 3, 100
KINDS = ("ollama", "llamacpp", "vllm")
ENFORCES = {"constrains": "enforced", "constrains_patterns": True}
# What is true of the server of each model.
TRUE = {
    "sim-constrained": ENFORCES,
    "sim-constrained-thinks": ENFORCES,
    "sim-noise": ENFORCES,
    "sim-unconstrained": {"constrains": "accepted"},
    "sim-fails-open": {"constrains": "accepted"},
    "sim-no-schemas": {"constrains": "refused"},
}


@pytest_asyncio.fixture
async def simulator() -> AsyncIterator[Simulator]:
    running = Simulator("127.0.0.1", 0, pace_ms=0, load_seconds=0)
    await running.start()
    yield running
    await providers.close()
    await running.stop()


async def probed(url: str, kind: str, model: str, seed: int) -> tuple[str, int]:
    """Return what one probe found, and its requests."""

    async def keep(_: ProbeTrial) -> None: ...

    target = ProbeTarget(Endpoint(kind, url), RequestSpec(model, Capabilities({})), thinks=model.endswith("thinks"))
    runner = ProbeRunner(target, keep, random.Random(f"{model} {kind} {seed}"))
    await constrains.run(runner)
    return str(of_server(runner.outcomes)), len(runner.outcomes)


async def found(simulator: Simulator, model: str, count: int) -> Counter[str]:
    made = [await probed(simulator.url, KINDS[seed % len(KINDS)], model, seed) for seed in range(count)]
    print(f"{model}: {Counter(value for value, _ in made)}, requests: {Counter(number for _, number in made)}")
    return Counter(value for value, _ in made)


@pytest.mark.asyncio
@pytest.mark.parametrize("model", TRUE)
async def test_each_kind_of_server_is_told_apart(simulator: Simulator, model: str) -> None:  # K1
    assert await found(simulator, model, BY_DAY) == {str(TRUE[model]): BY_DAY}


@pytest.mark.nightly
@pytest.mark.asyncio
@pytest.mark.parametrize("model", TRUE)
async def test_in_a_hundred_of_a_hundred_probes(simulator: Simulator, model: str) -> None:  # K1
    assert await found(simulator, model, BY_NIGHT) == {str(TRUE[model]): BY_NIGHT}
