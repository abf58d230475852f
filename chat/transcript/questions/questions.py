"""Stores questions to people: asked once, answered once, the first answer wins."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone

from chat import sentences
from chat.mcp import mcp_tools
from chat.models import Grant, Question, ToolRun, Turn
from chat.statuses import CallStatus, TurnStatus
from chat.tools import policy
from chat.tools.diff_preview import NO_FILE
from chat.transcript import sql
from chat.transcript.announcements import (
    Announcements,
    AskedQuestion,
    EndedQuestion,
    StartedCall,
    WaitingTurn,
    announce,
    announce_all,
)
from chat.transcript.conversations.conversations import Person, own
from chat.transcript.locks import hold
from chat.transcript.messages import present
from chat.transcript.messages.history import EDITED
from chat.transcript.questions import server_refusal_question, unknown_model
from chat.transcript.turn_store import fenced
from toolsupport.core import call_validation, outside_content
from toolsupport.core.errors import Conflict, NotFound
from toolsupport.core.outside_content import OutsideSource
from toolsupport.core.types import JSON, ToolCall, ToolSpec
from toolsupport.registry import row_cache
from toolsupport.registry.metrics import call_metrics
from toolsupport.registry.metrics.call_metrics import CallCount

TIME_TO_ANSWER = timedelta(minutes=10)
REPLY_LENGTH = 500
APPROVALS = ("once", "chat", "edit", "deny")
UNGRANTABLE = ("once", "edit", "deny")
IN_PROSE = ("once", "deny")
# "chat", for the file of this call only. It is no option of its own: it is valid where "chat" is and there is a file.
FOR_FILE = "file"
ALLOWS = ("once", FOR_FILE, "chat", "edit")


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """The question about a call, and the facts to which the answer will be bound.

    `state` is that of the program which made the call and waits too. `outside` is the outside content in the chat.
    `size` is how much would change, `reason` is why it asks if the call alone does not show it.
    """

    call: ToolCall
    text: str
    diff: str
    grantable: bool
    basis: str = ""
    code: str = ""
    state: bytes = b""
    outside: tuple[OutsideSource, ...] = ()
    size: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class TurnUsage:
    """The usage of a turn until it waits; `calls` counts its calls by result."""

    usage: Mapping[str, Any]
    calls: tuple[CallCount, ...] = ()


@dataclass(frozen=True, slots=True)
class SubmittedAnswer:
    """A person's answer; `arguments` only with "edit", `reply` (for the model) only with "deny".

    `typed`: the arguments come from text fields, which give every end of a line as LF.
    """

    answer: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    reply: str = ""
    typed: bool = False


@dataclass(frozen=True, slots=True)
class ClosedQuestion:
    """A question was answered or expired. `turn` waits to be claimed."""

    question: int
    conversation: str
    answer: str
    turn: int | None
    announced: Announcements


# Kind of question → the effect of its answer; the turn itself reads the answer to an approval.
EFFECTS = {unknown_model.KIND: unknown_model.apply, server_refusal_question.KIND: server_refusal_question.apply}


@fenced
def park(turn: Turn, run_id: int, asking: ApprovalRequest, spent: TurnUsage) -> Announcements:
    """Let the turn wait for a person, stored in rows without a process. Nothing is announced if a person stops it."""
    if turn.stop_requested_at is not None:
        return ()
    run = ToolRun.objects.select_related("turn__conversation", "message", "program").get(pk=run_id, turn=turn)
    waits = {"status": TurnStatus.WAITING, "owner": "", "lease_until": None, "usage": dict(spent.usage)}
    Turn.objects.filter(pk=turn.pk).update(**waits)
    call_metrics.add(run.turn.profile_id, spent.calls)
    question = Question.objects.create(
        conversation=run.turn.conversation,
        turn=run.turn,
        tool_run=run,
        kind="prose_call" if run.in_prose else "approval",
        text=asking.text,
        size=asking.size,
        reason=asking.reason,
        options=_options(run, asking),
        preview=asking.code or asking.diff,
        binds=policy.fingerprint(asking.call, place(run.turn)),
        basis=asking.basis,
        outside=outside_content.stored(asking.outside),
        expires_at=timezone.now() + TIME_TO_ANSWER,
    )
    run.status = CallStatus.WAITING
    run.save(update_fields=["status"])
    if run.program is not None:
        run.program.status, run.program.snapshot = CallStatus.WAITING, asking.state
        run.program.save(update_fields=["status", "snapshot"])
    return announce_all(
        turn.conversation_id,
        StartedCall(run.message_id, present.card(run.program or run)),
        AskedQuestion(present.question(question)),
        WaitingTurn(turn.pk, question.pk),
    )


def _options(run: ToolRun, asking: ApprovalRequest) -> list[str]:
    """Return the valid answers to a question."""
    if run.in_prose:
        return list(IN_PROSE)
    return list(APPROVALS if asking.grantable else UNGRANTABLE)


def _file_of(question: Question) -> str:
    """Return the file that a permission for the chat can be limited to, "" if there is none."""
    run = question.tool_run
    return policy.file_of(mcp_tools.named(run.name), run.arguments) if run and "chat" in question.options else ""


def place(turn: Turn) -> str:
    """Return the scope of an approval: this workspace, this turn, this person."""
    return f"{turn.conversation_id}\x1f{turn.pk}\x1f{turn.conversation.owner_id}"


@transaction.atomic
def answer(person: Person, question_id: int, given: SubmittedAnswer) -> ClosedQuestion:
    """Answer an open question of the person's own conversation; the waiting turn is queued.

    Raises NotFound (absent, another person's), Conflict (answered already), ValueError (an invalid answer, with a
    message).
    """
    mine = Question.objects.select_related("tool_run", "turn__conversation", "conversation")
    hold(*mine.filter(pk=question_id).values_list("conversation_id", flat=True))
    question = mine.filter(pk=question_id, conversation__owner_id=person.pk).first()
    if question is None:
        raise NotFound("This question does not exist.")
    if question.answer:
        raise Conflict(sentences.too_late(question.answer), question.answer)
    if given.answer not in question.options and not (given.answer == FOR_FILE and _file_of(question)):
        raise ValueError(f"Answer with one of {', '.join(question.options)}.")
    if given.answer == "edit":
        _edit(question, given)
    first = Question.objects.filter(pk=question.pk, answer="").filter(Q(expires_at=None) | Q(expires_at__gt=Now()))
    reply = " ".join(given.reply.split())[:REPLY_LENGTH] if given.answer == "deny" else ""
    changed = {"answer": given.answer, "reply": reply, "answered_by": person.pk} | _bound(question)
    if not first.update(answered_at=Now(), **changed):
        raise Conflict(sentences.EXPIRED, "expired")
    if given.answer in ("chat", FOR_FILE) and question.tool_run is not None:
        run = question.tool_run
        Grant.objects.get_or_create(
            conversation=question.conversation,
            tool=run.name,
            path=_file_of(question) if given.answer == FOR_FILE else "",
            revoked_at=None,
            defaults={"granted_by_id": person.pk or 0},
        )
    effect = EFFECTS.get(question.kind)
    notice = effect(person, question, given.answer) if effect else None
    # A socket has only the number of its person.
    by = User.objects.values_list("username", flat=True).get(pk=person.pk or 0)
    closed = _closed(question, given.answer, by)
    return replace(closed, announced=(notice, *closed.announced)) if notice else closed


def _edit(question: Question, given: SubmittedAnswer) -> None:
    """Merge edited arguments into the requested ones: the result is allowed. Raises ValueError if impossible."""
    run, turn = question.tool_run, question.turn
    if run is None or turn is None:
        raise ValueError("This call has nothing to edit.")
    before, tool = run.arguments, mcp_tools.named(run.name)
    if tool is None:
        raise ValueError("This tool no longer exists.")
    edited = _edited(run, tool.spec)
    arguments = dict(given.arguments)
    if given.typed:
        arguments = {name: _with_line_ends(before.get(name), value) for name, value in arguments.items()}
    # Arguments that a person wrote run unchanged or not at all, without repairs.
    complaints = call_validation.complaints_about({**edited, **arguments}, tool.spec.parameters)
    if complaints:
        raise ValueError(f"The arguments of {run.name} do not fit: {'; '.join(complaints)}.")
    arguments = {**before, **arguments}
    call = ToolCall(run.call_id, run.name, arguments)
    run.arguments, run.repairs = arguments, [*run.repairs, EDITED]
    run.save(update_fields=["arguments", "repairs"])
    question.binds = policy.fingerprint(call, place(turn))
    if question.basis and tool.where and arguments.get(tool.where) != before.get(tool.where):
        # No person has seen the content at the other path: there must be no file.
        question.basis = NO_FILE


def _with_line_ends(before: object, typed: Any) -> Any:
    """Return a typed text with its former line ends: unchanged if only they differ, CR LF if it had no others."""
    if not isinstance(before, str) or not isinstance(typed, str):
        return typed
    if before.replace("\r\n", "\n").replace("\r", "\n") == typed:
        return before
    only = "\r\n" in before and not {"\r", "\n"} & set(before.replace("\r\n", ""))
    return typed.replace("\n", "\r\n") if only else typed


def _edited(run: ToolRun, spec: ToolSpec) -> JSON:
    """Return the arguments that models see; a translated command may have others, which stay unchanged."""
    known = spec.parameters.get("properties", {})
    translated = run.asked_arguments is not None
    return {name: value for name, value in run.arguments.items() if not translated or name in known}


def _bound(question: Question) -> dict[str, str]:
    """Return the facts to which an answer is bound; edited arguments change them."""
    return {"binds": question.binds, "basis": question.basis}


def _closed(question: Question, given: str, by: str) -> ClosedQuestion:
    # A question about a model was asked beside its turn, which may wait for another answer.
    waits = question.kind not in EFFECTS
    if waits:
        Turn.objects.filter(questions=question, status=TurnStatus.WAITING).update(status=TurnStatus.QUEUED)
    announced = announce(question.conversation_id, EndedQuestion(question.pk, given, by))
    turn = question.turn_id if waits else None
    return ClosedQuestion(question.pk, str(question.conversation_id), given, turn, (announced,))


def expire() -> list[ClosedQuestion]:
    """Close expired questions: their calls do not run, and the model gets the reason."""
    return _expire() if row_cache.read(_any_may_expire) else []


def _any_may_expire() -> bool:
    return Question.objects.filter(answer="", expires_at__isnull=False).exists()


@transaction.atomic
def _expire() -> list[ClosedQuestion]:
    closed = []
    late = Question.objects.filter(answer="", expires_at__lte=Now()).select_related("conversation")
    hold(*late.values_list("conversation_id", flat=True))
    for question in late:
        if Question.objects.filter(pk=question.pk, answer="").update(answer="expired", answered_at=Now()):
            closed.append(_closed(question, "expired", ""))
    return closed


def close_all(turn: Turn, given: str) -> tuple[int, ...]:
    """Close open questions of turns (ids) that end without an answer. Must run in a transaction."""
    asked = Question.objects.filter(turn=turn, answer="").exclude(kind__in=EFFECTS)
    closed = tuple(asked.values_list("pk", flat=True))
    asked.update(answer=given, answered_at=Now())
    return closed


@dataclass(frozen=True, slots=True)
class ApprovalDecision:
    """The decision on a call: run it over content with this `basis`, or give the model the reason.

    `level` is that of the tool that the person was asked about.
    """

    allowed: bool
    why: str = ""
    basis: str = ""
    level: str = ""


WHY = {
    "deny": "The person did not allow this call. Do not try it again; ask what to do instead.",
    "expired": "This call was not allowed in time, so it was not run.",
}


def decision(run: ToolRun, turn: Turn) -> ApprovalDecision | None:
    """Return the decision on a call that waited. An approval counts for exactly this call only."""
    question = run.questions.exclude(answer="").order_by("id").last()
    if question is None:
        return None
    if question.answer not in ALLOWS:
        replied = f" The person wrote: {question.reply}" if question.reply else ""
        return ApprovalDecision(False, WHY.get(question.answer, WHY["deny"]) + replied)
    call = ToolCall(run.call_id, run.name, run.arguments)
    if question.binds != policy.fingerprint(call, place(turn)):
        return ApprovalDecision(False, "The call was changed after it was allowed, so it was not run.")
    # A program has run since it was allowed, and waits for a call of its own.
    if run.snapshot is None and question.answered_at and timezone.now() - question.answered_at > TIME_TO_ANSWER:
        return ApprovalDecision(False, "The approval is too old, so it was not run. Request it again.")
    return ApprovalDecision(True, basis=question.basis, level=run.level)


def granted(conversation_id: str) -> frozenset[str]:
    """Return the permissions for the whole chat (policy.grant)."""
    return sql.granted_in(uuid.UUID(conversation_id))


@dataclass(frozen=True, slots=True)
class GrantedTool:
    """A tool that a person allowed for a whole conversation, perhaps for one file only."""

    tool: str
    since: datetime
    path: str = ""


def grants(person: Person, conversation_id: str) -> tuple[GrantedTool, ...]:
    """Return the tools that run without asking in the person's own conversation. Raises NotFound."""
    rows = Grant.objects.filter(conversation=own(person, conversation_id), revoked_at=None)
    return tuple(GrantedTool(row.tool, row.granted_at, row.path) for row in rows)


@transaction.atomic
def revoke(person: Person, conversation_id: str, tool: str, path: str = "") -> datetime | None:
    """Revoke a grant; None if there is none."""
    grants = Grant.objects.filter(
        conversation_id=conversation_id, conversation__owner_id=person.pk, tool=tool, path=path
    )
    now = timezone.now()
    return now if grants.filter(revoked_at=None).update(revoked_at=now) else None
