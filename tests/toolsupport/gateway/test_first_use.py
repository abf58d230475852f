"""A model that was never tested is tested before a program's tools are left out (G8)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
import pytest_asyncio
from channels.db import database_sync_to_async as in_database
from django.test import AsyncClient

from tests.effective_values import holding
from tests.factories import ModelProfileFactory, UserFactory
from tests.tables import every
from tests.toolsupport.gateway.conftest import LIST, PATH, Program, pieces
from tests.toolsupport.gateway.test_required_calls import ASKED
from toolsupport.core.first_use_rules import untested
from toolsupport.core.types import Capabilities, Capability
from toolsupport.models import Detection, Override
from toolsupport.registry.knowledge import overrides
from toolsupport.registry.knowledge.overrides import NewOverride
from toolsupport.registry.settings import switches
from toolsupport.registry.testing import detections, first_uses
from toolsupport.registry.testing.detections import DetectionRequest, DetectionResult
from toolsupport.services import background_jobs, first_use_waits
from toolsupport.services.background_jobs import JobRunner

Knows = Callable[..., Any]
READ = {"type": "function", "function": {"name": "read_file", "description": "Returns a file.", "parameters": PATH}}
CONFIG = {"role": "user", "content": "Read the file config.json"}


@every(
    ("value", "source", "expected"),
    [
        *((None, "default", True), (False, "declared", True), (False, "profile", True)),
        *((False, "auto_detected", False), (False, "auto_detected_stale", False), (False, "user_confirmed", False)),
        *((False, "session", False), (True, "declared", False), (True, "profile", False)),
    ],
)
def test_only_what_nobody_measured_or_decided_is_tested(value: Any, source: str, expected: bool) -> None:
    assert untested(Capabilities({"tools": Capability("tools", value, source, "Why.")})) is expected


@pytest_asyncio.fixture
async def worker(transactional_db: None) -> AsyncIterator[JobRunner]:
    """The process runs tests; none is looked for unless something asks for it."""
    jobs = background_jobs.current()
    jobs.spawn(jobs.tester.serve())
    yield jobs
    await background_jobs.shut_down()


def rows() -> list[dict[str, Any]]:
    return [{**row} for row in Detection.objects.order_by("pk").values("trigger", "status", "kind")]


@pytest.mark.asyncio
async def test_twenty_programs_at_once_cause_one_test_and_all_get_their_call(
    program: Program, knows: Knows, worker: JobRunner
) -> None:
    await knows("sim-unknown")
    asked = [("list_directory", {}), ("read_file", {"tools": [READ], "messages": [CONFIG]})] * 10
    answers = await asyncio.gather(*(program.ask("sim-unknown", **fields) for _, fields in asked))
    for (tool, _), answer in zip(asked, answers, strict=True):
        [call] = answer.json()["choices"][0]["message"]["tool_calls"]
        assert call["function"]["name"] == tool, answer.content
        assert answer.headers["X-Toolsupport-First-Use"] == "tested"
        assert answer.headers["X-Toolsupport-Format"] == "native"
    [row] = await in_database(rows)()
    assert (row["trigger"], row["kind"]) == ("program", "tools")
    later = await program.ask("sim-unknown")
    assert later.headers["X-Toolsupport-Format"] == "native" and "X-Toolsupport-First-Use" not in later.headers


@pytest.mark.asyncio
@pytest.mark.parametrize("path", ASKED)
async def test_every_api_waits_whole_and_streamed(program: Program, knows: Knows, worker: JobRunner, path: str) -> None:
    headers = {"Authorization": f"Bearer {program.key}"}
    auto = {"type": "auto"} if path == "/v1/messages" else "auto"
    for name, stream in (("sim-unknown", False), ("sim-honest", True)):
        await knows(name)
        body = ASKED[path][0] | {"tool_choice": auto, "model": name, "stream": stream}
        answer: Any = await AsyncClient().post(path, body, content_type="application/json", headers=headers)
        text = b"".join([piece async for piece in answer.streaming_content]) if stream else answer.content
        assert answer.status_code == 200 and b"list_directory" in text, text


@pytest.mark.asyncio
async def test_a_model_whose_server_denies_tools_is_tested_and_gets_them_as_text(
    program: Program, knows: Knows, worker: JobRunner
) -> None:
    number = await knows("sim-hermes")
    await in_database(overrides.declare)(number, {"tools": False})
    answer = await program.ask("sim-hermes")
    assert answer.headers["X-Toolsupport-Format"] == "hermes", answer.content
    assert answer.json()["choices"][0]["finish_reason"] == "tool_calls"


def decided(number: int) -> None:
    overrides.add(NewOverride(number, "tools", False, "user_confirmed", reason="No."))


@pytest.mark.asyncio
async def test_a_decision_and_a_measured_no_are_not_tested_again(
    program: Program, knows: Knows, worker: JobRunner
) -> None:
    await in_database(decided)(await knows("sim-unknown"))
    answer = await program.ask("sim-unknown")
    assert answer.headers["X-Toolsupport-Tools-Left-Out"] == "unsupported"
    assert not await Detection.objects.aexists()


@pytest.mark.asyncio
@pytest.mark.parametrize("fields", [{"tools": []}, {"tool_choice": "none"}])
async def test_a_request_that_wants_no_call_tests_nothing(
    program: Program, knows: Knows, worker: JobRunner, fields: dict[str, Any]
) -> None:
    await knows("sim-unknown")
    assert (await program.ask("sim-unknown", **fields)).status_code == 200
    assert not await Detection.objects.aexists()


@pytest.mark.asyncio
async def test_the_team_may_leave_tools_out_or_refuse(program: Program, knows: Knows) -> None:
    await knows("sim-unknown")
    await in_database(switches.put)({"first_use": "leave_out"})
    answer = await program.ask("sim-unknown")
    assert answer.headers["X-Toolsupport-Tools-Left-Out"] == "unknown"
    await in_database(switches.put)({"first_use": "refuse"})
    for stream in (False, True):
        answer = await program.ask("sim-unknown", stream=stream)
        assert (answer.status_code, answer.json()["error"]["code"]) == (409, "model_not_tested")
    assert (await program.ask("sim-unknown", tools=[])).status_code == 200
    await in_database(switches.put)({"first_use": "test", "filter_only": "on"})
    assert (await program.ask("sim-unknown")).headers["X-Toolsupport-Tools-Left-Out"] == "unknown"
    assert not await Detection.objects.aexists()


@pytest.mark.asyncio
async def test_an_undecided_test_leaves_the_tools_out_and_goes_on(
    program: Program, knows: Knows, monkeypatch: pytest.MonkeyPatch
) -> None:
    # No process runs tests here: the test waits in its queue.
    await knows("sim-unknown")
    monkeypatch.setattr(first_uses, "PATIENCE", first_uses.PATIENCE * 0)
    await in_database(switches.put)({"tools_notice": "on"})
    answer = await program.ask("sim-unknown")
    assert answer.headers["X-Toolsupport-First-Use"] == "undecided"
    assert answer.headers["X-Toolsupport-Tools-Left-Out"] == "unknown"
    text = answer.json()["choices"][0]["message"]["content"]
    assert text.startswith("The tools of this request were left out: no test shows yet whether")
    assert [row["status"] for row in await in_database(rows)()] == ["queued"]
    whole = "".join(
        piece["choices"][0]["delta"].get("content", "") for piece in pieces(await program.stream("sim-unknown"))
    )
    assert whole == text


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "fields",
    [
        {"response_format": {"type": "json_object"}},
        {"tools": [{"type": "function", "function": {**LIST["function"], "strict": True}}]},  # type: ignore[dict-item]
        {"tools": []},
    ],
)
async def test_the_notice_breaks_no_answer_that_is_parsed(
    program: Program, knows: Knows, fields: dict[str, Any]
) -> None:
    await knows("sim-honest", tools=False)
    await in_database(switches.put)({"tools_notice": "on"})
    answer = await program.ask("sim-honest", **fields)
    assert "left out" not in (answer.json()["choices"][0]["message"]["content"] or "")


@pytest.mark.asyncio
async def test_a_stream_sends_comments_while_its_model_is_tested(
    program: Program, knows: Knows, worker: JobRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(first_use_waits, "COMMENT", 0.05)
    await knows("sim-unknown")
    answer = await program.ask("sim-unknown", stream=True)
    assert answer.headers["X-Toolsupport-First-Use"] == "testing"
    assert "X-Toolsupport-Tools-Left-Out" not in answer.headers
    text = b"".join([piece async for piece in answer.streaming_content]).decode()
    assert text.startswith(": ")
    lines = [line for line in text.split("\n") if line.startswith("data: {")]
    told = [json.loads(line[6:])["x_toolsupport"] for line in lines if "x_toolsupport" in line]
    assert [(one["first_use"], one["format"]) for one in told] == [("tested", "native")]


@pytest.mark.asyncio
async def test_a_program_that_leaves_does_not_end_the_test_for_the_others(
    program: Program, knows: Knows, worker: JobRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(first_use_waits, "COMMENT", 0.01)
    await knows("sim-unknown")
    leaves = asyncio.create_task(program.ask("sim-unknown", stream=True))
    stays = asyncio.create_task(program.ask("sim-unknown"))
    await (await leaves)._iterator.aclose()
    assert (await stays).headers["X-Toolsupport-First-Use"] == "tested"


@pytest.mark.asyncio
async def test_a_required_call_waits_for_the_test_too(program: Program, knows: Knows, worker: JobRunner) -> None:
    await knows("sim-unknown")
    answer = await program.ask("sim-unknown", tool_choice="required")
    assert answer.json()["choices"][0]["finish_reason"] == "tool_calls", answer.content
    await knows("sim-hopeless-json")
    answer = await program.ask("sim-hopeless-json", tool_choice="required")
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "tool_choice_not_met")


@pytest.mark.django_db
def test_a_finding_is_stored_once_and_the_end_of_the_test_adds_to_it() -> None:
    profile = ModelProfileFactory()
    one, two = (first_uses.open_for(profile.pk, UserFactory().pk) for _ in range(2))
    assert one is not None and one == two and not first_uses.settled(one)
    assert detections.claim("here") == one
    assert first_uses.found(one, "here", {"tools": True, "parallel": False}, "Called natively: 3 of 3.")
    assert not first_uses.found(one, "here", {"tools": True}, "Again.")
    assert first_uses.settled(one) and holding(profile, "tools").value is True
    concluded = DetectionResult("native", {}, {"tools": True, "parallel": True}, "Called natively: 3 of 3.")
    assert detections.conclude(one, "here", concluded)
    stored = Override.objects.filter(detection=one).values_list("capability", "value")
    assert sorted(stored) == [("parallel", True), ("tools", True)]
    assert Detection.objects.get(pk=one).detail["confirmed"] == []


@pytest.mark.django_db
def test_a_test_that_decided_nothing_is_not_repeated_for_the_next_request() -> None:
    profile, actor = ModelProfileFactory(), UserFactory().pk
    test = first_uses.open_for(profile.pk, actor)
    assert test is not None and detections.claim("here") == test
    detections.conclude(test, "here", DetectionResult("inconclusive", {}, {}, "Nothing."))
    assert first_uses.open_for(profile.pk, actor) is None


@pytest.mark.django_db
def test_what_an_answer_waits_for_is_tested_before_what_people_asked_for() -> None:
    waiting, wanted = ModelProfileFactory(), ModelProfileFactory()
    detections.open_test(DetectionRequest(waiting.pk, "bulk"))
    test = first_uses.open_for(wanted.pk, UserFactory().pk)
    assert detections.claim("here") == test
