"""Converts rows to the view models of a page."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Protocol, TypeVar

from chat.models import Conversation, Message, Question, ToolRun, Turn
from chat.statuses import OPEN, CallStatus, TurnStatus
from chat.tools import BUILTINS
from chat.transcript.messages import attachments, formatted
from chat.transcript.messages.view_models import (
    ShownCall,
    ShownImages,
    ShownMessage,
    ShownQuestion,
    ShownUsage,
    shown_sources,
)
from toolsupport.core import outside_content
from toolsupport.core.formats import FORMATS
from toolsupport.core.remote_tools import MARK
from toolsupport.core.types import Role
from toolsupport.services import learning

# How an answer ends early without an error, and how a call ends that gave a result.
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


def messages(conversation: Conversation) -> tuple[ShownMessage, ...]:
    """Return the shown branch with its tool cards: three queries for any length."""
    rows = list(conversation.messages.select_related("turn__profile", "formatted").order_by("id"))
    runs: dict[int, list[ToolRun]] = defaultdict(list)
    for run in ToolRun.objects.filter(message__conversation=conversation).order_by("id"):
        runs[run.message_id].append(run)
    beside: dict[int | None, tuple[int, ...]] = defaultdict(tuple)
    for row in rows:
        beside[row.parent_id] += (row.pk,) if row.role != Role.NOTICE else ()
    path = branch(rows, conversation.leaf_id)
    ends = {row.turn_id: row.pk for row in path if row.role == Role.ASSISTANT}
    return tuple(message(row, runs[row.pk], ends.get(row.turn_id) == row.pk, beside[row.parent_id]) for row in path)


def message(
    row: Message, runs: Iterable[ToolRun] = (), last: bool = False, siblings: tuple[int, ...] = ()
) -> ShownMessage:
    """Return one message; `last`: it is its turn's last, which shows the turn's end.

    `siblings` are the ids of all alternatives, including itself; empty means none.
    """
    is_answer = row.role == Role.ASSISTANT
    turn = row.turn if is_answer else None
    over = turn if turn is not None and last and turn.status not in OPEN else None
    runs = list(runs)
    text = readable(row.content, unreadable_calls(runs)) if is_answer else row.content
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
        model=turn.profile.name if turn else "",
        calls=cards(runs),
        images=_images(row),
        files=attachments.files(row.attachments),
        created_at=row.created_at,
        ended=_ending(over) if over else "",
        ended_detail=over.reason if over else "",
        siblings=siblings if row.role != Role.NOTICE else (),
        usage=ShownUsage.of(over.usage) if over else None,
        conversation=str(row.conversation_id),
        may_go_on=over is not None and may_go_on(over, text),
        about=row.turn.profile_id if row.turn is not None and row.role == Role.NOTICE else None,
    )


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

    One that failed, mostly by a lost connection, needs something to go on from: text, or the result of a tool.
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
    """Return one tool card, with the calls that it made if it is a program."""
    tool = BUILTINS.get(run.name)
    return call(run, run.inner.order_by("id") if tool is not None and tool.resume else ())


def call(run: ToolRun, inner: Iterable[ToolRun] = ()) -> ShownCall:
    """Return one tool card, with these inside it."""
    words, target = phrase(run.name, _mapping(run.arguments))
    return ShownCall(
        id=str(run.pk),
        name=run.name,
        phrase=words,
        target=target,
        arguments=dict(_mapping(run.arguments)),
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
    proposes = row.kind == "runtime_learning" and learning.proposes(row.conversation.owner_id)
    is_code = row.tool_run is not None and row.tool_run.level == "A3"
    diff, code = ("", row.preview) if is_code else (row.preview, "")
    outside = shown_sources(outside_content.read(row.outside))
    return ShownQuestion(row.pk, row.kind, row.text, tuple(row.options), diff, row.expires_at, proposes, code, outside)


def phrase(name: str, arguments: Mapping[str, object]) -> tuple[str, str]:
    """Return the phrase and the target of a card's closed line: ("Read", "config.json")."""
    if not name:
        return "Unreadable call", ""
    tool = BUILTINS.get(name)
    server, mark, called = name.partition(MARK)
    if tool is None:
        return (f"Ask {server}", called) if mark else ("Asked for", name)
    return tool.phrase, tool.shown_target(dict(arguments))


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}
