"""An exam asks a model that must call as a chat asks it: constrained, where its server enforces a schema."""

from __future__ import annotations

from typing import Any

import pytest
from channels.db import database_sync_to_async as in_database

from tests.factories import ModelProfileFactory, ServerFactory, UserFactory
from tests.toolsupport.gateway.conftest import PATH
from tests.toolsupport.gateway.test_constrained import FORCED, native, says
from tests.toolsupport.providers.scripted import Scripted, Step, scripted
from toolsupport.core.exams.cases import ExamCase, ExpectedCall, RecordedResult
from toolsupport.core.types import ChatMessage, ChatSettings, Role, ToolSpec
from toolsupport.examination import case_request
from toolsupport.examination.case_dialog import CaseDialog, CaseModel
from toolsupport.registry.knowledge import overrides
from toolsupport.registry.knowledge.overrides import NewOverride
from toolsupport.registry.models import request_context

CASE = ExamCase(
    "folder",
    (ChatMessage(Role.USER, "What is in this folder?"),),
    (ToolSpec("list_directory", "Lists.", PATH),),
    (ExpectedCall("list_directory", {"path": "."}),),
    (RecordedResult("list_directory", "notes.md", {"path": "."}),),
)
ANSWER = says({"content": "notes.md"})


def taking(server: Scripted, kind: str) -> CaseDialog:
    made = ServerFactory(kind=kind, base_url=f"http://127.0.0.1:{server.port}")
    profile = ModelProfileFactory(server=made, name="m", options={"tool_choice": "required"})
    person = UserFactory().pk
    for name, value in {"tools": True, "constrains": "enforced"}.items():
        overrides.add(NewOverride(profile.pk, name, value, actor=person, reason="For this test."))
    prepared = request_context.request_spec(profile.pk, CASE.tools, ChatSettings())
    return CaseDialog(CaseModel(prepared.endpoint, case_request.of_case(prepared, CASE)), CASE)


@pytest.mark.django_db(transaction=True)
@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("kind", "first", "constrained"),
    [("llamacpp", FORCED, True), ("lmstudio", FORCED, True), ("vllm", native('{"path": "."}'), False)],
)
async def test_a_required_call_is_constrained_in_an_exam(kind: str, first: list[Step], constrained: bool) -> None:  # K4
    async with scripted(first, ANSWER) as server:
        dialog = await in_database(taking)(server, kind)
        trial = await dialog.run()
        bodies: list[dict[str, Any]] = server.bodies
    assert trial.grade.code == "right", trial.grade
    assert ["response_format" in body for body in bodies] == [constrained, False]
    assert "tools" not in bodies[0] or not constrained
    assert (bodies[0].get("tool_choice") == "required") is not constrained
