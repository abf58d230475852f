"""Words of others are remembered as long as a model reads them; approvals hold for what a person saw."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.utils import timezone

from chat.broadcast import fragments
from chat.mcp import mcp_tools
from chat.models import Conversation, Question, ToolRun
from chat.tools import policy
from chat.tools.files.workspace import Workspace
from chat.tools.policy import CallDecision
from chat.tools.tool import ToolContext
from chat.transcript.messages.view_models import ShownCall, ShownQuestion
from chat.transcript.questions import questions
from chat.transcript.questions.questions import ApprovalDecision, ApprovalRequest, SubmittedAnswer, TurnUsage
from chat.transcript.turn_store import TurnStore
from chat.transcript.turns import api_tool_call, record
from chat.transcript.turns.begin import AcceptedMessage, ClaimedTurn
from chat.transcript.turns.end import TurnOutcome, end
from chat.transcript.turns.sent_message import START, SentMessage
from chat.turns.events import ApprovalNeeded
from chat.turns.tool_executor import ToolExecutor
from tests.chat.started_turns import accept, reply_of
from tests.factories import ConversationFactory, McpServerFactory, McpToolFactory, ModelProfileFactory
from toolsupport.core import invisible_chars
from toolsupport.core.errors import ToolError
from toolsupport.core.text_diff import compared
from toolsupport.core.types import ChatMessage, Role, ToolCall, ToolResult
from toolsupport.registry.knowledge import overrides

pytestmark = pytest.mark.django_db
WRITE = ToolCall("w1", "write_file", {"path": "a.md", "content": "x"})
LEVELS = {"read_file": "A1", "list_directory": "A1", "write_file": "A2", "bash": "A3", "python_execution": "A3"}


@pytest.fixture
def conversation(alice: User) -> Conversation:
    """One in which `write_file` is allowed for good."""
    profile = ModelProfileFactory()
    overrides.add(overrides.NewOverride(profile.pk, "tools", True))
    made: Conversation = ConversationFactory(owner=alice, profile=profile)
    made.grants.create(tool="write_file", granted_by=alice)
    return made


def begun(conversation: Conversation, said: str, parent: int | None = None) -> AcceptedMessage:
    return accept(conversation.owner, str(conversation.pk), SentMessage(said, said, parent), "me")


def executor(claimed: ClaimedTurn | None) -> ToolExecutor:
    assert claimed is not None
    return ToolExecutor(claimed, ToolContext(Workspace(Path("/nowhere"), 10**6)))


def asked(name: str, call_id: str = "c1", program: int | None = None) -> record.RequestedCall:
    return record.RequestedCall(ToolCall(call_id, name, {}), "native", LEVELS[name], program=program)


def made(conversation: Conversation, name: str, status: str, inner: str = "") -> None:
    """A whole turn in which a tool (or, inside of it, another one) came to this."""
    accepted = begun(conversation, "first")
    record.finish_reply(
        TurnStore("me", accepted.turn), reply_of(accepted).id, record.FinishedReply("", "", None, (asked(name),))
    )
    card = record.start_call(TurnStore("me", accepted.turn), "c1").thing.call
    if inner:
        record.made_inside(TurnStore("me", accepted.turn), reply_of(accepted).id, asked(inner, "inner", int(card.id)))
        record.finish_call(
            TurnStore("me", accepted.turn),
            ToolRun.objects.get(name=inner).pk,
            policy.CallOutcome("done", ToolResult("words"), 1),
        )
    outcome = policy.CallOutcome(status, ToolResult("words", is_error=status != "done"), 1)
    record.finish_call(TurnStore("me", accepted.turn), int(card.id), outcome)
    end(TurnStore("me", accepted.turn), TurnOutcome("done"))


# SAFETY 3.5: the words stand in the question of the next turn as well.
@pytest.mark.parametrize(
    ("name", "status", "inner", "verdict"),
    [
        ("read_file", "done", "", CallDecision.ASK),
        ("read_file", "failed", "", CallDecision.ASK),
        ("list_directory", "done", "", CallDecision.ASK),
        ("bash", "stopped", "", CallDecision.ASK),
        ("python_execution", "done", "read_file", CallDecision.ASK),
        ("python_execution", "done", "", CallDecision.RUN),
        ("bash", "denied", "", CallDecision.RUN),
        ("write_file", "done", "", CallDecision.RUN),
    ],
)
def test_a_later_turn_still_reads_what_was_read(
    conversation: Conversation, name: str, status: str, inner: str, verdict: CallDecision
) -> None:
    made(conversation, name, status, inner)
    later = begun(conversation, "second")
    assert executor(later.claimed).decide(WRITE) is verdict
    end(TurnStore("me", later.turn), TurnOutcome("done"))
    # Where nothing of it is told any more, the permission holds again.
    assert executor(begun(conversation, "third", START).claimed).decide(WRITE) is CallDecision.RUN


# SAFETY 3.5
def test_an_image_may_say_something_too(conversation: Conversation) -> None:
    claimed = begun(conversation, "look").claimed
    assert claimed is not None
    assert not executor(claimed).tainted
    shown = (ChatMessage(Role.USER, "look", images=(b"png",)),)
    assert executor(replace(claimed, history=shown)).decide(WRITE) is CallDecision.ASK


# SAFETY 3.4
def test_an_approval_is_not_for_another_tool_of_that_name(conversation: Conversation) -> None:
    mine = executor(begun(conversation, "go").claimed)
    for level, why in (("A2", ""), ("A0", "became another tool"), ("", "became another tool")):
        assert why in mine._why_not(ApprovalDecision(True, level=level), WRITE)
        mine.decisions[WRITE.id] = ApprovalDecision(True, level=level)
        outcome = asyncio.run(mine.run(WRITE)) if why else None
        assert outcome is None or (outcome.status == "denied" and why in outcome.result.content)


def waiting(conversation: Conversation) -> ToolRun:
    """A command that a person has just allowed."""
    accepted = begun(conversation, "go")
    record.finish_reply(
        TurnStore("me", accepted.turn), reply_of(accepted).id, record.FinishedReply("", "", None, (asked("bash"),))
    )
    run = ToolRun.objects.get()
    asking = ApprovalRequest(ToolCall("c1", "bash", {}), "Run?", "", grantable=False)
    questions.park(TurnStore("me", accepted.turn), run.pk, asking, TurnUsage({}))
    questions.answer(conversation.owner, Question.objects.get(answer="").pk, SubmittedAnswer("once"))
    run.refresh_from_db()
    return run


# SAFETY 3.4: ten minutes, also where nobody was there to run it.
def test_what_was_allowed_yesterday_is_not_run_today(conversation: Conversation) -> None:
    run = waiting(conversation)
    assert questions.decision(run, run.turn) == ApprovalDecision(True, level="A3")
    Question.objects.update(answered_at=timezone.now() - timedelta(minutes=11))
    found = questions.decision(run, run.turn)
    assert found is not None and not found.allowed and "too old" in found.why
    # A program runs since it was allowed, and waits for a call of its own.
    run.snapshot = b"state"
    assert questions.decision(run, run.turn) == ApprovalDecision(True, level="A3")


# SAFETY 3.3, 3.4
def test_an_approval_is_for_the_definition_that_held(tmp_path: Path) -> None:
    row = McpToolFactory(name="send")
    first = mcp_tools.named(f"{row.server.name}__send")
    assert first is not None and first.preview is not None
    context = ToolContext(Workspace(tmp_path, 10**6))
    basis = first.preview(context, {}).basis
    assert basis == row.digest
    row.digest = "0" * 64
    row.save()
    second = mcp_tools.named(f"{row.server.name}__send")
    assert second is not None
    with pytest.raises(ToolError, match="redefined"):
        async_to_sync(second.run)(replace(context, basis=basis), {})
    with pytest.raises(ToolError, match="not connected"):
        async_to_sync(second.run)(replace(context, basis=row.digest), {})


# SAFETY 3.1: a program that asks for a tool of others is shown the arguments as code, as a model is.
def test_a_call_of_a_program_has_the_level_of_its_tool(alice: User, conversation: Conversation) -> None:
    row = McpToolFactory(name="send")
    name = f"{row.server.name}__send"
    conversation.settings = {"toolset": [name]}
    conversation.save()
    wish = api_tool_call.CallRequest(conversation.profile_id or 0, name, {})
    accept(alice, str(conversation.pk), wish, "me")
    assert ToolRun.objects.get().level == "A3"


# SAFETY 3.1: what is allowed is read as it runs.
@pytest.mark.parametrize("sign", ["\u202e", "\u2066", "\u200b", "\r", "\x1b", "\x08", "\u3164", "\U000e0041", "\u2028"])
def test_letters_that_nobody_sees_are_written_out(sign: str) -> None:
    hidden = f"echo safe {sign}# rm"
    code = fragments.question(ShownQuestion(1, "approval", hidden, ("once",), "", None, code=hidden))
    diff = fragments.question(ShownQuestion(1, "approval", hidden, ("once",), compared("a", "", hidden), None))
    shown = ShownCall("1", "bash", "Run", hidden, {"command": hidden}, "waiting", "", "bash")
    for html in (code, diff, fragments.call(shown).partition("As JSON")[0]):
        assert sign not in html and html.count(invisible_chars.written_out(sign)) == 2


def test_a_change_of_what_ends_a_line_is_shown() -> None:
    assert compared("a.sh", "# a\u2028rm b", "# a\nrm b").splitlines()[-2:] == ["+# a", "+rm b"]
    assert compared("a.md", "one\r\ntwo\r\n", "one\ntwo\n") == ""


def reading(conversation: Conversation, **server: bool) -> ToolCall:
    """A call of a tool of others, which an administrator marked as only reading."""
    row = McpToolFactory(name="look_up", read_only=True, server=McpServerFactory(**server))
    conversation.settings = {"toolset": [f"{row.server.name}__look_up"]}
    conversation.save()
    return ToolCall("m1", f"{row.server.name}__look_up", {"words": "of a file"})


# SAFETY 3.5: what a reading tool is asked leaves the house, where nobody said that it does not.
@pytest.mark.parametrize(("in_house", "then"), [(False, CallDecision.ASK), (True, CallDecision.RUN)])
def test_a_question_to_others_carries_nothing_out_unasked(
    conversation: Conversation, in_house: bool, then: CallDecision
) -> None:
    look_up = reading(conversation, in_house=in_house)
    mine = executor(begun(conversation, "go").claimed)
    assert mine.decide(look_up) is CallDecision.RUN
    mine.finished(ToolCall("r1", "read_file", {"path": "a.md"}))
    assert mine.decide(look_up) is then
    asking = asyncio.run(mine.asking(ApprovalNeeded(look_up)))
    assert asking is not None and not asking.grantable
    assert "outside content" in asking.reason and "of a file" in asking.code


def test_what_was_not_asked_for_is_not_run(conversation: Conversation) -> None:
    look_up = reading(conversation)
    mine = executor(begun(conversation, "go").claimed)
    mine.tainted = True
    outcome = asyncio.run(mine.run(look_up))
    assert (outcome.status, outcome.duration_ms) == ("denied", 0)
