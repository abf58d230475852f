"""Ends a turn in rows: by its process, by a person, or because of a new message.

In: a turn with the reason why it ends. Out: a `TurnEnd` with all that pages must be shown, numbered in order.
Callers: the runner (`end`, `give_up`), handlers of frames (`request_stop`), `begin` (`supersede`), `leases` (`close`).
- A turn ends once: the status is changed by an update that asks for the old one, and only then the rest is closed.
- Afterwards nothing of it is open: no message grows, no call runs, no question waits, and cut calls have a reason.
It never stops a task: a running turn is only asked to stop, and the process that runs it ends it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now

from chat import sentences
from chat.models import Message, ToolRun, Turn
from chat.statuses import OPEN, UNFINISHED, TurnStatus
from chat.transcript import sql
from chat.transcript.announcements import Announcements, EndedQuestion, EndedTurn, FinishedMessage, announce_all
from chat.transcript.conversations import branches
from chat.transcript.conversations.conversations import Person, own
from chat.transcript.locks import hold
from chat.transcript.messages import formatted, present, raw_exchanges
from chat.transcript.messages.raw_exchanges import PreparedExchanges
from chat.transcript.messages.view_models import ShownMessage
from chat.transcript.questions import questions
from chat.transcript.turn_store import LOST, TurnStore
from toolsupport.core.errors import Lost
from toolsupport.core.prompt import token_counts
from toolsupport.registry import shared_transaction
from toolsupport.registry.metrics import call_metrics
from toolsupport.registry.metrics.call_metrics import CallCount
from toolsupport.registry.models import profile_cache
from toolsupport.registry.people import quota_use, quotas

STATUSES = (TurnStatus.DONE, TurnStatus.STOPPED, TurnStatus.INTERRUPTED, TurnStatus.FAILED, TurnStatus.MODEL_CHANGED)


@dataclass(frozen=True, slots=True)
class TurnEnd:
    """A turn has ended: `announced` is the final state of its messages, its closed questions, and its end."""

    turn: int
    conversation: str
    reason: str
    announced: Announcements


@dataclass(frozen=True, slots=True)
class TurnOutcome:
    """How a turn of this process ends. `reply` is the last message: (id, text, thinking, thinking_ms).

    `calls` counts its calls by result, `exchanges` are the requests behind the last message, `html` is it formatted
    (None: not yet).
    """

    reason: str
    detail: str = ""
    usage: Mapping[str, Any] = field(default_factory=dict)
    reply: tuple[int, str, str, int | None] | None = None
    calls: tuple[CallCount, ...] = ()
    exchanges: PreparedExchanges = ()
    html: str | None = None


@transaction.atomic
def request_stop(person: Person, conversation_id: str) -> tuple[int | None, TurnEnd | None]:
    """Request the open turn to stop: (its id or None, its end if no process runs it). Raises NotFound."""
    conversation = own(person, conversation_id, lock=True)
    turn = Turn.objects.filter(conversation=conversation, status__in=OPEN).first()
    return (turn.pk, _stop(turn, "by_you")) if turn else (None, None)


@transaction.atomic
def stop_elsewhere(turn_id: int, why: str) -> list[TurnEnd]:
    """Request a turn to stop that this process no longer runs; return its end if no other process runs it either."""
    still = Turn.objects.filter(pk=turn_id, status__in=OPEN)
    hold(*still.values_list("conversation_id", flat=True))
    turn = still.select_related("conversation", "profile").first()
    ended = _stop(turn, why) if turn else None
    return [ended] if ended else []


def _stop(turn: Turn, why: str) -> TurnEnd | None:
    Turn.objects.filter(pk=turn.pk, stop_requested_at=None).update(stop_requested_at=Now())
    idle = Turn.objects.filter(pk=turn.pk, status__in=(TurnStatus.WAITING, TurnStatus.QUEUED))
    if not idle.update(status=TurnStatus.STOPPED, reason=why, ended_at=Now()):
        return None
    turn.refresh_from_db()
    return close(turn, TurnStatus.STOPPED)


def supersede(turns: QuerySet[Turn]) -> list[TurnEnd]:
    """End those of `turns` that wait for an answer, because of a new message. Must run in a transaction."""
    ended = []
    for turn in turns.filter(status=TurnStatus.WAITING).select_related("conversation", "profile"):
        if Turn.objects.filter(pk=turn.pk, status=TurnStatus.WAITING).update(
            status=TurnStatus.STOPPED, reason="superseded", ended_at=Now()
        ):
            turn.refresh_from_db()
            ended.append(close(turn, "superseded"))
    return ended


@transaction.atomic
def give_up(turn_id: int, why: str) -> list[TurnEnd]:
    """End a queued turn that cannot begin, such as one whose server was removed while it waited for a person."""
    mine = Turn.objects.filter(pk=turn_id, status=TurnStatus.QUEUED)
    hold(*mine.values_list("conversation_id", flat=True))
    if not mine.update(status=TurnStatus.FAILED, reason=why, ended_at=Now()):
        return []
    turn = Turn.objects.select_related("conversation", "profile").get(pk=turn_id)
    return [close(turn, TurnStatus.FAILED)]


@shared_transaction.whole
def end(store: TurnStore, outcome: TurnOutcome) -> TurnEnd:
    """End a turn of this process. Raises Lost, before anything is written, if it no longer owns the turn."""
    status = outcome.reason if outcome.reason in STATUSES else TurnStatus.DONE
    turn = sql.end_turn(store.owner, store.turn, (status, outcome.detail, dict(outcome.usage)))
    if turn is None:
        raise Lost(LOST)
    if outcome.reply is not None:
        sql.write_reply(turn.pk, outcome.reply)
        raw_exchanges.keep(turn, outcome.reply[0], outcome.exchanges)
    if outcome.calls:
        call_metrics.add(turn.profile_id, outcome.calls)
    return close(turn, outcome.reason, outcome.html)


def close(turn: Turn, reason: str, html: str | None = None) -> TurnEnd:
    """Close everything that a turn left open, so that nothing of it changes any more; `html` is of its last message."""
    profile = profile_cache.profile(turn.profile_id)
    if profile is not None:
        turn.profile = profile
    answers = sql.answers_of(turn.pk)
    _count_for_quota(turn, reason, answers)
    last = answers[-1] if answers else None
    # The last message shows how the turn ended, so it is shown again even if it was whole.
    again = [row for row in answers if not row.finished or row is last]
    closed: tuple[int, ...] = ()
    if reason != TurnStatus.DONE:
        open_runs = ToolRun.objects.filter(turn=turn, status__in=UNFINISHED)
        status = TurnStatus.INTERRUPTED if reason == TurnStatus.INTERRUPTED else TurnStatus.STOPPED
        open_runs.update(status=status, error="Not finished: the answer ended first.", snapshot=None)
        closed = questions.close_all(turn, reason)
    for row in again:
        row.turn = turn
        if not row.finished:
            row.finished = True
            sql.finish(row.pk)
    announced = announce_all(
        turn.conversation_id,
        *(FinishedMessage(_last_state(row, row is last, html if row is last else None)) for row in again),
        *(EndedQuestion(question, reason) for question in closed),
        EndedTurn(turn.pk, "stopped" if reason == "superseded" else reason, sentences.ending(turn.reason), turn.usage),
    )
    return TurnEnd(turn.pk, str(turn.conversation_id), reason, announced)


def _count_for_quota(turn: Turn, reason: str, answers: Sequence[Message]) -> None:
    """Count the tokens of a turn; one that failed before its model wrote anything is no request."""
    limited = quotas.limited(getattr(turn, "person", None) or turn.conversation.owner_id)
    if not limited:
        return
    used = turn.usage.get("prompt_tokens", 0) + turn.usage.get("output_tokens", 0)
    written = sum(len(row.content) + len(row.thinking) for row in answers)
    if written and (reason != TurnStatus.DONE or not used):
        used = max(used, _context_before(turn) + token_counts.of_characters(written))
    failed = reason == TurnStatus.FAILED and not used
    counted = quota_use.CountedRequest(limited, turn.created_at.astimezone(UTC).date())
    quota_use.settle(counted, used, given_back=failed)


def _context_before(turn: Turn) -> int:
    """Return the tokens that the chat had before this turn: servers count at the end, which a stopped answer lacks."""
    before = Turn.objects.filter(conversation_id=turn.conversation_id, pk__lt=turn.pk)
    usage = before.order_by("-pk").values_list("usage", flat=True).first() or {}
    return int(usage.get("context_tokens", 0))


def _last_state(row: Message, last: bool, html: str | None) -> ShownMessage:
    runs = sql.runs_of(row)
    formatted.keep(row, present.readable(row.content, present.unreadable_calls(runs)), html)
    return present.message(row, runs, last, branches.siblings(row))
