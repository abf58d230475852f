"""Fences writes to a turn: each transaction checks that the process still owns the turn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from django.db import transaction

from chat.models import Turn
from chat.statuses import TurnStatus
from chat.transcript import sql
from toolsupport.core.errors import Lost

P = ParamSpec("P")
Result = TypeVar("Result")
LOST = "This answer has ended, or another process runs it."


@dataclass(frozen=True, slots=True)
class TurnStore:
    """The ownership of a claimed turn. Everything that a running turn writes goes through a `fenced` function."""

    owner: str
    turn: int

    def held(self) -> Turn:
        """Return the turn, locked until the transaction ends. Raises Lost unless `owner` runs it.

        The lease is not compared: a process that takes a turn with an expired lease changes its status in the same
        statement.
        """
        # The conversation first, as in all code that ends a turn: another order of locks could deadlock.
        sql.hold_conversation_of(self.turn)
        mine = Turn.objects.filter(pk=self.turn, owner=self.owner, status=TurnStatus.RUNNING)
        mine = mine.select_related("conversation", "profile__server")
        turn = mine.select_for_update(of=("self",), no_key=True).first()
        if turn is None:
            raise Lost(LOST)
        return turn


def fenced(work: Callable[Concatenate[Turn, P], Result]) -> Callable[Concatenate[TurnStore, P], Result]:
    """Decorate a function that writes rows of a turn: called with a TurnStore, it gets the turn, in one transaction.

    Raises Lost, before anything is written, if the store's owner no longer runs the turn.
    """

    @wraps(work)
    def write(store: TurnStore, /, *args: P.args, **kwargs: P.kwargs) -> Result:
        with transaction.atomic():
            return work(store.held(), *args, **kwargs)

    return write
