"""Reads the permissions of a socket's person again: a socket outlives the permissions it was opened with."""

from __future__ import annotations

from collections.abc import Collection

from django.contrib.auth.models import User

from toolsupport.core.errors import NotAllowed
from toolsupport.registry import row_cache, row_objects
from toolsupport.registry.people.permissions import Action, actions_of, actions_of_each


def person(user_id: int, action: Action) -> User:
    """Return the person (only the id is set), who may do `action` now. Raises NotAllowed."""
    if action not in actions_of(user_id):
        raise NotAllowed(f"Your role does not allow you to {action}.")
    return row_objects.new(User, id=user_id)


def kept_out(people: Collection[int]) -> frozenset[int]:
    """Return those of these people (ids) who may no longer chat."""
    allowed = row_cache.read_newest(actions_of_each, frozenset(people))
    return frozenset(person for person in people if Action.CHAT not in allowed.get(person, ()))
