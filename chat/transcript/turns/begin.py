"""Begins every turn: a request from any source becomes rows in one transaction.

Each kind of request is a small builder (`sent_message`, `regenerate`, `repeat_call`, `api_tool_call`), which drafts
the first messages of its turn. The common part is here: the owner of the conversation, repeated requests, the limit of
turns, the rows of the turn, and the numbers of the announcements.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

from django.conf import settings
from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone

from chat.models import Conversation, Message, ToolRun, Turn
from chat.statuses import TurnStatus
from chat.tools import outside_content_sources
from chat.transcript import sql
from chat.transcript.announcements import (
    Announcements,
    StartedMessage,
    StartedTurn,
    Thing,
    announce_all,
    announce_messages,
)
from chat.transcript.conversations import branches
from chat.transcript.conversations.conversations import Person, own
from chat.transcript.locks import hold
from chat.transcript.messages import attachments, present
from chat.transcript.messages.history import WAITS, log_of
from chat.transcript.messages.view_models import ShownMessage
from chat.transcript.questions import questions
from chat.transcript.settings import turn_settings
from chat.transcript.settings.turn_settings import ChatRequestContext
from chat.transcript.turn_store import TurnStore
from chat.transcript.turns import resume
from chat.transcript.turns.end import TurnEnd, supersede
from chat.transcript.turns.leases import expire
from chat.transcript.turns.resume import ResumePoint
from toolsupport.core import outside_content, types
from toolsupport.core.errors import Busy
from toolsupport.core.outside_content import OutsideSource
from toolsupport.core.prompt import GO_ON
from toolsupport.core.types import Role
from toolsupport.registry import raw_sql, row_objects, shared_transaction, storage
from toolsupport.registry.leases import TURN, in_future
from toolsupport.registry.people import quota_use, quotas


@dataclass(frozen=True, slots=True)
class Draft:
    """The beginning of a turn. `message` is a new one, or the stored one that is answered.

    A new message of a model makes the `call` (its row lacks its message, its turn and the end of its id): the turn
    begins by running it. `forks`: the first new message may be an alternative to others.
    """

    prepared: ChatRequestContext
    message: Message
    call: ToolRun | None = None
    forks: bool = False
    goes_on: bool = False
    program: str = ""


class TurnBuilder(Protocol):
    """One kind of request. Both functions run in the transaction of `begin`, which holds the conversation."""

    def client_id_in(self, conversation: Conversation) -> str:
        """Return the id by which a repeated request finds its turn. Raises Busy if none can be made now."""

    def draft(self, conversation: Conversation) -> Draft:
        """Return the beginning of the turn. Raises NotFound, ConfigError or ValueError, and then nothing is stored."""


@dataclass(frozen=True, slots=True)
class TurnRequest:
    """A person's request for a turn in a conversation.

    With an `owner`, that process runs it at once; else it is queued.
    """

    person: Person
    conversation: str
    builder: TurnBuilder
    owner: str = ""


@dataclass(frozen=True, slots=True)
class ClaimedTurn:
    """A turn that this process owns, with all data to run it. `searched`: tools were searched in its conversation.

    `received` is the outside content in its request. `opening` is announced when the turn begins to run, `reply` is
    the empty message that it writes to first (0 if it begins with calls).
    """

    turn: int
    store: TurnStore
    conversation: str
    person: int
    profile: int
    model: str
    prepared: ChatRequestContext
    history: tuple[types.ChatMessage, ...]
    granted: frozenset[str] = frozenset()
    resumed: ResumePoint | None = None
    searched: bool = True
    asked: str = ""
    received: tuple[OutsideSource, ...] = ()
    opening: Announcements = ()
    reply: int = 0


@dataclass(frozen=True, slots=True)
class AcceptedMessage:
    """The request is stored. `repeated`: its turn existed already, and nothing was done again.

    `message` is the first one of the turn, or the one it answers. A turn that began at once is `claimed`, and its
    opening is to be announced; a queued one has `announced`. `ended` are turns that were ended for it.
    """

    turn: int
    message: ShownMessage
    announced: Announcements = ()
    repeated: bool = False
    claimed: ClaimedTurn | None = None
    ended: tuple[TurnEnd, ...] = ()


@dataclass(frozen=True, slots=True)
class TurnAdmission:
    """Whether another turn is allowed: the one that is `known` already, and those that `ended` for it."""

    known: int | None = None
    ended: tuple[TurnEnd, ...] = ()


@shared_transaction.whole
def begin(request: TurnRequest) -> AcceptedMessage:
    """Store a turn with its first messages. A repeated request finds its turn.

    Raises NotFound, Busy, QuotaSpent, ConfigError or the builder's errors, and then nothing is stored.
    """
    conversation = own(request.person, request.conversation, lock=True, with_state=True)
    client_id = request.builder.client_id_in(conversation)
    room = room_for(conversation, client_id, request.owner)
    if room.known is not None:
        return AcceptedMessage(room.known, present.message(question_of(room.known)), repeated=True)
    draft = request.builder.draft(conversation)
    made = {"client_id": client_id, "owner": request.owner, "program": draft.program}
    turn = row_objects.new(Turn, conversation=conversation, **made)
    _insert_turn(turn, draft.prepared)
    if limited := quotas.limited(conversation.owner_id):
        # On the day of the turn: its end removes a failed request from the count of that day.
        quota_use.spend(limited, turn.created_at)
    accepted = _opened(turn, draft)
    return replace(accepted, ended=room.ended) if room.ended else accepted


def _insert_turn(turn: Turn, prepared: ChatRequestContext) -> None:
    conversation = turn.conversation
    turn.profile_id = conversation.profile_id or 0
    turn.capabilities, turn.format = prepared.request_spec.capabilities.to_json(), prepared.request_spec.format
    if conversation.profile is not None and conversation.profile.pk == turn.profile_id:
        turn.profile = conversation.profile
    if turn.owner:
        turn.status, turn.started_at, turn.lease_until = TurnStatus.RUNNING, timezone.now(), in_future(TURN)
    raw_sql.insert(turn)


def _opened(turn: Turn, draft: Draft) -> AcceptedMessage:
    """Store the first messages of a turn, which end the shown branch from now on."""
    is_new = draft.message.pk is None
    runs = _insert_message(turn, draft) if is_new else []
    asked = draft.message if is_new else question_before(draft.message) or draft.message
    shown = present.message(asked, runs, siblings=branches.siblings(asked) if draft.forks and is_new else ())
    first = (StartedMessage(shown),) if is_new else ()
    if not turn.owner:
        return AcceptedMessage(turn.pk, shown, announce_messages(turn.conversation, *first))
    if draft.call is None:
        begun = _with_reply(turn, draft.prepared, *first, forks=draft.forks and not is_new)
    else:
        announced = announce_messages(turn.conversation, *first, _started(turn, draft.prepared))
        resumed = resume.resumed(turn, runs, rounds=0)
        begun = replace(_claimed(turn, draft.prepared), opening=announced, resumed=resumed)
    if draft.goes_on and begun.history and begun.history[-1].role is Role.ASSISTANT:
        # For this turn only; it is not a message of the transcript.
        begun = replace(begun, history=(*begun.history, types.ChatMessage(Role.USER, GO_ON)))
    return AcceptedMessage(turn.pk, shown, claimed=begun)


def _insert_message(turn: Turn, draft: Draft) -> list[ToolRun]:
    """Store the new message that a turn begins with; return its calls."""
    row, run = draft.message, draft.call
    row.turn = turn
    raw_sql.insert(row)
    turn.conversation.leaf_id = row.pk  # not `leaf`: rows that refer to each other wait for the garbage collector
    if run is None:
        return []
    run.turn, run.message, run.call_id = turn, row, f"{run.call_id}-{row.pk}"
    raw_sql.insert(run)
    return [run]


def _with_reply(turn: Turn, prepared: ChatRequestContext, *first: Thing, forks: bool = False) -> ClaimedTurn:
    """Return a running turn with the empty message for its model; `first` is announced before both."""
    conversation = turn.conversation
    claimed = _claimed(turn, prepared)
    reply = row_objects.new(
        Message,
        conversation=conversation,
        parent_id=conversation.leaf_id,
        role=Role.ASSISTANT,
        finished=False,
        turn=turn,
        outside=outside_content.stored(claimed.received),
    )
    raw_sql.insert(reply)
    conversation.leaf_id = reply.pk
    shown = present.message(reply, siblings=branches.siblings(reply) if forks else ())
    opening = announce_messages(conversation, *first, _started(turn, prepared), StartedMessage(shown))
    return replace(claimed, opening=opening, reply=reply.pk)


def _started(turn: Turn, prepared: ChatRequestContext) -> StartedTurn:
    request_spec = prepared.request_spec
    return StartedTurn(
        turn.pk, request_spec.model, request_spec.format, tuple(tool.name for tool in request_spec.tools)
    )


def _claimed(turn: Turn, prepared: ChatRequestContext) -> ClaimedTurn:
    conversation = turn.conversation
    log = log_of(conversation, turn.pk, attachments.sees(turn.capabilities))
    parts, besides = prepared.prompt_parts, outside_content_sources.of_request(prepared.request_spec, log.messages)
    return ClaimedTurn(
        turn=turn.pk,
        store=TurnStore(turn.owner, turn.pk),
        conversation=str(conversation.pk),
        person=conversation.owner_id,
        profile=turn.profile_id,
        model=prepared.request_spec.model,
        prepared=prepared,
        history=log.messages,
        received=outside_content.merged(log.received, parts.outside, parts.outside_tools, besides),
        asked=log.asked,
        granted=questions.granted(str(conversation.pk)) if getattr(conversation, "has_grants", True) else frozenset(),
        searched="toolset" in conversation.settings,
    )


@transaction.atomic
def claim(turn_id: int, owner: str) -> ClaimedTurn | None:
    """Claim a queued turn for this process; None if another was faster or it was stopped meanwhile.

    A turn that is too early stays queued, for the next sweep of this process or of another one.
    """
    if resume.is_too_early(turn_id):
        return None
    mine = Turn.objects.filter(pk=turn_id, status=TurnStatus.QUEUED)
    hold(*mine.values_list("conversation_id", flat=True))
    if not mine.update(status=TurnStatus.RUNNING, owner=owner, lease_until=in_future(TURN), started_at=Now()):
        return None
    turn = Turn.objects.select_related("conversation", "profile__server").get(pk=turn_id)
    # It continues with the model and the format it began with, which may be for this answer only.
    turn.conversation.profile = turn.profile
    prepared = turn_settings.prepared(turn.conversation)
    runs = list(turn.tool_runs.select_related("message").order_by("id"))
    if not any(run.status in WAITS for run in runs):
        return _with_reply(turn, prepared)
    prepared = resume.gone_on(turn, prepared)
    opening = announce_all(turn.conversation_id, _started(turn, prepared))
    rounds = turn.messages.filter(role=Role.ASSISTANT).count()
    return replace(_claimed(turn, prepared), opening=opening, resumed=resume.resumed(turn, runs, rounds))


def room_for(conversation: Conversation, client_id: str, owner: str) -> TurnAdmission:
    """Return the turn of this client_id, if it exists. Raises Busy if no further turn is allowed.

    Turns of `owner` are alive, even if the database accepted no renewal for some time.
    """
    room, ended = sql.room(conversation, client_id), list[TurnEnd]()
    if room.known is not None:
        return TurnAdmission(room.known)
    if room.open_here:
        # Its process may be dead, or it waits for an answer that a new message replaces: then it is ended.
        here = Turn.objects.filter(conversation=conversation)
        ended = (expire(here.exclude(owner=owner)) if storage.state.steady else []) or supersede(here)
        if not ended:
            raise Busy("An answer is still running here. Stop it or wait for its end.", "conversation")
        conversation.refresh_from_db(fields=["leaf"])
        room = sql.room(conversation, client_id)
    most = settings.ENV["TOOLSUPPORT_TURNS_PER_PERSON"]
    # A turn that waits for a person runs nowhere.
    if room.running >= most:
        raise Busy(f"You have {most} answers running, which is the maximum. Stop one, or wait for its end.", "person")
    return TurnAdmission(ended=tuple(ended))


def question_of(turn_id: int) -> Message:
    """Return the person's message that this turn answers; a regenerated answer has that of the turn before."""
    first = Message.objects.filter(turn_id=turn_id).order_by("id")[0]
    return question_before(first) or first


def question_before(row: Message) -> Message | None:
    """Return the person's message that this message answers, which may be itself."""
    found: Message | None = row
    while found is not None and found.role != Role.USER:
        found = found.parent
    return found
