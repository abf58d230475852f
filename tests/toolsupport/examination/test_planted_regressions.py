"""Exams find six kinds of regressions that were planted into simulated models, and raise no alarm without one.

The models answer over HTTP, with the dialog and the session of a real run. In each trial a model also fails by chance.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from tests.toolsupport.test_exchange import request_spec
from toolsupport import providers
from toolsupport.core.exams import estimates
from toolsupport.core.exams.builtin import QUICK, SUITES
from toolsupport.core.exams.cases import ExamCase
from toolsupport.core.exams.estimates import TrialGrade
from toolsupport.core.types import Endpoint
from toolsupport.examination.case_dialog import CaseDialog, CaseModel, CaseTrial
from toolsupport.examination.exam_session import ExamSession, GradedTrial
from toolsupport.simulator import models
from toolsupport.simulator.models import SimulatedModel
from toolsupport.simulator.quirks import honest, one_at_a_time
from toolsupport.simulator.server import Simulator
from toolsupport.simulator.types import ModelInput, SimulatedCall, SimulatedReply

CHANCE = 0.03  # of a reply without its calls
AT_ONCE = 4
RUNS = int(os.environ.get("REGRESSION_RUNS", "100"))  # by night, of each kind


def with_calls(prompt: ModelInput, change: Callable[[SimulatedCall], SimulatedCall]) -> SimulatedReply:
    reply = honest.reply(prompt)
    return replace(reply, calls=tuple(change(call) for call in reply.calls))


def renames(call: SimulatedCall) -> SimulatedCall:
    return replace(call, arguments={f"{name}_value": value for name, value in call.arguments.items()})


def wrong_type(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: wrong_type(one) for name, one in value.items()}
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, bool):
        return "perhaps"
    return f"about {value}" if isinstance(value, int | float) else value


def stops_early(prompt: ModelInput) -> SimulatedReply:
    return (
        SimulatedReply("Done.")
        if prompt.results
        else replace(honest.reply(prompt), calls=honest.reply(prompt).calls[:1])
    )


def calls_needlessly(prompt: ModelInput) -> SimulatedReply:
    reply = honest.reply(prompt)
    if reply.calls or prompt.results or not prompt.tools:
        return reply
    tool = prompt.tools[0]
    return SimulatedReply(calls=(SimulatedCall(tool.name, dict.fromkeys(sorted(tool.required), "x")),))


def forgets(prompt: ModelInput) -> SimulatedReply:
    people = [at for at, message in enumerate(prompt.messages) if message.role == "user"]
    kept = prompt.messages[people[-1] :] if people else prompt.messages
    system = tuple(message for message in prompt.messages[:1] if message.role == "system" and kept[:1] != (message,))
    return honest.reply(replace(prompt, messages=(*system, *kept)))


PLANTED: dict[str, Callable[[ModelInput], SimulatedReply]] = {
    "drops parallel calls": one_at_a_time.reply,
    "renames an argument": lambda prompt: with_calls(prompt, renames),
    "stops after one call": stops_early,
    "calls when not needed": calls_needlessly,
    "wrong types": lambda prompt: with_calls(prompt, lambda call: replace(call, arguments=wrong_type(call.arguments))),
    "forgets the history": forgets,
}
STEADY = "none"


class Planted:
    """The simulated models, and what they do by chance."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.chance = Random(0)
        for number, (_, reply) in enumerate([(STEADY, honest.reply), *PLANTED.items()]):
            name = f"sim-planted-{number}"
            model = SimulatedModel(name, "Simulated: has a planted regression.", self._at_times(reply))
            monkeypatch.setitem(models.MODELS, name, model)

    def _at_times(self, reply: Callable[[ModelInput], SimulatedReply]) -> Callable[[ModelInput], SimulatedReply]:
        def answer(prompt: ModelInput) -> SimulatedReply:
            made = reply(prompt)
            fails = self.chance.random() < CHANCE
            return SimulatedReply("I do not know.") if fails else made

        return answer


def name_of(kind: str) -> str:
    return f"sim-planted-{[STEADY, *PLANTED].index(kind)}"


@asynccontextmanager
async def serving() -> Any:
    simulator = Simulator("127.0.0.1", 0, pace_ms=0, load_seconds=0)
    await simulator.start()
    try:
        yield Endpoint("simulator", f"http://127.0.0.1:{simulator.port}")
    finally:
        await providers.close()
        await simulator.stop()


async def run(endpoint: Endpoint, kind: str) -> list[TrialGrade]:
    """Run a quick exam with a model, and return its grades."""
    grades: list[TrialGrade] = []

    async def ask(case: ExamCase, asked_format: str) -> CaseTrial:
        spec = request_spec(name_of(kind), tools=True)
        spec = replace(spec, tools=case.tools, options={"temperature": 0.0})
        return await CaseDialog(CaseModel(endpoint, spec), case).run()

    async def keep(graded: GradedTrial) -> None:
        grades.append(TrialGrade(graded.case.id, graded.case.group, graded.trial.grade.right))

    session = ExamSession(SUITES[QUICK].cases, ("native",), {})
    await asyncio.gather(*(session.work(ask, keep) for _ in range(AT_ONCE)))
    assert not session.failing
    return grades


async def found(endpoint: Endpoint, planted: Planted, kind: str, seed: int) -> bool:
    """Return whether the exam reports that a build is worse than the one before it."""
    planted.chance.seed(f"{STEADY} {seed}")
    before = await run(endpoint, STEADY)
    planted.chance.seed(f"{kind} {seed} again")
    after = await run(endpoint, kind)
    return estimates.worse(after, before) is True


async def share_found(monkeypatch: pytest.MonkeyPatch, kind: str, runs: int) -> int:
    planted = Planted(monkeypatch)
    async with serving() as endpoint:
        return sum([await found(endpoint, planted, kind, seed) for seed in range(runs)])


@pytest.mark.asyncio
async def test_one_quick_exam_finds_each_planted_regression(monkeypatch: pytest.MonkeyPatch) -> None:
    planted = Planted(monkeypatch)
    async with serving() as endpoint:
        steady = await run(endpoint, STEADY)
        for kind in PLANTED:
            planted.chance.seed(kind)
            assert estimates.worse(await run(endpoint, kind), steady) is True, kind


@pytest.mark.nightly
@pytest.mark.asyncio
@pytest.mark.parametrize("kind", sorted(PLANTED))
async def test_a_planted_regression_is_found(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    found_in = await share_found(monkeypatch, kind, RUNS)
    print(f"{kind}: found in {found_in} of {RUNS} runs")
    assert 100 * found_in >= 99 * RUNS


@pytest.mark.nightly
@pytest.mark.asyncio
async def test_a_steady_build_raises_no_alarm(monkeypatch: pytest.MonkeyPatch) -> None:
    alarms = await share_found(monkeypatch, STEADY, RUNS)
    print(f"no regression: {alarms} alarms in {RUNS} runs")
    assert 100 * alarms <= RUNS
