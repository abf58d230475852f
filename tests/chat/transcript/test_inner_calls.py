"""Calls of a program: shown inside it, left out of the model's history, continued from rows."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from chat.models import Conversation, Message, Question, ToolRun, Turn
from chat.pages import export_writers
from chat.tools.policy import CallOutcome, fingerprint
from chat.transcript.announcements import StartedCall
from chat.transcript.conversations.export import export
from chat.transcript.messages import history, present
from chat.transcript.messages.view_models import ShownCall
from chat.transcript.questions import questions
from chat.transcript.questions.questions import ApprovalRequest, SubmittedAnswer, TurnUsage
from chat.transcript.turn_store import TurnStore
from chat.transcript.turns import end as turn_end
from chat.transcript.turns import record
from chat.transcript.turns.begin import claim
from chat.transcript.turns.end import end, request_stop
from chat.transcript.turns.repeat_call import RepeatRequest
from chat.transcript.turns.sent_message import SentMessage
from tests.chat.started_turns import accept, reply_of, things
from tests.factories import ConversationFactory
from toolsupport.core.errors import NotFound
from toolsupport.core.events import CallReady
from toolsupport.core.types import ToolCall, ToolResult

pytestmark = pytest.mark.django_db
CODE = ToolCall("p1", "python_execution", {"code": "write_file('a.md', 'x')"})
WRITE = ToolCall("inner-1", "write_file", {"path": "a.md", "content": "x"})


@pytest.fixture
def program(alice: User) -> ToolRun:
    """A program that runs, in an answer of this process."""
    conversation: Conversation = ConversationFactory(owner=alice)
    accepted = accept(alice, str(conversation.pk), SentMessage("c1", "go"), "me")
    asked = record.RequestedCall(CODE, "native", "A3")
    record.finish_reply(
        TurnStore("me", accepted.turn), reply_of(accepted).id, record.FinishedReply("", "", None, (asked,))
    )
    record.start_call(TurnStore("me", accepted.turn), CODE.id)
    return ToolRun.objects.get()


def store_of(program: ToolRun) -> TurnStore:
    return TurnStore("me", program.turn_id)


def inside(program: ToolRun) -> ToolRun:
    """The program calls a tool."""
    made = record.RequestedCall(WRITE, "code_mode", "A2", program=program.pk)
    record.made_inside(store_of(program), program.message_id, made)
    return ToolRun.objects.get(program=program)


def parked(program: ToolRun, inner: ToolRun) -> ShownCall:
    asking = ApprovalRequest(WRITE, "Write?", "", True, state=b"\x00state\xff")
    [card] = things(questions.park(store_of(program), inner.pk, asking, TurnUsage({})), StartedCall)
    return card.call


# T9
def test_the_card_of_a_call_stands_in_that_of_its_program(alice: User, program: ToolRun) -> None:
    inner = inside(program)
    record.start_call(store_of(program), WRITE.id)
    card = record.finish_call(store_of(program), inner.pk, CallOutcome("done", ToolResult("Wrote."), 3)).thing.call
    assert card.program == str(program.pk) and not card.repeatable
    whole = record.finish_call(store_of(program), program.pk, CallOutcome("done", ToolResult("end"), 9)).thing.call
    assert [call.result for call in whole.inner] == ["Wrote."] and whole.repeatable
    [message] = [one for one in present.messages(program.turn.conversation) if one.calls]
    assert [(call.name, [one.name for one in call.inner]) for call in message.calls] == [
        ("python_execution", ["write_file"])
    ]
    exported = export(alice, str(program.turn.conversation_id))
    [calls] = [entry.calls for entry in exported.messages if entry.calls]
    assert [call["result"] for call in calls] == ["end"] and calls[0]["calls"][0]["result"] == "Wrote."
    written = export_writers.markdown(exported)
    assert written.index("python_execution") < written.index("**write_file**")


def test_a_model_is_told_of_its_program_only(program: ToolRun) -> None:
    inner = inside(program)
    record.finish_call(store_of(program), inner.pk, CallOutcome("done", ToolResult("Wrote."), 3))
    record.finish_call(store_of(program), program.pk, CallOutcome("done", ToolResult("end"), 9))
    program.turn.conversation.refresh_from_db()
    log = history.canonical(program.turn.conversation)
    assert [call.name for message in log for call in message.calls] == ["python_execution"]
    assert [message.content for message in log if message.call_id] == ["end"]


# T11
def test_a_parked_program_is_gone_on_with_from_its_rows(alice: User, program: ToolRun) -> None:
    found = parked(program, inside(program))
    assert (found.id, found.status, found.asks) == (str(program.pk), "waiting", True)
    questions.answer(alice, Question.objects.get(answer="").pk, SubmittedAnswer("once"))
    accepted = claim(program.turn_id, "another process")
    assert accepted is not None and accepted.resumed is not None
    resumed = accepted.resumed
    assert resumed.pending == (CODE,) and resumed.pause is not None
    assert (resumed.pause.asked, resumed.pause.state) == (CallReady(WRITE), b"\x00state\xff")
    assert resumed.decisions[WRITE.id].allowed and CODE.id not in resumed.decisions
    assert [message.call_id for message in accepted.history if message.call_id] == []


def test_the_state_is_forgotten_with_the_end(alice: User, program: ToolRun) -> None:
    parked(program, inside(program))
    request_stop(alice, str(program.turn.conversation_id))
    assert list(ToolRun.objects.values_list("status", "snapshot")) == [("stopped", None)] * 2
    assert not Question.objects.filter(answer="").exists()


def test_an_allowed_call_is_bound_to_its_arguments(alice: User, program: ToolRun) -> None:
    inner = inside(program)
    parked(program, inner)
    questions.answer(alice, Question.objects.get(answer="").pk, SubmittedAnswer("once"))
    ToolRun.objects.filter(pk=inner.pk).update(arguments={"path": "b.md", "content": "x"})
    inner.refresh_from_db()
    decision = questions.decision(inner, Turn.objects.select_related("conversation").get())
    assert decision is not None and not decision.allowed
    assert Question.objects.get().binds == fingerprint(WRITE, questions.place(inner.turn))


def test_a_call_of_a_program_is_not_run_again_alone(alice: User, program: ToolRun) -> None:
    inner = inside(program)
    record.finish_call(store_of(program), inner.pk, CallOutcome("done", ToolResult("Wrote."), 3))
    record.finish_call(store_of(program), program.pk, CallOutcome("done", ToolResult("end"), 9))
    end(TurnStore("me", program.turn_id), turn_end.TurnOutcome("done"))
    with pytest.raises(NotFound):
        accept(alice, str(program.turn.conversation_id), RepeatRequest("again", str(inner.pk)), "me")


# F4
def test_a_call_that_did_not_fit_stands_in_its_program_too(program: ToolRun) -> None:
    rejection = record.CallRejection("r1", "write_file", "No path.", "{}", program.pk)
    card = record.reject_call(store_of(program), program.message_id, rejection).thing.call
    assert (card.program, card.status) == (str(program.pk), "rejected")
    message = Message.objects.get(pk=program.message_id)
    [only] = present.message(message, message.tool_runs.order_by("id")).calls
    assert [call.error for call in only.inner] == ["No path."]
