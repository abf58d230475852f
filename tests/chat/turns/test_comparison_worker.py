"""Turns asked again of simulated models over a socket: side by side, cancelled, resumed, and nothing executed."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest
from channels.db import database_sync_to_async as in_database
from django.conf import settings
from django.db.models.functions import Now
from django.template.loader import render_to_string

from chat.models import ComparedAnswer, Conversation, Turn
from chat.tools import BUILTINS
from chat.transcript.turns import comparisons, turn_case
from chat.transcript.turns.comparisons import ShownComparison
from chat.transcript.turns.sent_message import SentMessage
from chat.turns.comparison_worker import ReplayWorker
from chat.turns.runner import TurnRunner
from tests.chat.finished_turns import asked
from tests.chat.turns.test_settings_left_out import fine
from tests.factories import ConversationFactory, ModelProfileFactory, OverrideFactory, ServerFactory, UserFactory
from tests.toolsupport.providers.scripted import answer as server_answer
from tests.toolsupport.providers.scripted import scripted
from toolsupport import providers
from toolsupport.core.exams.cases import ExamSuite
from toolsupport.core.types import ToolResult
from toolsupport.models import ExamTrial, ModelProfile, Server
from toolsupport.registry.exams import exam_reports, exam_runs, team_exams
from toolsupport.registry.exams.exam_runs import ExamRequest
from toolsupport.services.background_jobs import JobRunner
from toolsupport.simulator.server import Simulator

pytestmark = [pytest.mark.asyncio, pytest.mark.django_db(transaction=True)]
QUESTION, RECORDED = "What is in the file notes.md?", "The launch is on 14 March."


@pytest.fixture(autouse=True)
def workspaces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "WORKSPACES_DIR", tmp_path / "workspaces")


def model(server: Server, name: str) -> int:
    made: ModelProfile = ModelProfileFactory(server=server, name=name)
    OverrideFactory(profile=made, capability="tools", value=True)
    return made.pk


@in_database
def a_turn(url: str, *names: str) -> tuple[Turn, list[int]]:
    """A turn in which the file was read, and the models to compare."""
    server = ServerFactory(base_url=url, kind="simulator")
    chat: Conversation = ConversationFactory(owner=UserFactory(role="user"), profile=ModelProfileFactory(server=server))
    turn = asked(chat, QUESTION, (("read_file", {"path": "notes.md"}, RECORDED, "done"),))
    return turn, [model(server, name) for name in names]


@in_database
def seen(turn: Turn) -> ShownComparison:
    return comparisons.shown(turn.conversation.owner, turn.pk)


async def begun(turn: Turn, models: list[int]) -> None:
    await in_database(comparisons.begin)(turn.conversation.owner, turn.pk, models)


async def until(turn: Turn, *statuses: str) -> ShownComparison:
    async with asyncio.timeout(60):
        found = await seen(turn)
        while {answer.status for answer in found.answers} - set(statuses):
            await asyncio.sleep(0.05)
            found = await seen(turn)
    return found


# E7
async def test_answers_of_models_stand_side_by_side(simulator: Simulator, jobs: JobRunner) -> None:
    turn, models = await a_turn(simulator.url, "sim-honest", "sim-ignores", "sim-refuses")
    await begun(turn, models)
    jobs.add(ReplayWorker)
    found = await until(turn, "done", "failed")
    honest, silent, refused = found.answers
    assert (honest.status, honest.alike, [call.arguments for call in honest.calls]) == (
        "done",
        True,
        [{"path": "notes.md"}],
    )
    assert "14 March" in honest.text and honest.duration_ms > 0 and honest.tokens > 0
    assert (silent.status, silent.alike, [call.name for call in silent.missing]) == ("done", False, ["read_file"])
    assert refused.status == "failed" and "does not support tools" in refused.error
    assert found.original.text.startswith("Done:") and found.original.calls[0].name == "read_file"
    case = await in_database(comparisons.case_of)(turn.conversation.owner, turn.pk, silent.id)
    assert (case.expected, case.recorded[0].result) == ((), RECORDED)


async def test_a_setting_that_a_server_refuses_is_named(jobs: JobRunner) -> None:
    """Answers at other temperatures compare badly."""
    words = "Unsupported value: 'temperature' does not support 0.4 with this model."
    refused = server_answer(400, orjson.dumps({"error": {"message": words}}))
    async with scripted(refused, fine()) as server:
        turn, models = await a_turn(server.endpoint().base_url, "gpt-x")
        await in_database(Server.objects.update)(kind="openai")
        await in_database(Conversation.objects.update)(settings={"temperature": 0.4})
        await begun(turn, models)
        jobs.add(ReplayWorker)
        compared = await until(turn, "done", "failed")
    [answer] = compared.answers
    assert (answer.status, answer.text) == ("done", "Fine.")
    assert answer.left_out == f"Not used for gpt-x: temperature. Its server refuses this (“{words}”)."
    page = render_to_string("chat/compared_answer.html", {"answer": answer, "compared": compared})
    assert "Not used for gpt-x: temperature" in page


async def test_a_server_gets_two_requests_at_once(simulator: Simulator) -> None:
    names = [f"sim-honest-{n}" for n in range(6)]
    turn, models = await a_turn(simulator.url, *names)
    await begun(turn, models)
    taken = [await in_database(comparisons.claim)("first") for _ in range(3)]
    assert [one is not None for one in taken] == [True, True, False]
    first = ComparedAnswer.objects.filter(pk=taken[0].id if taken[0] else 0)
    await in_database(first.update)(lease_until=Now() - timedelta(seconds=1))
    again = await in_database(comparisons.claim)("second")
    assert again is not None and taken[0] is not None and again.id == taken[0].id
    assert not await in_database(comparisons.conclude)(again.id, "first", {"error": "late"})


async def test_another_process_finishes_what_a_killed_one_began(simulator: Simulator, jobs: JobRunner) -> None:
    turn, models = await a_turn(simulator.url, "sim-honest")
    await begun(turn, models)
    claimed = await in_database(comparisons.claim)("killed")
    assert claimed is not None
    await in_database(comparisons.progress)(claimed.id, "killed", [{"text": "half an ans"}])
    await in_database(ComparedAnswer.objects.update)(lease_until=Now())
    jobs.add(ReplayWorker)
    (answer,) = (await until(turn, "done")).answers
    assert answer.alike and "half an ans" not in answer.text


async def test_a_cancelled_answer_ends_its_request(jobs: JobRunner) -> None:
    slow = Simulator(pace_ms=300.0)
    await slow.start()
    turn, models = await a_turn(slow.url, "sim-honest")
    await begun(turn, models)
    jobs.add(ReplayWorker)
    await until(turn, "running")
    await in_database(comparisons.cancel)(turn.conversation.owner, turn.pk)
    worker = jobs._added[ReplayWorker]
    async with asyncio.timeout(10):
        while worker.busy:
            await asyncio.sleep(0.05)
    (answer,) = (await seen(turn)).answers
    assert answer.status == "cancelled"
    await providers.close()
    await slow.stop()


@pytest.fixture
def marks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file in which every tool of the site leaves its name when it is executed."""
    place = tmp_path / "marks"
    place.write_text("")

    def marking(name: str) -> Any:
        async def run(*given: Any) -> ToolResult:
            place.write_text(f"{place.read_text()}{name}\n")
            return ToolResult("executed")

        return run

    for name, tool in list(BUILTINS.items()):
        monkeypatch.setitem(BUILTINS, name, replace(tool, run=marking(name)))
    return place


# E4
async def test_no_tool_is_executed_in_a_replay_an_exam_or_an_exam_of_the_team(
    simulator: Simulator, jobs: JobRunner, marks: Path
) -> None:
    turn, (honest,) = await a_turn(simulator.url, "sim-honest")
    owner = turn.conversation.owner
    case = (await in_database(turn_case.of_turn)(owner, turn.pk)).case
    await begun(turn, [honest])
    await in_database(team_exams.add)("shop", case, owner.pk)
    suites = (await in_database(team_exams.suite)("shop"), ExamSuite("file", (replace(case, recorded=()),)))
    runs = [await in_database(exam_runs.open_run)(ExamRequest(honest, suite)) for suite in suites]
    jobs.add(ReplayWorker)
    jobs.spawn(jobs.examiner.serve())
    (answer,) = (await until(turn, "done")).answers
    assert [call.name for call in answer.calls] == ["read_file"]
    async with asyncio.timeout(60):
        while [run for run in runs if (await in_database(exam_reports.shown)(run)).open]:
            await asyncio.sleep(0.05)
    made = await in_database(lambda: [trial.replies[0]["calls"][0]["name"] for trial in ExamTrial.objects.all()])()
    assert len(made) >= 2 and set(made) == {"read_file"}
    assert marks.read_text() == ""
    assert await executed_in_a_chat(turn, honest, marks) == "read_file\n"


async def executed_in_a_chat(turn: Turn, profile: int, marks: Path) -> str:
    """The marks that the same request leaves in a chat, where it is executed."""
    chat = turn.conversation
    await in_database(Conversation.objects.filter(pk=chat.pk).update)(profile_id=profile)
    runner = TurnRunner()
    runner.start()
    try:
        await runner.begin(chat.owner_id, str(chat.pk), SentMessage("again", QUESTION))
        async with asyncio.timeout(30):
            while not marks.read_text():
                await asyncio.sleep(0.05)
    finally:
        await runner.stop()
    return marks.read_text()
