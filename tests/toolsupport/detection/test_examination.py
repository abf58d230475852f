"""Whole tests of simulated models: every quirk gets its true verdict."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from toolsupport import providers
from toolsupport.core.verdicts import Verdict
from toolsupport.core.words import Brief, Capabilities, Endpoint
from toolsupport.detection import DETECTORS, KINDS, Laboratory, Subject, Trial
from toolsupport.detection.examination import Step, examine, longest
from toolsupport.simulator.server import Simulator


@pytest_asyncio.fixture
async def simulator() -> AsyncIterator[Endpoint]:
    server = Simulator(pace_ms=0.0, load_seconds=0.2)
    await server.start()
    yield Endpoint("ollama", server.url)
    await providers.close()
    await server.stop()


class Examined:
    """A test that was run, with all it told."""

    def __init__(self, skip: frozenset[str] = frozenset()) -> None:
        self.trials: list[Trial] = []
        self.steps: list[Step] = []
        self.skip = skip

    async def run(self, endpoint: Endpoint, model: str, kind: str = "tools") -> Verdict:
        subject = Subject(endpoint, Brief(model, Capabilities({})))
        self.lab = Laboratory(subject, self._keep, random.Random(7))
        return await examine(self.lab, kind, self._tell, self.skip.__contains__)

    async def _keep(self, trial: Trial) -> None:
        self.trials.append(trial)

    async def _tell(self, step: Step) -> None:
        self.steps.append(step)


VERDICTS = {
    "sim-honest": "native",
    "sim-thinks": "native",
    "sim-unknown": "native",
    "sim-slow-load": "native",
    "sim-refuses": "refused",
    "sim-ignores": "ignored",
    "sim-dies": "inconclusive",
    "sim-not-there": "inconclusive",
    "sim-shell": "native",
    "sim-parallel-less": "native",
    "sim-flaky": "flaky",
    "sim-speaks": "ignored",
    "sim-misconfigured": "misconfigured",
}


@pytest.mark.asyncio
@pytest.mark.parametrize("model", VERDICTS)
async def test_every_quirk_gets_its_verdict(simulator: Endpoint, model: str) -> None:  # D6
    examined = Examined()
    verdict = await examined.run(simulator, model)
    shown = [(trial.outcome.step, trial.outcome.code, trial.outcome.why) for trial in examined.trials]
    assert verdict.name == VERDICTS[model], (verdict, shown)
    assert verdict.reason


@pytest.mark.asyncio
async def test_a_dead_server_proves_nothing(simulator: Endpoint) -> None:
    verdict = await Examined().run(Endpoint("ollama", "http://127.0.0.1:1"), "sim-honest")
    assert (verdict.name, dict(verdict.values)) == ("inconclusive", {})


@pytest.mark.asyncio
async def test_the_honest_model_shows_everything(simulator: Endpoint) -> None:
    examined = Examined()
    verdict = await examined.run(simulator, "sim-honest")
    assert verdict.values["tools"] is True
    assert verdict.values["streaming"] is True
    assert verdict.values["multi_turn"] is True
    assert verdict.values["leaves_alone"] is True
    states = {step.name: step.state for step in examined.steps}
    assert states == {name: "not_needed" if name == "formats" else "done" for name in KINDS["tools"]}
    assert {trial.outcome.step for trial in examined.trials} >= {"declared", "accepted", "rendered", "called"}


@pytest.mark.asyncio
async def test_a_step_can_be_skipped(simulator: Endpoint) -> None:
    examined = Examined(skip=frozenset({"control", "per_tool"}))
    verdict = await examined.run(simulator, "sim-honest")
    assert verdict.name == "native"
    assert "leaves_alone" not in verdict.values
    assert not any(trial.outcome.step in examined.skip for trial in examined.trials)


@pytest.mark.asyncio
async def test_loading_is_not_counted(simulator: Endpoint) -> None:
    examined = Examined()
    await examined.run(simulator, "sim-slow-load")
    assert examined.lab.load_ms is not None and examined.lab.load_ms >= 100


def test_the_table_is_whole() -> None:
    assert all(step in DETECTORS for steps in KINDS.values() for step in steps)
    assert 0 < longest("tools") <= 120.0
