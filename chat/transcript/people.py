"""The person behind a socket, read afresh: a socket outlives the rights it was opened with."""

from __future__ import annotations

from django.contrib.auth.models import User

from toolsupport.access import Action, actions_of
from toolsupport.core.errors import NotAllowed


def person(user_id: int, action: Action) -> User:
    """The person (only the id is filled), who may do `action` at this moment. Raises NotAllowed."""
    if action not in actions_of(user_id):
        raise NotAllowed(f"Your role does not allow you to {action}.")
    return User(pk=user_id)
