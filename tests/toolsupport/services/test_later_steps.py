"""Steps that follow the verdict: after the verdicts of all tests, with evidence and claims of the same test."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from channels.db import database_sync_to_async as in_database

from tests.effective_values import holding
from tests.factories import ModelProfileFactory, ServerFactory
from toolsupport import providers
from toolsupport.models import Detection, ModelProfile, Trial
from toolsupport.registry.servers import server_slots
from toolsupport.registry.testing import detection_reports, detections, later_steps
from toolsupport.registry.testing.detections import DetectionRequest, DetectionResult
from toolsupport.services.background_jobs import JobRunner
from toolsupport.simulator.server import Simulator

pytestmark = pytest.mark.django_db(transaction=True)
NAMES = ("sim-honest", "sim-hermes", "sim-json", "sim-unknown", "sim-mistral", "sim-lfm2")


@pytest_asyncio.fixture
async def simulator() -> AsyncIterator[Simulator]:
    server = Simulator(pace_ms=0.0, load_seconds=0.2)
    await server.start()
    yield server
    await providers.close()
    await server.stop()


def bulk(url: str) -> list[int]:
    server = ServerFactory(base_url=url, kind="simulator")
    models = [ModelProfileFactory(server=server, name=name) for name in NAMES]
    return [test.id for test in detections.open_tests([DetectionRequest(model.pk, "bulk") for model in models])]


def unfinished() -> bool:
    return Detection.objects.exclude(status="done").exists() or Detection.objects.filter(remaining=True).exists()


def found() -> set[object]:
    return {holding(row, "constrains").value for row in ModelProfile.objects.all()}


@pytest.mark.asyncio
async def test_all_verdicts_come_before_any_constrained_request(simulator: Simulator) -> None:
    tests = await in_database(bulk)(simulator.url)
    jobs = JobRunner()
    jobs.spawn(jobs.tester.serve())
    async with asyncio.timeout(60):
        while await in_database(unfinished)():
            await asyncio.sleep(0.02)
    await jobs.stop()
    trials = await in_database(lambda: list(Trial.objects.order_by("pk").values_list("detection", "step")))()
    steps = [step for _, step in trials]
    first = steps.index("loaded")
    assert "constrains" not in steps[:first]
    assert {*steps[first:]} == {"loaded", "constrains"}
    # Nothing is lost: each test has the evidence, and each model its value.
    assert {test for test, step in trials if step == "constrains"} == {*tests}
    assert await in_database(found)() == {"accepted"}
    shown = await in_database(detection_reports.shown)(tests[0])
    step = next(one for one in shown.steps if one["step"] == "constrains")
    assert (shown.verdict, step["state"], step["result"]) == ("native", "done", "failed")


def decided(url: str) -> int:
    """Begin the tests, end the first with steps left; gives its id."""
    tests = bulk(url)
    assert detections.claim("a") == tests[0]
    assert detections.conclude(tests[0], "a", DetectionResult("native", values={"tools": True}, remaining=True))
    return tests[0]


def test_the_steps_wait_for_the_tests_of_their_server() -> None:
    first = decided("http://127.0.0.1:1")
    assert later_steps.claim("a") is None
    Detection.objects.filter(status="queued").update(status="cancelled")
    assert later_steps.claim("a") == first
    assert later_steps.claim("b") is None
    later_steps.leave("a")
    assert later_steps.claim("b") == first


def test_the_steps_of_a_test_that_was_undone_are_left_out() -> None:
    first = decided("http://127.0.0.1:1")
    Detection.objects.filter(status="queued").update(status="cancelled")
    assert later_steps.claim("a") == first
    detections.undo(first, None)
    assert not later_steps.conclude(first, "a", DetectionResult("", values={"constrains": "enforced"}))
    assert later_steps.claim("b") is None
    assert holding(ModelProfile.objects.get(name="sim-honest"), "constrains").value is None


def test_the_steps_take_a_place_of_their_server() -> None:
    first = decided("http://127.0.0.1:1")
    Detection.objects.filter(status="queued").update(status="cancelled")
    server = Detection.objects.get(pk=first).profile.server_id
    names = [server_slots.take(server, f"exam {n}") for n in range(4)]
    assert later_steps.claim("a") is None
    server_slots.release(names[0], "exam 0")
    assert later_steps.claim("a") == first
    assert server_slots.take(server, "exam 0") == ""
