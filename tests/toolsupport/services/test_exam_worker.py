"""Exams against real simulated models: every grade comes from requests over a socket, and nothing is executed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from channels.db import database_sync_to_async as in_database
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db.models.functions import Now

from tests.chat.turns.test_settings_left_out import fine
from tests.factories import ModelProfileFactory, OverrideFactory, ServerFactory
from tests.toolsupport.providers.scripted import answer as server_answer
from tests.toolsupport.providers.scripted import scripted
from tests.toolsupport.services.simulator_thread import running_simulator
from toolsupport import providers
from toolsupport.core.exams.builtin import SUITES
from toolsupport.core.exams.cases import ExamSuite
from toolsupport.examination.case_dialog import CaseDialog, CaseTrial
from toolsupport.models import ExamTrial, Lease, ModelProfile
from toolsupport.registry.exams import exam_reports, exam_runs
from toolsupport.registry.exams.exam_reports import ShownExam
from toolsupport.registry.exams.exam_runs import ExamRequest
from toolsupport.services.background_jobs import JobRunner
from toolsupport.simulator.server import Simulator

pytestmark = pytest.mark.django_db(transaction=True)


@in_database
def started(
    url: str, name: str, suite: ExamSuite, *formats: str, kind: str = "simulator", swap_from: int | None = None
) -> int:
    server = ServerFactory(base_url=url, kind=kind, name=f"sim of {name}")
    profile: ModelProfile = ModelProfileFactory(server=server, name=name)
    if swap_from:
        OverrideFactory(profile=profile, capability="tools", value=True)
    return exam_runs.open_run(ExamRequest(profile.pk, suite, formats or ("",), swap_from=swap_from))


@in_database
def a_profile(url: str, name: str, kind: str) -> int:
    """A model whose calls work in the way of its name."""
    profile: ModelProfile = ModelProfileFactory(
        server=ServerFactory(base_url=url, kind=kind, name=f"first of {name}"), name=name
    )
    text = name == "sim-hermes"
    OverrideFactory(profile=profile, capability="format" if text else "tools", value="hermes" if text else True)
    if text:
        OverrideFactory(profile=profile, capability="tools", value=False)
    return profile.pk


async def ended(run: int, jobs: JobRunner) -> ShownExam:
    jobs.spawn(jobs.examiner.serve())
    async with asyncio.timeout(60):
        while (seen := await in_database(exam_reports.shown)(run)).open:
            await asyncio.sleep(0.05)
    return seen


def of_groups(*names: str) -> ExamSuite:
    return ExamSuite("part", tuple(case for case in SUITES["quick"].cases if case.group in names))


@pytest.mark.asyncio
async def test_the_honest_model_passes_the_quick_exam(simulator: Simulator, jobs: JobRunner) -> None:
    seen = await ended(await started(simulator.url, "sim-honest", SUITES["quick"], "native"), jobs)
    assert (seen.status, seen.verdict, seen.graded) == ("done", "passed", 42)
    part = seen.detail["formats"]["native"]
    assert (part["right"], part["trials"], part["failed_groups"]) == (42, 42, [])


@pytest.mark.asyncio
async def test_a_model_that_never_makes_two_calls_at_once_fails_that_group(
    simulator: Simulator, jobs: JobRunner
) -> None:
    seen = await ended(await started(simulator.url, "sim-parallel-less", SUITES["quick"], "native"), jobs)
    assert (seen.verdict, seen.detail["formats"]["native"]["failed_groups"]) == ("failed", ["parallel"])


@pytest.mark.asyncio
async def test_formats_are_graded_side_by_side(simulator: Simulator, jobs: JobRunner) -> None:
    run = await started(simulator.url, "sim-hermes", of_groups("single", "turns"), "hermes", "mistral")
    seen = await ended(run, jobs)
    parts = seen.detail["formats"]
    assert (seen.verdict, parts["hermes"]["right"], parts["hermes"]["trials"]) == ("passed", 8, 8)
    assert set(parts) == {"hermes", "mistral"}


@pytest.mark.asyncio
async def test_a_server_that_refuses_ends_the_exam_early_and_proves_nothing(
    simulator: Simulator, jobs: JobRunner
) -> None:
    seen = await ended(await started(simulator.url, "sim-refuses", SUITES["quick"], "native"), jobs)
    assert (seen.verdict, seen.status) == ("inconclusive", "done")
    assert "does not support tools" in seen.detail["failing"]
    made = await in_database(ExamTrial.objects.filter(run=seen.id).count)()
    assert made < 20


@pytest.mark.asyncio
async def test_a_setting_that_a_server_refuses_is_named(jobs: JobRunner) -> None:
    """Grades at other temperatures compare badly."""
    words = "Unsupported value: 'temperature' does not support 0 with this model."
    refused = server_answer(400, json.dumps({"error": {"message": words}}).encode())
    [case, *_] = of_groups("irrelevant").cases
    async with scripted(refused, fine()) as server:
        run = await started(server.endpoint().base_url, "gpt-x", ExamSuite("part", (case,)), "native", kind="openai")
        seen = await ended(run, jobs)
    named = await in_database(exam_reports.left_out)(seen)
    assert named.by_case == {("native", case.id): ("temperature",)}
    assert named.sentences == [f"Not used for gpt-x: temperature. Its server refuses this (“{words}”)."]


@pytest.mark.asyncio
async def test_a_cancelled_run_ends_without_an_error_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    slow, jobs = Simulator(pace_ms=30.0), JobRunner()
    await slow.start()
    jobs.spawn(jobs.examiner.serve())
    run = await started(slow.url, "sim-honest", SUITES["quick"], "native")
    jobs.examiner.look()
    async with asyncio.timeout(60):
        while not await in_database(ExamTrial.objects.filter(run=run).exists)():
            await asyncio.sleep(0.05)
        await in_database(exam_runs.cancel)(run)
        while jobs.examiner.busy:
            await asyncio.sleep(0.05)
    await jobs.stop()
    await providers.close()
    await slow.stop()
    assert [line.getMessage() for line in caplog.records if line.levelname == "ERROR"] == []
    assert (await in_database(exam_reports.shown)(run)).status == "cancelled"


@pytest.mark.asyncio
async def test_another_process_goes_on_and_repeats_nothing(simulator: Simulator, jobs: JobRunner) -> None:
    run = await started(simulator.url, "sim-honest", of_groups("single"), "native")
    await in_database(exam_runs.claim)("a process that ended")
    trial = exam_runs.ExamTrialRecord("native", "native", "single_1", "single", 1, True, "right", {}, [])
    await in_database(exam_runs.add_trial)(run, "a process that ended", trial)
    await in_database(exam_runs.leave)("a process that ended")
    seen = await ended(run, jobs)
    assert (seen.verdict, seen.detail["formats"]["native"]["trials"]) == ("passed", 4)
    of_first = await in_database(ExamTrial.objects.filter(run=run, case="single_1").count)()
    assert of_first == 1


@pytest.mark.asyncio
@pytest.mark.parametrize(("kind", "most"), [("ollama", 1), ("simulator", 4)])
async def test_a_server_gets_no_more_requests_at_once_than_it_has_places(
    simulator: Simulator, jobs: JobRunner, monkeypatch: pytest.MonkeyPatch, kind: str, most: int
) -> None:
    asking, seen, run_dialog, full = [0], set[int](), CaseDialog.run, asyncio.Event()

    async def counted(dialog: CaseDialog) -> CaseTrial:
        asking[0] += 1
        seen.add(asking[0])
        if asking[0] >= most:
            full.set()
        try:
            async with asyncio.timeout(30):
                await full.wait()
            return await run_dialog(dialog)
        finally:
            asking[0] -= 1

    monkeypatch.setattr(CaseDialog, "run", counted)
    run = await started(simulator.url, "sim-honest", of_groups("single", "turns"), "native", kind=kind)
    assert (await ended(run, jobs)).verdict == "passed"
    assert max(seen) == most
    assert not await in_database(Lease.objects.filter(name__startswith="place", until__gt=Now()).exists)()


def writers(run: int, case: str) -> list[str]:
    trial = ExamTrial.objects.filter(run=run, case=case).latest("id")
    return [reply["model"] for reply in trial.replies]


# F7
@pytest.mark.asyncio
@pytest.mark.parametrize("kind", ["ollama", "openai"])
async def test_the_model_is_changed_between_a_call_and_its_result(
    simulator: Simulator, jobs: JobRunner, kind: str
) -> None:
    first = await a_profile(simulator.url, "sim-hermes", kind)
    run = await started(simulator.url, "sim-honest", of_groups("single", "turns", "irrelevant"), swap_from=first)
    seen = await ended(run, jobs)
    assert (seen.verdict, seen.planned, seen.swap_from) == ("passed", 8, "first of sim-hermes/sim-hermes")
    assert await in_database(writers)(run, "single_1") == ["sim-hermes", "sim-honest"]
    found = await in_database(exam_reports.to_json)(run)
    assert (found["swap_from"], set(found["groups"])) == (seen.swap_from, {"single", "turns"})


@pytest.mark.asyncio
async def test_a_first_model_without_calls_shows_nothing_about_the_second(
    simulator: Simulator, jobs: JobRunner
) -> None:
    first = await a_profile(simulator.url, "sim-ignores", "simulator")
    run = await started(simulator.url, "sim-honest", of_groups("single"), swap_from=first)
    seen = await ended(run, jobs)
    assert (seen.verdict, seen.detail["formats"][""]["unknown"]) == ("inconclusive", 4)
    whys = {case.why for case in await in_database(exam_reports.cases)(run)}
    assert len(whys) == 1 and "sim-ignores did not begin with a right call" in whys.pop()
    assert await in_database(writers)(run, "single_1") == ["sim-ignores"]


@pytest.fixture
def url() -> Iterator[str]:
    with running_simulator() as found:
        yield found


def command(*words: str) -> tuple[int, str]:
    out = StringIO()
    try:
        call_command("validate_model", *words, stdout=out)
    except CommandError as error:
        return error.returncode, f"{out.getvalue()}{error}"
    except SystemExit as end:
        return int(str(end.code)), out.getvalue()
    return 0, out.getvalue()


def a_model(url: str, name: str) -> str:
    server = ServerFactory(base_url=url, kind="simulator", name=f"sim of {name}")
    ModelProfileFactory(server=server, name=name)
    return f"{server.name}/{name}"


def suite_file(tmp_path: Path, *groups: str) -> str:
    place = tmp_path / "suite.json"
    place.write_text(json.dumps(of_groups(*groups).to_json()))
    return str(place)


def test_the_command_writes_its_files_and_exits_by_verdict(url: str, tmp_path: Path) -> None:
    model, file = a_model(url, "sim-honest"), suite_file(tmp_path, "single", "turns")
    found, written = tmp_path / "found.json", tmp_path / "found.xml"
    files = ("--json", str(found), "--junit", str(written))
    code, out = command("--model", model, "--suite", file, "--format", "native", *files)
    assert code == 0, out
    assert f"{model}: Passed." in out
    assert "8 cases, about" in out
    assert not any(ord(sign) < 32 and sign != "\n" for sign in out)
    result: dict[str, Any] = json.loads(found.read_text())
    assert (result["verdict"], result["score"], len(result["cases"])) == ("passed", 1.0, 8)
    assert result["groups"]["turns"] == {"right": 4, "trials": 4}
    suite = ElementTree.parse(written).getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("8", "0")


def test_the_command_fails_for_a_model_that_is_worse(url: str, tmp_path: Path) -> None:
    file = suite_file(tmp_path, "parallel")
    lesser, good = a_model(url, "sim-parallel-less"), a_model(url, "sim-honest")
    given = ("--suite", file, "--format", "native")
    code, out = command("--model", lesser, "--against", good, *given)
    assert code == 1
    assert "sim-parallel-less is worse than sim-honest." in out
    assert "parallel_1 (native): 1 of 2 calls came in the first reply; all of them were expected at once." in out
    code, out = command("--model", good, "--against", lesser, *given)
    assert (code, "sim-honest is better than sim-parallel-less." in out) == (0, True)


def test_the_command_changes_the_model(url: str, tmp_path: Path) -> None:
    first, second = (a_model(url, name) for name in ("sim-honest", "sim-parallel-less"))
    for row in ModelProfile.objects.all():
        OverrideFactory(profile=row, capability="tools", value=True)
    file, found = suite_file(tmp_path, "turns", "missing"), tmp_path / "found.json"
    code, out = command("--model", second, "--swap-from", first, "--suite", file, "--json", str(found))
    assert (code, f"{second} after a change from {first}: Passed." in out, "4 cases, about" in out) == (0, True, True)
    assert json.loads(found.read_text())["swap_from"] == first
    code, out = command("--model", first, "--swap-from", first, "--suite", file)
    assert (code, "two different models" in out) == (2, True)
    code, out = command("--model", first, "--swap-from", second, "--suite", suite_file(tmp_path, "missing"))
    assert (code, "nothing to hand over" in out) == (2, True)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--model", "nobody"), "nobody"),
        (("--model", "sim-honest", "--suite", "/nowhere.json"), "cannot be read"),
        (("--model", "sim-honest", "--format", "nope"), "no call format"),
    ],
)
def test_the_command_refuses_with_2(url: str, words: tuple[str, ...], why: str) -> None:
    a_model(url, "sim-honest")
    code, out = command(*words)
    assert (code, why in out) == (2, True), out


def test_a_server_that_is_away_is_inconclusive(url: str) -> None:
    server = ServerFactory(base_url="http://127.0.0.1:9", kind="simulator", name="away")
    ModelProfileFactory(server=server, name="sim-honest")
    code, out = command("--model", "away/sim-honest", "--format", "native")
    assert (code, "Inconclusive" in out) == (2, True), out
