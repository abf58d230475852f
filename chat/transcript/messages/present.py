"""Converts rows to the view models of a page."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Protocol, TypeVar

from django.db.models import OuterRef, QuerySet, Subquery
from django.utils import timezone

from chat import sentences
from chat.models import Conversation, Message, Question, ToolRun, Turn
from chat.statuses import OPEN, CallStatus, TurnStatus
from chat.tools import BUILTINS, policy
from chat.transcript.messages import attachments, call_phrases, formatted
from chat.transcript.messages.call_groups import CallGroup, grouped
from chat.transcript.messages.view_models import (
    ShownCall,
    ShownImages,
    ShownMessage,
    ShownQuestion,
    ShownUsage,
    shown_sources,
)
from chat.transcript.messages.windows import MessageWindow, WindowBounds, bounds
from toolsupport.core import outside_content
from toolsupport.core.formats import FORMATS
from toolsupport.core.types import Role
from toolsupport.services import refusal_learning

# Ends of an answer that stopped early without an error, and ends of a call with a result.
BROKEN_OFF = (TurnStatus.STOPPED, TurnStatus.INTERRUPTED, TurnStatus.MODEL_CHANGED)
ENDED = (CallStatus.DONE, CallStatus.FAILED, CallStatus.TIMEOUT)


class MessageLink(Protocol):
    """The parts that link a message to the one before it."""

    @property
    def pk(self) -> int: ...

    @property
    def parent_id(self) -> int | None: ...


AnyLink = TypeVar("AnyLink", bound=MessageLink)


def branch(rows: Iterable[AnyLink], leaf: int | None) -> list[AnyLink]:
    """Return the messages from the first to `leaf`, following parents."""
    by_id = {row.pk: row for row in rows}
    found: list[AnyLink] = []
    while leaf is not None and leaf in by_id:
        found.append(by_id[leaf])
        leaf = by_id[leaf].parent_id
    return found[::-1]


class BranchRow(NamedTuple):
    """A message without its text."""

    pk: int
    parent_id: int | None
    role: str
    turn_id: int | None


def messages(conversation: Conversation) -> tuple[ShownMessage, ...]:
    """Return the shown branch with its tool cards."""
    return window(conversation, None)[0]


def window(conversation: Conversation, wanted: MessageWindow | None) -> tuple[tuple[ShownMessage, ...], int | None]:
    """Return a part of the shown branch (None: all of it), and the id where the part before it begins.

    Three queries for any length; texts, calls and results are read for the part only.
    """
    fields = conversation.messages.order_by("id").values_list("pk", "parent_id", "role", "turn_id")
    rows = [BranchRow(*row) for row in fields]
    beside: dict[int | None, tuple[int, ...]] = defaultdict(tuple)
    for row in rows:
        beside[row.parent_id] += (row.pk,) if row.role != Role.NOTICE else ()
    path = branch(rows, conversation.leaf_id)
    ends = {row.turn_id: row.pk for row in path if row.role == Role.ASSISTANT}
    ids, asks = [row.pk for row in path], [row.role == Role.USER for row in path]
    part = bounds(ids, asks, wanted) if wanted is not None else WindowBounds(0, len(ids), None)
    shown = ids[part.start : part.end]
    texts, runs = _contents(conversation, shown)
    found = (texts[pk] for pk in shown if pk in texts)
    made = (message(row, runs[row.pk], ends.get(row.turn_id) == row.pk, beside[row.parent_id]) for row in found)
    return tuple(made), part.earlier


def _contents(conversation: Conversation, ids: Sequence[int]) -> tuple[dict[int, Message], dict[int, list[ToolRun]]]:
    """Return messages with their calls, by id. Ids grow along a branch, so two of them bound what is read."""
    if not ids:
        return {}, {}
    texts = conversation.messages.filter(pk__gte=ids[0], pk__lte=ids[-1]).select_related("turn__profile", "formatted")
    runs: dict[int, list[ToolRun]] = defaultdict(list)
    called = ToolRun.objects.filter(message__conversation=conversation, message__gte=ids[0], message__lte=ids[-1])
    for run in with_approvals(called).order_by("id"):
        runs[run.message_id].append(run)
    return {row.pk: row for row in texts}, runs


def message(
    row: Message, runs: Iterable[ToolRun] = (), last: bool = False, siblings: tuple[int, ...] = ()
) -> ShownMessage:
    """Return one message; `last`: it is its turn's last, which shows the turn's end.

    `siblings` are the ids of all alternatives, including itself; empty means none.
    """
    is_answer = row.role == Role.ASSISTANT
    turn = row.turn if is_answer else None
    writer = row.writer if turn is not None else None
    over = turn if turn is not None and last and turn.status not in OPEN else None
    runs = list(runs)
    text = readable(row.content, unreadable_calls(runs)) if is_answer else text_of(row)
    html = formatted.stored(row, text) if row.finished and is_answer and text else ""
    return ShownMessage(
        id=row.pk,
        parent=row.parent_id,
        role=row.role,
        text=text,
        html=formatted.plain_form(text) if html is None else html,
        formatted=html is not None,
        thinking=row.thinking,
        thinking_ms=row.thinking_ms,
        finished=row.finished,
        turn=row.turn_id,
        code=row.code,
        model=writer.name if writer is not None else "",
        calls=cards(runs),
        images=_images(row),
        files=attachments.files(row.attachments),
        created_at=row.created_at,
        ended=_ending(over) if over else "",
        ended_detail=sentences.ending(over.reason) if over else "",
        siblings=siblings if row.role != Role.NOTICE else (),
        usage=ShownUsage.of(over.usage) if over else None,
        conversation=str(row.conversation_id),
        may_go_on=over is not None and may_go_on(over, text),
        asked=turn is not None and not turn.program,
        about=row.turn.profile_id if row.turn is not None and row.role == Role.NOTICE else None,
    )


def text_of(row: Message) -> str:
    """Return the text of a message; that of a notice is made of its facts, if its row has them."""
    return sentences.notice(row.code, row.facts) if row.facts is not None else row.content


def unreadable_calls(runs: Iterable[ToolRun]) -> list[str]:
    return [run.raw for run in runs if run.status == CallStatus.REJECTED and run.raw and run.format in FORMATS]


def readable(text: str, unreadable: Iterable[str]) -> str:
    """Return an answer's text without unreadable calls: their cards show the model's text."""
    for raw in unreadable:
        text = text.replace(raw, "", 1)
    return text if text.strip() else ""


def _images(row: Message) -> ShownImages | None:
    paths = attachments.images(row.attachments)
    if not paths or row.turn is None:
        return None
    return ShownImages(str(row.conversation_id), paths, attachments.sees(row.turn.capabilities))


def may_go_on(turn: Turn, text: str) -> bool:
    """Return True for an answer that ended early and can be continued; `text` is that of its last message.

    A failed one, usually after a lost connection, needs something to continue from: text, or the result of a tool.
    """
    if turn.status in BROKEN_OFF or (turn.status == TurnStatus.DONE and turn.reason):
        return True
    return turn.status == TurnStatus.FAILED and (bool(text.strip()) or turn.tool_runs.filter(status__in=ENDED).exists())


def _ending(turn: Turn) -> str:
    """Return how a turn ended if unsuccessful; a done turn with a reason was ended by a limit."""
    if turn.status == TurnStatus.DONE:
        return "limit" if turn.reason else ""
    return turn.status


def cards(runs: Iterable[ToolRun]) -> tuple[ShownCall, ...]:
    """Return tool cards, with a program's calls inside its own."""
    runs, inner = list(runs), defaultdict[int | None, list[ToolRun]](list)
    for run in runs:
        inner[run.program_id].append(run)
    return tuple(call(run, inner[run.pk]) for run in inner[None])


def card(run: ToolRun) -> ShownCall:
    """Return one tool card to send alone: with the calls that it made if it is a program, and with its group."""
    tool = BUILTINS.get(run.name)
    shown = call(run, run.inner.order_by("id") if tool is not None and tool.resume else ())
    return replace(shown, group=_group_of(run)) if run.program_id is None else shown


class CallSummary(NamedTuple):
    """A call in the row of its group."""

    id: str
    name: str
    status: str
    duration_ms: int | None
    answer: str


def _group_of(run: ToolRun) -> CallGroup[Any] | None:
    beside = with_approvals(ToolRun.objects.filter(message_id=run.message_id, program=None)).order_by("id")
    rows = beside.only("name", "status", "duration_ms")
    calls = [CallSummary(str(row.pk), row.name, row.status, row.duration_ms, _approval(row)[0]) for row in rows]
    groups = (row for row in grouped(calls) if isinstance(row, CallGroup))
    return next((group for group in groups if str(run.pk) in group.members.split()), None)


def with_approvals(runs: QuerySet[ToolRun]) -> QuerySet[ToolRun]:
    """Set `answer` and `basis`, those of the newest approval of each call; needs no further query."""
    newest = Question.objects.filter(tool_run=OuterRef("pk")).order_by("-id")
    return runs.annotate(answer=Subquery(newest.values("answer")[:1]), basis=Subquery(newest.values("basis")[:1]))


def _approval(run: ToolRun) -> tuple[str, str]:
    """Return the answer to the approval of a call and its basis; asked for only where a card differs by them."""
    if hasattr(run, "answer"):
        return run.answer or "", getattr(run, "basis", "") or ""
    if run.status != CallStatus.DENIED and run.name != "write_file":
        return "", ""
    found = run.questions.order_by("id").values_list("answer", "basis").last()
    return found or ("", "")


def call(run: ToolRun, inner: Iterable[ToolRun] = ()) -> ShownCall:
    """Return one tool card, with these inside it."""
    answer, basis = _approval(run)
    arguments = dict(_mapping(run.arguments))
    verb = call_phrases.verb_of(run.name, arguments, basis)
    return ShownCall(
        id=str(run.pk),
        name=run.name,
        phrase=call_phrases.in_state(verb, run.status) if run.name else "Unreadable call",
        target=target(run.name, arguments),
        icon=verb.icon,
        answer=answer,
        arguments=arguments,
        status=run.status,
        format=run.format,
        served_by=run.served_by,
        asked_as=run.asked_as if run.asked_as != run.name else "",
        duration_ms=run.duration_ms,
        result=run.result,
        error=run.error,
        repairs=tuple(run.repairs),
        raw=run.raw,
        question=_open_question(run) if run.status == CallStatus.WAITING else None,
        asked_arguments=dict(_mapping(run.asked_arguments)),
        inner=tuple(call(one) for one in inner),
        program=str(run.program_id or ""),
        age=int((timezone.now() - run.started_at).total_seconds()) if run.status == CallStatus.RUNNING else 0,
    )


def _open_question(run: ToolRun) -> ShownQuestion | None:
    row = run.questions.filter(answer="").order_by("id").last()
    return question(row) if row else None


def questions(conversation: Conversation) -> tuple[ShownQuestion, ...]:
    """Return the open questions that no call raised, in order."""
    rows = conversation.questions.filter(tool_run=None, answer="").select_related("conversation")
    return tuple(question(row) for row in rows.order_by("id"))


def question(row: Question) -> ShownQuestion:
    """Return one open question."""
    proposes = row.kind == "runtime_learning" and refusal_learning.proposes(row.conversation.owner_id)
    is_code = row.tool_run is not None and row.tool_run.level == "A3"
    diff, code = ("", row.preview) if is_code else (row.preview, "")
    outside = shown_sources(outside_content.read(row.outside))
    shown = ShownQuestion(row.pk, row.kind, row.text, tuple(row.options), diff, row.expires_at, proposes, code, outside)
    return shown if row.tool_run is None else _approval_words(shown, row, row.tool_run)


def _approval_words(shown: ShownQuestion, row: Question, run: ToolRun) -> ShownQuestion:
    verb = call_phrases.verb_of(run.name, _mapping(run.arguments), row.basis)
    return replace(
        shown,
        size=row.size,
        reason=row.reason,
        act=call_phrases.act_of(verb),
        scope=call_phrases.scope_of(run.name, verb),
        file=policy.file_of(BUILTINS.get(run.name), _mapping(run.arguments)),
        risk=call_phrases.risk_of(run.name, run.level),
    )


def target(name: str, arguments: Mapping[str, object]) -> str:
    """Return the object of a call, for its closed line: "config.json"."""
    tool = BUILTINS.get(name)
    return call_phrases.target_of(name, tool.shown_target(dict(arguments)) if tool else "")


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}
