"""A question about a call: who may answer it, the effect of each answer, and the scope of a permission."""

from __future__ import annotations

from datetime import timedelta
from html.parser import HTMLParser
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from chat.models import Conversation, Question, ToolRun, Turn
from chat.tools import BUILTINS, policy
from chat.transcript.questions import questions
from chat.transcript.questions.questions import ApprovalRequest, SubmittedAnswer
from chat.transcript.turn_store import TurnStore
from chat.transcript.turns import record
from chat.transcript.turns.sent_message import SentMessage
from tests.chat.started_turns import accept, reply_of
from tests.factories import ConversationFactory
from tests.tables import every
from toolsupport.core.errors import Conflict, NotFound
from toolsupport.core.types import ToolCall

pytestmark = pytest.mark.django_db
WRITE = ToolCall("c1", "write_file", {"path": "notes.md", "content": "hello"})


@pytest.fixture
def conversation(alice: User) -> Conversation:
    made: Conversation = ConversationFactory(owner=alice)
    return made


def parked(conversation: Conversation, grantable: bool = True, client_id: str = "c1", call: ToolCall = WRITE) -> int:
    """The question of a turn that waits until somebody allows it to write a file."""
    sent = SentMessage(client_id, "write it down")
    begun = accept(conversation.owner, str(conversation.pk), sent, "me")
    store = TurnStore("me", begun.turn)
    asked = record.RequestedCall(call, "native", "A2")
    record.finish_reply(store, reply_of(begun).id, record.FinishedReply("", "", None, (asked,)))
    asking = ApprovalRequest(call, "Write notes.md?", "+hello", grantable)
    questions.park(store, record.run_of(begun.turn, call.id), asking, questions.TurnUsage({}))
    return Question.objects.latest("pk").pk


def decided() -> questions.ApprovalDecision | None:
    return questions.decision(ToolRun.objects.latest("pk"), Turn.objects.latest("pk"))


# T11: (answer, whether the call may run, whether the next one needs no question)
@pytest.mark.parametrize(
    ("answer", "allowed", "granted"),
    [
        ("once", True, []),
        ("chat", True, ["write_file"]),
        ("file", True, ["write_file\x1fnotes.md"]),
        ("deny", False, []),
    ],
)
def test_what_each_answer_does(
    alice: User, conversation: Conversation, answer: str, allowed: bool, granted: list[str]
) -> None:
    question = parked(conversation)
    assert decided() is None
    closed = questions.answer(alice, question, SubmittedAnswer(answer))
    decision = decided()
    assert decision is not None and decision.allowed is allowed
    assert allowed or "did not allow" in decision.why
    assert sorted(questions.granted(str(conversation.pk))) == granted
    assert [policy.grant(one.tool, one.path) for one in questions.grants(alice, str(conversation.pk))] == granted
    turn = Turn.objects.get()
    assert (closed.answer, closed.turn, turn.status) == (answer, turn.pk, "queued")


def test_the_reason_of_a_denial_reaches_the_model(alice: User, conversation: Conversation) -> None:
    questions.answer(alice, parked(conversation), SubmittedAnswer("deny", reply="keep the\n old file" + "." * 600))
    decision = decided()
    assert decision is not None and not decision.allowed
    assert "The person wrote: keep the old file..." in decision.why and len(decision.why) < 700


def test_a_reason_beside_an_approval_is_not_kept(alice: User, conversation: Conversation) -> None:
    questions.answer(alice, parked(conversation), SubmittedAnswer("once", reply="typed, then allowed"))
    assert Question.objects.get().reply == ""


@pytest.mark.parametrize(
    ("grantable", "answer"),
    [(True, ""), (True, "yes"), (True, "Once"), (True, "auto"), (True, "expired"), (False, "chat"), (False, "file")],
)
def test_what_is_no_answer_changes_nothing(
    alice: User, conversation: Conversation, grantable: bool, answer: str
) -> None:
    question = parked(conversation, grantable)
    with pytest.raises(ValueError, match="Answer with one of once"):
        questions.answer(alice, question, SubmittedAnswer(answer))
    assert decided() is None and Turn.objects.get().status == "waiting"
    assert questions.granted(str(conversation.pk)) == frozenset()


def test_nobody_else_answers(bob: User, charlie: User, conversation: Conversation) -> None:
    question = parked(conversation)
    for stranger in (bob, charlie):
        with pytest.raises(NotFound):
            questions.answer(stranger, question, SubmittedAnswer("once"))
    with pytest.raises(NotFound):
        questions.answer(conversation.owner, question + 1000, SubmittedAnswer("once"))
    assert decided() is None


@pytest.mark.parametrize("first", ["once", "deny"])
def test_the_first_answer_stands(alice: User, conversation: Conversation, first: str) -> None:
    question = parked(conversation)
    questions.answer(alice, question, SubmittedAnswer(first))
    with pytest.raises(Conflict) as refused:
        questions.answer(alice, question, SubmittedAnswer("chat"))
    assert refused.value.current == first
    assert questions.granted(str(conversation.pk)) == frozenset()


# SAFETY 3.4: ten minutes, and not a second more.
@pytest.mark.parametrize(("left", "late"), [(timedelta(seconds=30), False), (timedelta(seconds=-1), True)])
def test_a_question_runs_out(alice: User, conversation: Conversation, left: timedelta, late: bool) -> None:
    question = parked(conversation)
    expires = Question.objects.get().expires_at
    assert expires is not None and timedelta(minutes=9) < expires - timezone.now() <= timedelta(minutes=10)
    Question.objects.update(expires_at=timezone.now() + left)
    if not late:
        assert questions.expire() == []
        questions.answer(alice, question, SubmittedAnswer("once"))
        return
    with pytest.raises(Conflict, match="expired"):
        questions.answer(alice, question, SubmittedAnswer("once"))
    assert [(one.question, one.answer) for one in questions.expire()] == [(question, "expired")]
    assert questions.expire() == []
    decision = decided()
    assert decision is not None and not decision.allowed and "in time" in decision.why


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"arguments": {"path": "other.md", "content": "hello"}}, "changed"),
        ({"arguments": {"path": "notes.md", "content": "hello "}}, "changed"),
        ({"name": "edit_file"}, "changed"),
    ],
    ids=["path", "one space", "tool"],
)
def test_an_answer_holds_for_exactly_what_was_shown(
    alice: User, conversation: Conversation, changed: dict[str, Any], why: str
) -> None:
    questions.answer(alice, parked(conversation), SubmittedAnswer("once"))
    ToolRun.objects.update(**changed)
    decision = decided()
    assert decision is not None and not decision.allowed and why in decision.why


@pytest.mark.parametrize(("minutes", "allowed"), [(9, True), (11, False)])
def test_what_was_allowed_is_run_soon_or_never(
    alice: User, conversation: Conversation, minutes: int, allowed: bool
) -> None:
    questions.answer(alice, parked(conversation), SubmittedAnswer("once"))
    Question.objects.update(answered_at=timezone.now() - timedelta(minutes=minutes))
    decision = decided()
    assert decision is not None and decision.allowed is allowed


@pytest.mark.parametrize(
    ("edited", "kept"),
    [
        ({"content": "goodbye"}, {"path": "notes.md", "content": "goodbye"}),
        ({"path": "other.md"}, {"path": "other.md", "content": "hello"}),
        ({"content": 5}, None),
        ({"no_such": "x"}, None),
    ],
    ids=["text", "path", "no text", "no argument"],
)
def test_edited_arguments_are_run_as_they_are_or_not_at_all(
    alice: User, conversation: Conversation, edited: dict[str, Any], kept: dict[str, str] | None
) -> None:
    question = parked(conversation)
    if kept is None:
        with pytest.raises(ValueError, match="do not fit"):
            questions.answer(alice, question, SubmittedAnswer("edit", edited))
        assert (ToolRun.objects.get().arguments, decided()) == (WRITE.arguments, None)
        return
    questions.answer(alice, question, SubmittedAnswer("edit", edited))
    decision = decided()
    assert ToolRun.objects.get().arguments == kept
    assert decision is not None and decision.allowed


class Fields(HTMLParser):
    """The values of the text fields of a page, as a browser shows and sends them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.values: dict[str, str] = {}
        self.open = ""
        self.feed(page.replace("\r\n", "\n").replace("\r", "\n"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open = dict(attrs).get("name") or "" if tag == "textarea" else ""
        if self.open:
            self.values[self.open] = ""

    def handle_data(self, data: str) -> None:
        if self.open:
            self.values[self.open] += data if self.values[self.open] else data.removeprefix("\n")

    def handle_endtag(self, tag: str) -> None:
        self.open = ""


@every(
    "content, changed, runs",
    [
        ("hello", {}, "hello"),
        ("\nbegins with an empty line\n\n", {}, "\nbegins with an empty line\n\n"),
        ("of\r\nWindows\r\n", {}, "of\r\nWindows\r\n"),
        ("mixed\r\nlines\nand\rmore", {}, "mixed\r\nlines\nand\rmore"),
        ("of\r\nWindows\r\n", {"content": "of\nLinux\ntoo\n"}, "of\r\nLinux\r\ntoo\r\n"),
        ("of\r\nWindows\r\n", {"content": "of\r\nLinux\r\n"}, "of\r\nLinux\r\n"),
        ("mixed\r\nlines\n", {"content": "mixed\nrows\n"}, "mixed\nrows\n"),
        ("one\ntwo", {"content": "one\nthree"}, "one\nthree"),
    ],
)
def test_a_form_changes_only_what_a_person_changed(
    alice: User, client: Client, content: str, changed: dict[str, str], runs: str
) -> None:
    conversation: Conversation = ConversationFactory(owner=alice)
    call = ToolCall("c1", "write_file", {"path": "notes.md", "content": content})
    question = parked(conversation, call=call)
    client.force_login(alice)
    page = client.get(reverse("conversation-messages", args=[conversation.pk])).content.decode()
    shown = {name: value for name, value in Fields(page).values.items() if name.startswith("argument.")}
    sent = shown | {"argument.path": "other.md"} | {f"argument.{name}": value for name, value in changed.items()}
    assert client.post(reverse("question-answer", args=[question]), {"answer": "edit", **sent}).content == b"Allowed."
    assert ToolRun.objects.latest("pk").arguments == {"path": "other.md", "content": runs}
    Turn.objects.update(status="done")  # of few that may run at once


# SAFETY 3.1: never wider than the permission for the tool.
@pytest.mark.parametrize(
    ("name", "path", "runs"),
    [
        ("write_file", "notes.md", True),
        ("write_file", "./notes.md", True),
        ("write_file", "sub/../notes.md", True),
        ("write_file", "notes.md2", False),
        ("write_file", "sub/notes.md", False),
        ("write_file", "Notes.md", False),
        ("write_file", "../notes.md", False),
        ("write_file", "/notes.md", False),
        ("write_file", "notes.md\x1f", False),
        ("write_file", "", False),
        ("write_file", ["notes.md"], False),
        ("edit_file", "notes.md", False),
        ("read_file", "notes.md", True),
        ("bash", "notes.md", False),
    ],
)
def test_a_permission_for_one_file_holds_for_nothing_else(
    alice: User, conversation: Conversation, name: str, path: object, runs: bool
) -> None:
    questions.answer(alice, parked(conversation), SubmittedAnswer("file"))
    granted, tool = questions.granted(str(conversation.pk)), BUILTINS[name]
    covered = policy.granted_for(tool, granted, {"path": path})
    assert (policy.verdict(tool, covered, tainted=False) is policy.CallDecision.RUN) is runs
    tainted = policy.verdict(tool, covered, tainted=True)
    assert tainted is (policy.CallDecision.RUN if name == "read_file" else policy.CallDecision.ASK)


def test_only_the_owner_takes_a_permission_back(alice: User, bob: User, conversation: Conversation) -> None:
    questions.answer(alice, parked(conversation), SubmittedAnswer("chat"))
    assert questions.revoke(bob, str(conversation.pk), "write_file") is None
    assert questions.granted(str(conversation.pk)) == {"write_file"}
    assert questions.revoke(alice, str(conversation.pk), "write_file") is not None
    assert questions.revoke(alice, str(conversation.pk), "write_file") is None
    assert questions.granted(str(conversation.pk)) == frozenset()
    other = ConversationFactory(owner=alice)
    questions.answer(alice, parked(other, client_id="c2"), SubmittedAnswer("file"))
    assert questions.revoke(alice, str(other.pk), "write_file") is None
    assert questions.revoke(alice, str(other.pk), "write_file", "notes.md") is not None
    assert questions.granted(str(other.pk)) == frozenset()


def test_a_turn_that_ends_closes_its_question(alice: User, conversation: Conversation) -> None:
    question = parked(conversation)
    assert questions.close_all(Turn.objects.get(), "stopped") == (question,)
    with pytest.raises(Conflict) as refused:
        questions.answer(alice, question, SubmittedAnswer("once"))
    assert refused.value.current == "stopped"
    assert decided() is not None and not decided().allowed  # type: ignore[union-attr]
