"""Reads the permissions of a socket's person again: a socket outlives the permissions it was opened with."""

from __future__ import annotations

from collections.abc import Collection

from django.contrib.auth.models import User

from chat.models import Turn
from toolsupport.core.errors import NotAllowed
from toolsupport.registry.people.permissions import Action, actions_of, actions_of_each


def person(user_id: int, action: Action) -> User:
    """Return the person (only the id is set), who may do `action` now. Raises NotAllowed."""
    if action not in actions_of(user_id):
        raise NotAllowed(f"Your role does not allow you to {action}.")
    return User(pk=user_id)


def kept_out(turns: Collection[int]) -> frozenset[int]:
    """Return those of these turns (ids) whose person may no longer chat."""
    owners = dict(Turn.objects.filter(pk__in=turns).values_list("pk", "conversation__owner_id"))
    allowed = actions_of_each(set(owners.values()))
    return frozenset(turn for turn, owner in owners.items() if Action.CHAT not in allowed.get(owner, ()))
