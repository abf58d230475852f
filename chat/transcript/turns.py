"""The life of a turn in rows: accepted, claimed, kept alive, ended, settled."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now

from chat.models import OPEN, Conversation, Message, ToolRun, Turn
from chat.shown import ShownMessage
from chat.transcript import shown
from chat.transcript.clock import in_future, lease
from chat.transcript.conversations import Person, announce, own
from chat.transcript.history import canonical
from toolsupport.core import words
from toolsupport.core.errors import Busy, ConfigError
from toolsupport.core.words import Role

TITLE_LENGTH = 60
PATIENCE = timedelta(seconds=2)


@dataclass(frozen=True, slots=True)
class Sent:
    """What a person sent. `client_id` makes sending it twice one act."""

    client_id: str
    text: str
    parent: int | None = None


@dataclass(frozen=True, slots=True)
class Accepted:
    """The message is kept. `repeated` says that this client_id was already known: nothing was done again."""

    turn: int
    message: ShownMessage
    seq: int
    repeated: bool = False


@dataclass(frozen=True, slots=True)
class Claimed:
    """A turn this process owns now, with all it needs to run."""

    turn: int
    conversation: str
    owner_id: int
    profile: int
    model: str
    settings: Mapping[str, Any]
    history: tuple[words.Message, ...]


@dataclass(frozen=True, slots=True)
class Ended:
    """A turn is over. `messages` are those whose last state must be shown again."""

    turn: int
    conversation: str
    seq: int
    reason: str
    detail: str
    usage: Mapping[str, Any]
    messages: tuple[ShownMessage, ...] = ()


@dataclass(frozen=True, slots=True)
class Pulse:
    """What the rows say to a process that keeps its turns alive."""

    lost: frozenset[int] = field(default_factory=frozenset)
    stop: frozenset[int] = field(default_factory=frozenset)


@transaction.atomic
def accept(person: Person, conversation_id: str, sent: Sent) -> Accepted:
    """Keep a message with the turn that will answer it. Raises NotFound, Busy or ConfigError."""
    conversation = own(person, conversation_id)
    Conversation.objects.select_for_update().filter(pk=conversation.pk).first()
    known = Turn.objects.filter(conversation=conversation, client_id=sent.client_id).first()
    if known is not None:
        asked = known.messages.filter(role=Role.USER).first()
        if asked is not None:
            return Accepted(known.pk, shown.message(asked), conversation.tail, repeated=True)
    _room_for_another(person, conversation)
    if conversation.profile_id is None:
        raise ConfigError("Choose a model first.")
    turn = Turn.objects.create(conversation=conversation, client_id=sent.client_id, profile_id=conversation.profile_id)
    leaf = Conversation.objects.values_list("leaf_id", flat=True).get(pk=conversation.pk)
    asked = Message.objects.create(
        conversation=conversation, parent_id=leaf, role=Role.USER, content=sent.text, turn=turn
    )
    title = conversation.title or title_of(sent.text)
    Conversation.objects.filter(pk=conversation.pk).update(leaf=asked, title=title)
    return Accepted(turn.pk, shown.message(asked), announce(conversation))


def title_of(text: str) -> str:
    """A title from the first words of the first message, cut at a word."""
    line = " ".join(text.split())
    if len(line) <= TITLE_LENGTH:
        return line
    return line[:TITLE_LENGTH].rsplit(" ", 1)[0].rstrip(",.;:") + "…"


def _room_for_another(person: Person, conversation: Conversation) -> None:
    expire(Turn.objects.filter(conversation=conversation))
    if Turn.objects.filter(conversation=conversation, status__in=OPEN).exists():
        raise Busy("An answer is still being written here. Stop it or wait for its end.", "conversation")
    most = settings.ENV["TOOLSUPPORT_TURNS_PER_PERSON"]
    if Turn.objects.filter(conversation__owner_id=person.pk, status__in=OPEN).count() >= most:
        raise Busy(f"You have {most} answers running already, the most that are allowed at once.", "person")


@transaction.atomic
def claim(turn_id: int, owner: str) -> Claimed | None:
    """Make a queued turn this process's own; None when another was faster or it was stopped meanwhile."""
    mine = Turn.objects.filter(pk=turn_id, status="queued").update(
        status="running", owner=owner, lease_until=lease(), started_at=Now()
    )
    if not mine:
        return None
    turn = Turn.objects.select_related("conversation", "profile").get(pk=turn_id)
    return Claimed(
        turn=turn.pk,
        conversation=str(turn.conversation_id),
        owner_id=turn.conversation.owner_id,
        profile=turn.profile_id,
        model=turn.profile.name,
        settings=turn.conversation.settings,
        history=canonical(turn.conversation),
    )


@transaction.atomic
def begin(turn_id: int, capabilities: Mapping[str, Any], format: str) -> int:
    """Keep what the turn began with; gives the number of its announcement."""
    turn = Turn.objects.select_related("conversation").get(pk=turn_id)
    Turn.objects.filter(pk=turn_id).update(capabilities=capabilities, format=format)
    return announce(turn.conversation)


@transaction.atomic
def keep_alive(owner: str, turns: Iterable[int], texts: Iterable[tuple[int, str, str]]) -> Pulse:
    """Renew the leases of `turns`, write grown texts (message, text, thinking), hear what is wanted of them.

    Fenced: a turn that is no longer `owner`'s is reported as lost, and its texts are not written.
    """
    turns = list(turns)
    mine = Turn.objects.filter(pk__in=turns, owner=owner, status="running")
    mine.update(lease_until=lease())
    alive = dict(mine.values_list("pk", "stop_requested_at"))
    for message, text, thinking in texts:
        Message.objects.filter(pk=message, finished=False, turn__in=alive).update(content=text, thinking=thinking)
    return Pulse(lost=frozenset(turns) - frozenset(alive), stop=frozenset(pk for pk, asked in alive.items() if asked))


@transaction.atomic
def request_stop(person: Person, conversation_id: str) -> int | None:
    """Ask for the open turn to stop; gives its id, or None when nothing runs. Raises NotFound."""
    conversation = own(person, conversation_id)
    turn = Turn.objects.filter(conversation=conversation, status__in=OPEN).first()
    if turn is None:
        return None
    Turn.objects.filter(pk=turn.pk, stop_requested_at=None).update(stop_requested_at=Now())
    return turn.pk


@transaction.atomic
def end(owner: str, turn_id: int, outcome: tuple[str, str], usage: Mapping[str, Any]) -> Ended | None:
    """End a turn of this process with (reason, detail). None when it is no longer its own."""
    reason, detail = outcome
    status = reason if reason in ("done", "stopped", "interrupted", "failed") else "done"
    mine = Turn.objects.filter(pk=turn_id, owner=owner, status__in=OPEN)
    if not mine.update(status=status, reason=detail, usage=dict(usage), ended_at=Now(), lease_until=None):
        return None
    return _close(Turn.objects.select_related("conversation").get(pk=turn_id), reason)


@transaction.atomic
def settle() -> tuple[list[Ended], list[int]]:
    """Interrupt the turns whose lease ran out; also gives the queued turns that nobody claimed in time."""
    ended = expire(Turn.objects.all())
    waiting = Turn.objects.filter(status="queued", created_at__lt=in_future(-PATIENCE))
    return ended, list(waiting.values_list("pk", flat=True)[:50])


def expire(turns: Any) -> list[Ended]:
    """Interrupt those of `turns` whose lease ran out, and only those. Must run inside a transaction."""
    expired = turns.filter(status="running").filter(Q(lease_until__lt=Now()) | Q(lease_until=None))
    ended = []
    for turn in expired.select_related("conversation"):
        text = "The server that wrote this answer stopped before it was finished."
        changed = turns.model.objects.filter(pk=turn.pk, status="running", lease_until=turn.lease_until)
        if changed.update(status="interrupted", reason=text, ended_at=Now(), lease_until=None):
            turn.refresh_from_db()
            ended.append(_close(turn, "interrupted"))
    return ended


def _close(turn: Turn, reason: str) -> Ended:
    """Finish what a turn left open, so that nothing of it changes any more."""
    answers = turn.messages.filter(role=Role.ASSISTANT).order_by("id")
    last = answers.values_list("pk", flat=True).last()
    # A bad end is told in the turn's last message, so that one is shown again even if it was whole.
    again = set(answers.filter(finished=False).values_list("pk", flat=True))
    again |= {last} if last and reason != "done" else set()
    ToolRun.objects.filter(turn=turn, status="running").update(
        status="stopped" if reason == "stopped" else "interrupted", error=f"The turn was {reason}."
    )
    answers.filter(finished=False).update(finished=True)
    seq = announce(turn.conversation, len(again) + 1)
    rows = answers.filter(pk__in=again).select_related("turn__profile")
    return Ended(
        turn=turn.pk,
        conversation=str(turn.conversation_id),
        seq=seq,
        reason=reason,
        detail=turn.reason,
        usage=turn.usage,
        messages=tuple(shown.message(row, row.tool_runs.all(), row.pk == last) for row in rows),
    )


def open_turns(owner: str) -> int:
    """How many turns this process still has open, by the rows."""
    return Turn.objects.filter(owner=owner, status__in=OPEN).count()
