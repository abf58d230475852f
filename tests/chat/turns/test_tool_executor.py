"""The tools of a turn are those of its own request, independent of other chats and administrators."""

from __future__ import annotations

import asyncio
import csv
import re
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import pytest
from django.contrib.auth.models import User

from chat.models import Conversation
from chat.tools import BUILTINS, python_execution
from chat.tools.files.workspace import Workspace
from chat.tools.policy import CallDecision
from chat.tools.tool import ToolContext
from chat.transcript.settings import turn_settings
from chat.transcript.turns.begin import ClaimedTurn
from chat.transcript.turns.sent_message import SentMessage
from chat.turns.events import ApprovalNeeded
from chat.turns.tool_executor import ToolExecutor, previewed, tools_of
from tests.chat.started_turns import accept
from tests.factories import ConversationFactory, McpToolFactory, ModelProfileFactory
from toolsupport.core.errors import ToolError
from toolsupport.core.formats import FORMATS
from toolsupport.core.types import ToolCall
from toolsupport.models import McpTool, ModelProfile
from toolsupport.registry.knowledge import overrides
from toolsupport.registry.settings import tool_settings

pytestmark = pytest.mark.django_db
CONTEXT = ToolContext(Workspace(Path("/nowhere"), 10**6))


@pytest.fixture
def tool() -> McpTool:
    """An approved tool that only reads, of a server in the house."""
    made: McpTool = McpToolFactory(name="ask", server__name="box", server__in_house=True, read_only=True)
    return made


def conversation(alice: User) -> Conversation:
    profile = ModelProfileFactory()
    overrides.add(overrides.NewOverride(profile.pk, "tools", True))
    made: Conversation = ConversationFactory(owner=alice, profile=profile)
    return made


def begun(alice: User, where: Conversation) -> ClaimedTurn:
    claimed = accept(alice, str(where.pk), SentMessage("c1", "hi"), "me").claimed
    assert claimed is not None
    return claimed


def basis(executor: ToolExecutor) -> str:
    preview = executor.tools["box__ask"].preview
    assert preview is not None
    return preview(CONTEXT, {}).basis


# T9, SAFETY 2: a turn uses what it began with.
def test_a_turn_has_the_levels_and_digests_of_its_own_briefing(alice: User, tool: McpTool) -> None:
    first, second = conversation(alice), conversation(alice)
    before = begun(alice, first)
    McpTool.objects.update(read_only=False, digest="0" * 64)
    # Another conversation is briefed in between, and reads what the administrator changed.
    after = ToolExecutor(begun(alice, second), CONTEXT)
    mine = ToolExecutor(before, CONTEXT)
    call = ToolCall("c1", "box__ask", {})
    assert (mine.tools["box__ask"].level, basis(mine), mine.decide(call)) == ("A1", tool.digest, CallDecision.RUN)
    assert (after.tools["box__ask"].level, basis(after), after.decide(call)) == ("A3", "0" * 64, CallDecision.ASK)


def test_a_tool_that_is_gone_for_others_is_still_that_of_the_turn(alice: User, tool: McpTool) -> None:
    before = begun(alice, conversation(alice))
    tool.delete()
    turn_settings.prepared(conversation(alice))
    assert basis(ToolExecutor(before, CONTEXT)) == tool.digest


def test_a_briefing_needs_no_other_one_to_have_tools(alice: User, tool: McpTool) -> None:
    made = turn_settings.prepared(conversation(alice))
    assert [remote.digest for remote in made.remotes] == [tool.digest]
    tool.delete()
    assert "box__ask" in tools_of(made)
    assert "box__ask" not in tools_of(turn_settings.prepared(conversation(alice)))


def test_a_turn_that_is_briefed_again_runs_what_its_model_reads_then(alice: User, tool: McpTool) -> None:
    here = conversation(alice)
    executor = ToolExecutor(begun(alice, here), CONTEXT)
    McpTool.objects.update(read_only=False)
    assert executor.tools["box__ask"].level == "A1"
    executor.take(turn_settings.prepared(here))
    assert executor.tools["box__ask"].level == "A3"


# C3: what a tool raises ends its call, also where its question for a person is prepared.
@pytest.mark.parametrize("error", [KeyError("k"), csv.Error("c"), ToolError("words"), RecursionError()])
def test_a_question_that_cannot_be_prepared_fails_its_call(
    alice: User, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    executor = ToolExecutor(begun(alice, conversation(alice)), CONTEXT)
    monkeypatch.setattr("chat.turns.tool_executor.previewed", Mock(side_effect=error))
    asked = asyncio.run(executor.asking(ApprovalNeeded(ToolCall("c1", "write_file", {}))))
    decision = executor.decisions["c1"]
    assert (asked, decision.allowed) == (None, False)
    assert decision.why.startswith("words" if isinstance(error, ToolError) else "write_file failed")


# F5: a call in prose asks whatever its level, and a tool without a preview asks in words too.
@pytest.mark.parametrize(
    ("name", "arguments", "question"),
    [
        ("execute_sql", {"source": "stock", "query": "SELECT 1"}, "Query stock?"),
        ("read_file", {"path": "config.json"}, "Read config.json?"),
        ("list_directory", {"path": "."}, "List this folder?"),
        ("search_schemas", {"query": "orders"}, "Search tables for orders?"),
        ("read_file", {}, "Use read_file?"),
    ],
)
def test_a_call_of_a_tool_that_only_reads_is_asked_about_in_words(
    name: str, arguments: dict[str, str], question: str
) -> None:
    assert previewed(BUILTINS[name], ToolCall("c1", name, arguments), CONTEXT).question == question


# T9: what a program is promised is what it has.
def test_a_model_that_writes_programs_reads_of_the_functions_that_they_have(alice: User) -> None:
    where = conversation(alice)
    for name in ("python_execution", "bash"):
        tool_settings.switch(name, True, "A3", alice.pk)
    overrides.add(overrides.NewOverride(ModelProfile.objects.get().pk, "tool:read_file", "refused"))
    overrides.add(overrides.NewOverride(ModelProfile.objects.get().pk, "tool:bash", "native"))
    McpToolFactory(name="ask", server__name="box", read_only=True)
    McpToolFactory(name="send", server__name="box2", read_only=False)
    where.settings = {"toolset": ["box__ask", "box2__send"], "format": "code_mode"}
    prepared = turn_settings.prepared(where)
    assert prepared.request_spec.format == "code_mode"
    told = set(re.findall(r"^- (\w+)\(", FORMATS["code_mode"].instructions(prepared.request_spec.tools), re.MULTILINE))
    context = ToolExecutor(replace(begun(alice, where), prepared=prepared), CONTEXT)._context()
    assert told == set(python_execution.functions(context)) and {"read_file", "box__ask"} <= told
    # Another format may come before this one in a turn: bash is part of that one only.
    assert "bash(" not in FORMATS["code_mode"].instructions([BUILTINS["bash"].spec])


# T7
def test_a_tool_of_a_server_needs_no_search_where_a_program_calls_it(alice: User, tool: McpTool) -> None:
    model = conversation(alice).profile_id
    assert model is not None
    for wanted in ("box__ask", "read_file"):
        offered = {
            spec.name for spec in turn_settings.prepared_without_chat(model, alice.pk, wanted).request_spec.tools
        }
        assert ("box__ask" in offered) is (wanted == "box__ask")
