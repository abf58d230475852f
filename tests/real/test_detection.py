"""Models of a real server that can only recite: tested, none of them is taken for one that calls tools."""

from __future__ import annotations

import json
import random
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.real.conftest import BROKEN, CALL, FINAL, HELLO, served
from toolsupport import providers
from toolsupport.core.types import Capabilities, RequestSpec
from toolsupport.core.verdicts import Verdict
from toolsupport.detection import ProbeRunner, ProbeTarget, ProbeTrial
from toolsupport.detection.probe_run import StepProgress, examine

pytestmark = pytest.mark.real_server

RECITED = json.dumps({"name": "lookup_ticket", "arguments": {"ticket": "K7F-3XDP", "copies": 2}})
WRONG_TYPE = json.dumps({"name": "lookup_ticket", "arguments": {"ticket": 7, "copies": "many"}})
# What a model says where tools are offered → the verdict, what is measured of tools, and what the evidence tells.
MODELS = {
    "calls another tool": (CALL, "flaky", False, "unknown_tool"),
    "cannot copy": (f"<tool_call>\n{RECITED}\n</tool_call>", "flaky", False, "not_copied"),
    "takes no heed of the schema": (f"<tool_call>\n{WRONG_TYPE}\n</tool_call>", "flaky", False, "wrong_arguments"),
    "writes no JSON": (BROKEN, "flaky", False, "malformed"),
    "never calls": (HELLO, "ignored", False, "no_call"),
    "only thinks of calling": ("<think>I could call lookup_ticket.</think>Hello.", "ignored", False, "no_call"),
}


@pytest_asyncio.fixture(autouse=True)
async def _client_ends_with_the_test() -> AsyncIterator[None]:
    yield
    await providers.close()


# D6, D8
@pytest.mark.asyncio
@pytest.mark.parametrize("what", MODELS)
async def test_what_only_recites_is_no_yes(what: str, mlx_python: Path, tmp_path: Path) -> None:
    says, verdict, tools, code = MODELS[what]
    trials: list[ProbeTrial] = []

    async def keep(trial: ProbeTrial) -> None:
        trials.append(trial)

    async def tell(_: StepProgress) -> None:
        pass

    with served(mlx_python, tmp_path, HELLO, says, FINAL) as server:
        subject = ProbeTarget(server.endpoint, RequestSpec(server.model, Capabilities({})), formats=("hermes",))
        judged: Verdict = await examine(ProbeRunner(subject, keep, random.Random(7)), "tools", tell, lambda _: False)
    called = [trial.outcome for trial in trials if trial.outcome.step == "called"]
    assert (judged.name, judged.values.get("tools")) == (verdict, tools), (judged, called)
    assert {outcome.code for outcome in called} == {code}, called
