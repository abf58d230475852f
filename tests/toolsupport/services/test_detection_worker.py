"""Tests of models as work: claimed, run against a real server, ended by a verdict."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from io import StringIO
from typing import Any

import pytest
import pytest_asyncio
from channels.db import database_sync_to_async as in_database
from django.core.management import call_command
from django.core.management.base import CommandError

from tests.effective_values import holding
from tests.factories import ModelProfileFactory, ServerFactory
from tests.toolsupport.detection.replied import replied
from tests.toolsupport.services.simulator_thread import running_simulator
from toolsupport import providers
from toolsupport.core import redaction
from toolsupport.core.events import Failed, ToolsRefused
from toolsupport.core.verdicts import TrialOutcome
from toolsupport.detection import ProbeReply, ProbeTrial
from toolsupport.detection.probe_runner import ProbeRequest
from toolsupport.models import Detection, ModelProfile, Override
from toolsupport.models import Trial as TrialRow
from toolsupport.registry.knowledge import reasoning_starts
from toolsupport.registry.testing import detection_reports, detections
from toolsupport.registry.testing.detections import DetectionRequest
from toolsupport.services import detection_worker
from toolsupport.services.background_jobs import JobRunner
from toolsupport.services.detection_worker import evidence
from toolsupport.simulator.server import Simulator

pytestmark = pytest.mark.django_db(transaction=True)


@pytest_asyncio.fixture
async def simulator() -> AsyncIterator[Simulator]:
    server = Simulator(pace_ms=0.0, load_seconds=0.2)
    await server.start()
    yield server
    await providers.close()
    await server.stop()


@pytest_asyncio.fixture
async def work() -> AsyncIterator[JobRunner]:
    made = JobRunner()
    made.spawn(made.tester.serve())
    yield made
    await made.stop()


@in_database
def _model(simulator: Simulator, name: str) -> int:
    server = ServerFactory(base_url=simulator.url, kind="simulator", name=f"sim of {name}")
    return ModelProfileFactory(server=server, name=name).pk


@pytest.fixture
def simulator_url() -> Iterator[str]:
    """The Simulator in a loop of its own, for what runs a loop itself."""
    with running_simulator() as url:
        yield url


async def _until(detection: int, seen: Callable[[Any], bool]) -> Any:
    async with asyncio.timeout(30):
        while True:
            found = await in_database(detection_reports.shown)(detection)
            if seen(found):
                return found
            await asyncio.sleep(0.01)


@pytest.mark.asyncio
async def test_a_queued_test_is_run_and_becomes_knowledge(simulator: Simulator, work: JobRunner):  # D6, D8
    model = await _model(simulator, "sim-unknown")
    opened = await in_database(detections.open_test)(DetectionRequest(model, "page"))
    work.tester.look()
    done = await _until(opened.id, lambda shown: not shown.open)
    assert (done.status, done.verdict) == ("done", "native")
    assert [step["state"] for step in done.steps if step["step"] == "called"] == ["done"]
    assert await in_database(lambda: holding(ModelProfile.objects.get()).value)() is True
    trials = await in_database(detection_reports.trials)(opened.id)
    assert [trial.seq for trial in trials] == list(range(1, len(trials) + 1))
    called = next(trial for trial in trials if trial.step == "called")
    assert called.passed is True
    assert called.response["calls"][0]["arguments"]["ticket"] in called.request["messages"][0]["content"]


@in_database
def _begins_inside(model: int) -> bool | None:
    return reasoning_starts.known(ModelProfile.objects.select_related("server").get(pk=model))


@pytest.mark.asyncio
@pytest.mark.parametrize(("name", "inside"), [("sim-thinks-inside", True), ("sim-thinks-aloud", False)])
async def test_a_test_learns_whether_replies_begin_inside_reasoning(
    simulator: Simulator, work: JobRunner, name: str, inside: bool | None
):
    model = await _model(simulator, name)
    opened = await in_database(detections.open_test)(DetectionRequest(model, "page"))
    work.tester.look()
    done = await _until(opened.id, lambda shown: not shown.open)
    assert (done.status, await _begins_inside(model)) == ("done", inside)


@pytest.mark.asyncio
async def test_a_test_corrects_what_its_family_says_of_the_beginning(simulator: Simulator, work: JobRunner):
    model = await _model(simulator, "sim-honest")
    await in_database(lambda: reasoning_starts.learn(model, _build(model), True))()
    opened = await in_database(detections.open_test)(DetectionRequest(model, "page"))
    work.tester.look()
    done = await _until(opened.id, lambda shown: not shown.open)
    assert (done.verdict, await _begins_inside(model)) == ("native", False)


def _build(model: int) -> str:
    return str(ModelProfile.objects.select_related("server").get(pk=model).build.key)


@pytest.mark.asyncio
async def test_a_server_that_holds_one_model_loads_each_once(simulator: Simulator, work: JobRunner):  # D7
    simulator.hold(1)
    server = await in_database(ServerFactory)(base_url=simulator.url, kind="ollama")
    models = [await in_database(ModelProfileFactory)(server=server, name=name) for name in ("sim-honest", "sim-shell")]
    opened = [await in_database(detections.open_test)(DetectionRequest(model.pk, "page")) for model in models]
    other = JobRunner()
    other.spawn(other.tester.serve())
    ended = [await _until(test.id, lambda shown: not shown.open) for test in opened]
    await other.stop()
    assert [test.verdict for test in ended] == ["native", "native"]
    assert simulator.loads == 2


@pytest.mark.asyncio
async def test_a_model_that_calls_only_with_thinking_off_is_known_as_that(simulator: Simulator, work: JobRunner):  # D6
    model = await _model(simulator, "sim-thinks-off")
    opened = await in_database(detections.open_test)(DetectionRequest(model, "page"))
    work.tester.look()
    done = await _until(opened.id, lambda shown: not shown.open)
    assert done.verdict == "native" and "With thinking on: 0 of 5, off: 3 of 3." in done.reason
    assert await in_database(lambda: holding(ModelProfile.objects.get(), "tools_thinking").value)() == "off_only"
    trials = [trial for trial in await in_database(detection_reports.trials)(opened.id) if trial.step == "called"]
    assert {trial.request["think"] for trial in trials} == {True, False}
    assert {trial.request["most_tokens"] for trial in trials} == {4096}
    assert {trial.response["finish"] for trial in trials} == {"stop"}


@pytest.mark.asyncio
async def test_a_person_can_cancel(simulator: Simulator, work: JobRunner):  # D7
    model = await _model(simulator, "sim-slow-load")
    opened = await in_database(detections.open_test)(DetectionRequest(model, "page"))
    work.tester.look()
    await _until(opened.id, lambda shown: shown.status == "running")
    await in_database(detections.cancel)(opened.id)
    done = await _until(opened.id, lambda shown: not shown.open)
    assert done.status == "cancelled"
    assert await in_database(lambda: Override.objects.filter(source="auto_detected").exists())() is False


@pytest.mark.asyncio
async def test_a_dead_server_is_inconclusive(work: JobRunner):
    model = await in_database(lambda: ModelProfileFactory(server=ServerFactory(base_url="http://127.0.0.1:1")).pk)()
    opened = await in_database(detections.open_test)(DetectionRequest(model, "page"))
    work.tester.look()
    done = await _until(opened.id, lambda shown: not shown.open)
    assert (done.status, done.verdict) == ("done", "inconclusive")
    assert done.reason
    await providers.close()


@pytest.mark.asyncio
async def test_stopping_the_site_leaves_the_lease_to_run_out(simulator: Simulator):
    model = await _model(simulator, "sim-slow-load")
    opened = await in_database(detections.open_test)(DetectionRequest(model, "page"))
    first = JobRunner()
    first.spawn(first.tester.serve())
    await _until(opened.id, lambda shown: shown.status == "running")
    await first.stop()
    shown = await in_database(detection_reports.shown)(opened.id)
    assert shown.status == "interrupted"


# O4: a command, or a site, that ends while a test has just ended.
@pytest.mark.asyncio
@pytest.mark.parametrize("steps", range(6))
async def test_it_can_be_stopped_in_whatever_step_it_is_told_to_look(steps: int, monkeypatch: pytest.MonkeyPatch):
    async def nothing(tester: detection_worker.DetectionWorker) -> None: ...

    monkeypatch.setattr(detection_worker.DetectionWorker, "_claim", nothing)
    work = JobRunner()
    task = work.spawn(work.tester.serve())
    for _ in range(3):
        await asyncio.sleep(0)
    work.tester.look()
    for _ in range(steps):
        await asyncio.sleep(0)
    async with asyncio.timeout(5):
        await work.stop()
    assert task.cancelled()


def test_the_command_tells_by_its_exit_code(simulator_url: str):
    server = ServerFactory(base_url=simulator_url, kind="simulator")
    for name, code in (("sim-honest", 0), ("sim-ignores", 1), ("sim-dies", 2)):
        ModelProfileFactory(server=server, name=name)
        out = StringIO()
        assert _exit_code(name, stdout=out) == code, out.getvalue()
        assert f"/{name}: " in out.getvalue()
    out = StringIO()
    assert _exit_code("sim-honest", json=True, stdout=out) == 0
    told = json.loads(out.getvalue())
    assert told["verdict"] == "native" and told["trials"]
    assert _exit_code("nobody") == 2


def _exit_code(model: str, **options: Any) -> int:
    try:
        call_command("detect", model, **options)
    except SystemExit as left:
        return int(str(left.code))
    except CommandError as error:
        return error.returncode
    return 0


def test_evidence_names_the_rule_by_which_an_error_was_understood():  # D8
    flag = Failed("refused", "no", 500, '{"error":{"message":"tools param requires --jinja flag"}}')
    replies = {
        "flag": ProbeReply(failed=flag),
        "does-not-support": ProbeReply(refused=ToolsRefused("no", "does-not-support")),
    }
    for rule, reply in {**replies, "": replied(text="hello")}.items():
        made = evidence(ProbeTrial(ProbeRequest(()), reply, TrialOutcome("accepted", "refused", "no"), 1))
        assert made.response["rule"] == rule


def test_evidence_holds_no_secret_and_no_endless_text():  # D8
    redaction.add_secrets("s3cret-of-this-site")
    reply = replied(text="x" * 50_000, thinking="my key is s3cret-of-this-site")
    made = evidence(
        ProbeTrial(ProbeRequest(()), reply, TrialOutcome("called", "no_call", "wrote s3cret-of-this-site"), 1)
    )
    assert "s3cret" not in json.dumps(made.response) + made.why
    assert len(made.response["text"]) < 21_000


def test_kept_trials_belong_to_their_test():
    model = ModelProfileFactory()
    opened = detections.open_test(DetectionRequest(model.pk, "page"))
    assert detection_reports.trials(opened.id) == []
    assert TrialRow.objects.count() == 0
    assert detection_reports.open_ones([model.pk])[model.pk].id == opened.id
    assert [row.pk for row in Detection.objects.filter(profile=model)] == [opened.id]
    assert Detection.objects.get().status == "queued"
