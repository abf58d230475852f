"""Whole tests of simulated models: every quirk gets its true verdict."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.nightly import quirks
from toolsupport import providers
from toolsupport.core.types import Capabilities, Endpoint, RequestSpec
from toolsupport.core.verdicts import Verdict
from toolsupport.detection import DETECTORS, KINDS, ProbeRunner, ProbeTarget, ProbeTrial
from toolsupport.detection.probe_run import StepProgress, examine, longest
from toolsupport.simulator.models import MODELS
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
        self.trials: list[ProbeTrial] = []
        self.steps: list[StepProgress] = []
        self.skip = skip

    async def run(self, endpoint: Endpoint, model: str, kind: str = "tools") -> Verdict:
        subject = ProbeTarget(endpoint, RequestSpec(model, Capabilities({})))
        self.runner = ProbeRunner(subject, self._keep, random.Random(7))
        return await examine(self.runner, kind, self._tell, self.skip.__contains__)

    async def _keep(self, trial: ProbeTrial) -> None:
        self.trials.append(trial)

    async def _tell(self, step: StepProgress) -> None:
        self.steps.append(step)


@pytest.mark.asyncio
async def test_every_simulated_model_gets_its_true_verdict() -> None:  # D6, many times over in `make nightly`
    chatting = {name for name, model in MODELS.items() if model.chats}
    found = await quirks.run(range(1), tuple(chatting))
    assert {one.model for one in found} == chatting == {*quirks.TRUE, *quirks.BY_CHANCE}
    assert [one for one in found if not one.true] == []
    assert all(one.verdict.reason for one in found)


@pytest.mark.asyncio
async def test_a_model_that_is_not_there_proves_nothing(simulator: Endpoint) -> None:
    verdict = await Examined().run(simulator, "sim-not-there")
    assert (verdict.name, dict(verdict.values)) == ("inconclusive", {})


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
async def test_a_step_is_left_while_it_runs(simulator: Endpoint) -> None:
    examined = Examined()
    examined.skip = _AfterOneTrial(examined, "called")  # type: ignore[assignment]
    verdict = await examined.run(simulator, "sim-honest")
    assert sum(trial.outcome.step == "called" for trial in examined.trials) == 1
    assert {step.name: step.state for step in examined.steps}["called"] == "skipped"
    assert (verdict.name, "tools" in verdict.values) == ("inconclusive", False)


class _AfterOneTrial:
    """Somebody skips a step once its first trial was made."""

    def __init__(self, examined: Examined, step: str) -> None:
        self.examined, self.step = examined, step

    def __contains__(self, step: object) -> bool:
        made = any(trial.outcome.step == self.step for trial in self.examined.trials)
        return step == self.step and made


@pytest.mark.asyncio
async def test_the_single_kinds_tell_what_they_measured_and_nothing_else(simulator: Endpoint) -> None:  # D13
    alone = await Examined().run(simulator, "sim-shell", "per_tool")
    files = ("read_file", "write_file", "list_directory", "edit_file")
    assert alone.name == "native"
    assert alone.values == {"tool:bash": "native"} | {f"tool:{name}": "via_bash" for name in files}
    assert "tools" not in alone.values and "`read_file`: through bash" in alone.reason


@pytest.mark.asyncio
async def test_loading_is_not_counted(simulator: Endpoint) -> None:
    examined = Examined()
    await examined.run(simulator, "sim-slow-load")
    assert examined.runner.load_ms is not None and examined.runner.load_ms >= 100


def test_the_table_is_whole() -> None:
    assert all(step in DETECTORS for steps in KINDS.values() for step in steps)
    assert 0 < longest("tools") <= 120.0
