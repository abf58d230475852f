"""Manages the leases of turns: renews them together with grown texts, and settles expired ones.

In: the id of a process, its turns and their grown texts. Out: which turns it lost and which are to stop; the turns
that were interrupted. Callers: the runner, on every tick (`keep_alive`, `settle`) and when it lost a turn
(`keep_rest`), and `begin`, which frees a conversation whose process is dead (`expire`).
- A running turn has one owner, and only that owner writes its rows: a turn without its lease is reported as lost.
- A lease runs out by the database's clock, never by that of a process.
- A turn ends once: the update that ends it asks again whether the lease ran out, so two processes cannot both do it.
It never takes a turn over: one whose process died is interrupted, and only a person continues with it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import timedelta

from django.db import transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from chat.models import Message, Turn
from chat.statuses import TurnStatus
from chat.transcript import sql
from chat.transcript.locks import hold
from chat.transcript.turns.end import TurnEnd, close
from toolsupport.registry import leases, storage

PATIENCE = timedelta(seconds=2)
GONE = "process_gone"  # the reason of a turn whose lease expired


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """The rows' answer to a process that renews its turns."""

    lost: frozenset[int] = field(default_factory=frozenset)
    stop: frozenset[int] = field(default_factory=frozenset)


@transaction.atomic
def keep_alive(
    owner: str, turns: Iterable[int], texts: Iterable[tuple[int, str, str]], renew: bool = True
) -> Heartbeat:
    """Store grown texts (message, text, thinking), `renew` the leases of `turns`; return which turns should stop.

    Fenced: a turn that `owner` no longer owns is reported as lost, and its texts are not stored.
    """
    turns = list(turns)
    alive = sql.owned(owner, turns, leases.TURN if renew else None)
    sql.write_grown(owner, texts)
    return Heartbeat(
        lost=frozenset(turns) - frozenset(alive), stop=frozenset(pk for pk, asked in alive.items() if asked)
    )


@transaction.atomic
def keep_rest(owner: str, turn: int, reply: tuple[int, str, str]) -> None:
    """Store the rest of an answer that another process interrupted while this one could not write.

    `reply` is its message, text and thinking, as people saw them. They only extend the stored text: a text that was
    changed since stays as it is.
    """
    gone = Turn.objects.filter(pk=turn, owner=owner, status=TurnStatus.INTERRUPTED, reason=GONE)
    hold(*gone.values_list("conversation_id", flat=True))
    message, text, thinking = reply
    row = Message.objects.filter(pk=message, turn__in=gone).first()
    if row and text.startswith(row.content) and thinking.startswith(row.thinking):
        Message.objects.filter(pk=message).update(content=text, thinking=thinking)


def settle(running: Collection[int] = (), only: str = "") -> tuple[list[TurnEnd], list[int]]:
    """Interrupt the turns with an expired lease; also return the queued turns that no process claimed in time.

    Those `running` in this process are alive, even if the database accepted no renewal for some time. After such a time
    the leases of other processes are not judged either, until they could be renewed. If `only` one process serves the
    database, the turns of all others are abandoned, however long their leases are.
    """
    # Each process looks every second, and mostly it runs all of them itself.
    others = sql.unended() - frozenset(running)
    return _settle(others, only) if others else ([], [])


@transaction.atomic
def _settle(others: Collection[int], only: str) -> tuple[list[TurnEnd], list[int]]:
    """Check turns that wait or run elsewhere."""
    unended = Turn.objects.filter(pk__in=others)
    ended = expire(unended, only) if storage.state.steady else []
    waiting = unended.filter(
        status=TurnStatus.QUEUED, created_at__lt=leases.in_future(-PATIENCE), stop_requested_at=None
    )
    return ended, list(waiting.values_list("pk", flat=True)[:50])


def expire(turns: QuerySet[Turn], only: str = "") -> list[TurnEnd]:
    """Interrupt those of `turns` with an expired lease, and only those. Must run in a transaction.

    `only` is the process that alone serves the database, "" if there may be several.
    """
    gone = leases.ran_out() | ~Q(owner=only) if only else leases.ran_out()
    ran_out = Q(gone, status=TurnStatus.RUNNING)
    expired = turns.filter(ran_out)
    hold(*expired.values_list("conversation_id", flat=True))
    ended = []
    interrupted = {"status": TurnStatus.INTERRUPTED, "ended_at": Now(), "lease_until": None}
    interrupted["reason"] = GONE
    for turn in expired.select_related("conversation", "profile"):
        # Compared again by the database: a time read from a row of SQLite need not equal that row's own text.
        if Turn.objects.filter(ran_out, pk=turn.pk).update(**interrupted):
            turn.refresh_from_db()
            ended.append(close(turn, TurnStatus.INTERRUPTED))
    return ended
