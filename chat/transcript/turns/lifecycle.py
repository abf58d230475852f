"""The life of a turn in rows: accepted, claimed, kept alive, ended, settled."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from chat.models import OPEN, UNFINISHED, Conversation, Message, ToolRun, Turn
from chat.transcript import sql
from chat.transcript.conversations import branches
from chat.transcript.conversations.conversations import Person, announce, keep_first_choice, own
from chat.transcript.locks import hold
from chat.transcript.messages import attachments as messages_attachments
from chat.transcript.messages import present
from chat.transcript.messages.history import WAITS, log_of
from chat.transcript.messages.titles import title_of
from chat.transcript.messages.view_models import ShownMessage
from chat.transcript.questions import questions
from chat.transcript.settings import turn_settings
from chat.transcript.settings.turn_settings import ChatRequestContext
from chat.transcript.turn_store import TurnStore
from chat.transcript.turns import resume
from toolsupport.core import types
from toolsupport.core.errors import Busy
from toolsupport.core.format_fallback import in_format
from toolsupport.core.types import Role
from toolsupport.registry.metrics import call_metrics
from toolsupport.registry.metrics.call_metrics import CallCount
from toolsupport.registry.models import profile_cache
from toolsupport.registry.testing import leases

PATIENCE = timedelta(seconds=2)
START = 0
STATUSES = ("done", "stopped", "interrupted", "failed", "model_changed")


@dataclass(frozen=True, slots=True)
class SentMessage:
    """What a person sent. `client_id` makes sending it twice one act.

    It stands after `parent`: None for the end of the branch that is shown, START for the very beginning.
    """

    client_id: str
    text: str
    parent: int | None = None
    attachments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ClaimedTurn:
    """A turn this process owns now, with all it needs to run. `searched`: tools were looked for in its conversation.

    `heard` are the tools whose results stand in the history.
    """

    turn: int
    store: TurnStore
    conversation: str
    person: int
    profile: int
    model: str
    briefing: ChatRequestContext
    history: tuple[types.ChatMessage, ...]
    granted: frozenset[str] = frozenset()
    resumed: resume.ResumePoint | None = None
    searched: bool = True
    heard: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class EndedTurn:
    """A turn is over. `messages` are those whose last state must be shown again, `closed` what it still asked (ids)."""

    turn: int
    conversation: str
    seq: int
    reason: str
    detail: str
    usage: Mapping[str, Any]
    messages: tuple[ShownMessage, ...] = ()
    closed: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class TurnAdmission:
    """Whether there is room for a turn: the one that is `known` already, and those that `ended` to make room."""

    known: int | None = None
    ended: tuple[EndedTurn, ...] = ()


@dataclass(frozen=True, slots=True)
class AcceptedMessage:
    """The message is kept. `repeated` says that this client_id was already known: nothing was done again.

    A turn that began at once has `claimed` with the empty `reply` it will write into; the numbers of the three
    announcements (message, turn, reply) follow each other from `seq` on. `ended` made room for it.
    """

    turn: int
    message: ShownMessage
    seq: int
    repeated: bool = False
    claimed: ClaimedTurn | None = None
    reply: ShownMessage | None = None
    ended: tuple[EndedTurn, ...] = ()


@dataclass(frozen=True, slots=True)
class TurnOutcome:
    """How a turn of this process ends. `reply` is the last message: (id, text, thinking, thinking_ms).

    `calls` counts what became of its calls.
    """

    reason: str
    detail: str = ""
    usage: Mapping[str, Any] = field(default_factory=dict)
    reply: tuple[int, str, str, int | None] | None = None
    calls: tuple[CallCount, ...] = ()


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """What the rows say to a process that keeps its turns alive."""

    lost: frozenset[int] = field(default_factory=frozenset)
    stop: frozenset[int] = field(default_factory=frozenset)


@transaction.atomic
def accept(person: Person, conversation_id: str, sent: SentMessage, owner: str = "") -> AcceptedMessage:
    """Keep a message with the turn that will answer it, in one transaction.

    With an `owner` the turn is that process's at once, otherwise it is queued. Raises NotFound, Busy or ConfigError,
    and then nothing is kept.
    """
    conversation = own(person, conversation_id, lock=True)
    room = room_for(conversation, sent.client_id, owner)
    if room.known is not None:
        return AcceptedMessage(room.known, present.message(question_of(room.known)), conversation.tail, repeated=True)
    if sent.parent is not None:
        branches.cut(conversation, sent.parent)
    keep_first_choice(conversation)
    attachments = messages_attachments.check(str(conversation.pk), sent.attachments)
    briefing = turn_settings.briefing(conversation)
    turn = new_turn(conversation, sent.client_id, owner, briefing)
    asked = Message(
        conversation=conversation,
        parent_id=conversation.leaf_id,
        role=Role.USER,
        content=sent.text,
        attachments=attachments,
        turn=turn,
    )
    sql.insert_message(asked)
    said = present.message(asked, siblings=branches.siblings(asked) if sent.parent is not None else ())
    conversation.title = conversation.title or title_of(sent.text)
    conversation.leaf = asked
    if not owner:
        return AcceptedMessage(turn.pk, said, grown(conversation, asked, 1), ended=room.ended)
    reply = empty_reply(turn, conversation)
    seq = grown(conversation, reply, 3) - 2
    begun = claimed(turn, conversation, briefing)
    return AcceptedMessage(turn.pk, said, seq, claimed=begun, reply=present.message(reply), ended=room.ended)


def question_of(turn_id: int) -> Message:
    """The message of a person that this turn answers; an answer made again has it from the turn before."""
    row = Message.objects.filter(turn_id=turn_id).order_by("id")[0]
    while row.role != Role.USER and row.parent is not None:
        row = row.parent
    return row


def new_turn(conversation: Conversation, client_id: str, owner: str, briefing: ChatRequestContext) -> Turn:
    turn = Turn(conversation=conversation, client_id=client_id, profile_id=conversation.profile_id or 0)
    turn.capabilities, turn.format = briefing.brief.capabilities.to_json(), briefing.brief.format
    if conversation.profile is not None and conversation.profile.pk == turn.profile_id:
        turn.profile = conversation.profile
    if owner:
        turn.status, turn.owner = "running", owner
        sql.insert_running(turn)
    else:
        turn.save(force_insert=True)
    return turn


def grown(conversation: Conversation, leaf: Message, things: int) -> int:
    """Move a locked conversation on by new messages; gives the number of the last announcement."""
    conversation.tail += things
    conversation.leaf, conversation.updated_at = leaf, timezone.now()
    sql.grow(conversation)
    return conversation.tail


def room_for(conversation: Conversation, client_id: str, owner: str) -> TurnAdmission:
    """The turn of this client_id, if it is known already. Raises Busy where there is no room for another turn.

    What `owner` runs itself is alive, though the database took no lease of it for a while.
    """
    room, ended = sql.room(conversation, client_id), list[EndedTurn]()
    if room.known is not None:
        return TurnAdmission(room.known)
    if room.open_here:
        # The process that ran it may be dead, or it waits for an answer that will not come: then the way is free.
        here = Turn.objects.filter(conversation=conversation)
        ended = expire(here.exclude(owner=owner)) or supersede(here)
        if not ended:
            raise Busy("An answer is still being written here. Stop it or wait for its end.", "conversation")
        conversation.refresh_from_db(fields=["tail", "leaf"])
        room = sql.room(conversation, client_id)
    most = settings.ENV["TOOLSUPPORT_TURNS_PER_PERSON"]
    # A turn that waits for a person runs nowhere.
    if room.running >= most:
        raise Busy(f"You have {most} answers running already, the most that are allowed at once.", "person")
    return TurnAdmission(ended=tuple(ended))


@transaction.atomic
def claim(turn_id: int, owner: str) -> AcceptedMessage | None:
    """Make a queued turn this process's own; None when another was faster or it was stopped meanwhile."""
    mine = Turn.objects.filter(pk=turn_id, status="queued")
    hold(*mine.values_list("conversation_id", flat=True))
    if not mine.update(status="running", owner=owner, lease_until=leases.in_future(leases.TURN), started_at=Now()):
        return None
    turn = Turn.objects.select_related("conversation", "profile__server").get(pk=turn_id)
    asked = present.message(question_of(turn_id))
    # It goes on with the model it began with, which may have been for this answer only, as may its format.
    turn.conversation.profile = turn.profile
    briefing = turn_settings.briefing(turn.conversation)
    runs = list(turn.tool_runs.select_related("message").order_by("id"))
    if any(run.status in WAITS for run in runs):
        seq = announce(turn.conversation) - 1
        begun = replace(claimed(turn, turn.conversation, gone_on(turn, briefing)), resumed=resume.resumed(turn, runs))
        return AcceptedMessage(turn.pk, asked, seq, claimed=begun)
    reply = empty_reply(turn, turn.conversation)
    seq = grown(turn.conversation, reply, 2) - 2
    begun = claimed(turn, turn.conversation, briefing)
    return AcceptedMessage(turn.pk, asked, seq, claimed=begun, reply=present.message(reply))


def gone_on(turn: Turn, briefing: ChatRequestContext) -> ChatRequestContext:
    """A turn goes on in the format it fell back to before."""
    brief = briefing.brief
    if turn.format not in brief.fallbacks:
        turn.conversation.settings = turn.conversation.settings | {"format": turn.format}
        return turn_settings.briefing(turn.conversation)
    return replace(briefing, brief=in_format(brief, turn.format, "The formats before it failed in this answer."))


def empty_reply(turn: Turn, conversation: Conversation) -> Message:
    reply = Message(
        conversation=conversation, parent_id=conversation.leaf_id, role=Role.ASSISTANT, finished=False, turn=turn
    )
    sql.insert_message(reply)
    return reply


def claimed(turn: Turn, conversation: Conversation, briefing: ChatRequestContext) -> ClaimedTurn:
    log = log_of(conversation, turn.pk, messages_attachments.sees(turn.capabilities))
    return ClaimedTurn(
        turn=turn.pk,
        store=TurnStore(turn.owner, turn.pk),
        conversation=str(conversation.pk),
        person=conversation.owner_id,
        profile=turn.profile_id,
        model=briefing.brief.model,
        briefing=briefing,
        history=log.messages,
        heard=log.heard,
        granted=questions.granted(str(conversation.pk)),
        searched="toolset" in conversation.settings,
    )


@transaction.atomic
def keep_alive(owner: str, turns: Iterable[int], texts: Iterable[tuple[int, str, str]]) -> Heartbeat:
    """Renew the leases of `turns`, write grown texts (message, text, thinking), hear what is wanted of them.

    Fenced: a turn that is no longer `owner`'s is reported as lost, and its texts are not written.
    """
    turns = list(turns)
    mine = Turn.objects.filter(pk__in=turns, owner=owner, status="running")
    mine.update(lease_until=leases.in_future(leases.TURN))
    alive = dict(mine.values_list("pk", "stop_requested_at"))
    sql.write_grown(owner, texts)
    return Heartbeat(
        lost=frozenset(turns) - frozenset(alive), stop=frozenset(pk for pk, asked in alive.items() if asked)
    )


@transaction.atomic
def request_stop(person: Person, conversation_id: str) -> tuple[int | None, EndedTurn | None]:
    """Ask for the open turn to stop: (its id or None, its end if nobody runs it). Raises NotFound."""
    conversation = own(person, conversation_id, lock=True)
    turn = Turn.objects.filter(conversation=conversation, status__in=OPEN).first()
    if turn is None:
        return None, None
    Turn.objects.filter(pk=turn.pk, stop_requested_at=None).update(stop_requested_at=Now())
    idle = Turn.objects.filter(pk=turn.pk, status__in=("waiting", "queued"))
    if idle.update(status="stopped", reason="Stopped by you.", ended_at=Now()):
        turn.refresh_from_db()
        return turn.pk, _close(turn, "stopped")
    return turn.pk, None


def supersede(turns: QuerySet[Turn]) -> list[EndedTurn]:
    """End those of `turns` that wait for an answer: a new message came instead. Must run inside a transaction."""
    ended = []
    for turn in turns.filter(status="waiting").select_related("conversation", "profile"):
        text = "A new message was sent instead of an answer."
        if Turn.objects.filter(pk=turn.pk, status="waiting").update(status="stopped", reason=text, ended_at=Now()):
            turn.refresh_from_db()
            ended.append(_close(turn, "superseded"))
    return ended


@transaction.atomic
def end(owner: str, turn_id: int, outcome: TurnOutcome) -> EndedTurn | None:
    """End a turn of this process. None when it is no longer its own: then nothing is written."""
    status = outcome.reason if outcome.reason in STATUSES else "done"
    turn = sql.end_turn(owner, turn_id, (status, outcome.detail, dict(outcome.usage)))
    if turn is None:
        return None
    if outcome.reply is not None:
        sql.write_reply(turn_id, outcome.reply)
    call_metrics.add(turn.profile_id, outcome.calls)
    return _close(turn, outcome.reason)


@transaction.atomic
def settle(running: Collection[int] = ()) -> tuple[list[EndedTurn], list[int]]:
    """Interrupt the turns whose lease ran out; also gives the queued turns that nobody claimed in time.

    Those that are `running` in this very process live, though the database took no lease of theirs for a while.
    """
    ended = expire(Turn.objects.exclude(pk__in=running))
    waiting = Turn.objects.filter(status="queued", created_at__lt=leases.in_future(-PATIENCE), stop_requested_at=None)
    return ended, list(waiting.values_list("pk", flat=True)[:50])


def expire(turns: QuerySet[Turn]) -> list[EndedTurn]:
    """Interrupt those of `turns` whose lease ran out, and only those. Must run inside a transaction."""
    ran_out = Q(status="running") & (Q(lease_until__lt=Now()) | Q(lease_until=None))
    expired = turns.filter(ran_out)
    hold(*expired.values_list("conversation_id", flat=True))
    ended = []
    interrupted = {"status": "interrupted", "ended_at": Now(), "lease_until": None}
    interrupted["reason"] = "The server that wrote this answer stopped before it was finished."
    for turn in expired.select_related("conversation", "profile"):
        # Asked of the database once more: a moment read from a row of SQLite need not equal that row's own text.
        if Turn.objects.filter(ran_out, pk=turn.pk).update(**interrupted):
            turn.refresh_from_db()
            ended.append(_close(turn, "interrupted"))
    return ended


def _close(turn: Turn, reason: str) -> EndedTurn:
    """Finish what a turn left open, so that nothing of it changes any more."""
    profile = profile_cache.profile(turn.profile_id)
    if profile is not None:
        turn.profile = profile
    answers = sql.answers_of(turn.pk)
    last = answers[-1] if answers else None
    # The end is told in the turn's last message, so that one is shown again even if it was whole.
    again = [row for row in answers if not row.finished or row is last]
    closed: tuple[int, ...] = ()
    if reason != "done":
        open_runs = ToolRun.objects.filter(turn=turn, status__in=UNFINISHED)
        status = "interrupted" if reason == "interrupted" else "stopped"
        open_runs.update(status=status, error=f"Not finished: the answer was {reason}.", snapshot=None)
        closed = questions.close_all(turn, reason)
    for row in again:
        row.finished, row.turn = True, turn
        sql.finish(row.pk)
    seq = sql.count_up(turn.conversation_id, len(again) + len(closed) + 1)
    return EndedTurn(
        turn=turn.pk,
        conversation=str(turn.conversation_id),
        seq=seq,
        reason=reason,
        detail=turn.reason,
        usage=turn.usage,
        messages=tuple(_last_state(row, row is last) for row in again),
        closed=closed,
    )


def _last_state(row: Message, last: bool) -> ShownMessage:
    return present.message(row, sql.runs_of(row), last, branches.siblings(row))
