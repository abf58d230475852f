"""The person behind a socket, read afresh: a socket outlives the rights it was opened with."""

from __future__ import annotations

from django.contrib.auth.models import User

from toolsupport.access import Action, may
from toolsupport.core.errors import NotAllowed


def person(user_id: int, action: Action) -> User:
    """The person, who may do `action` at this moment. Raises NotAllowed."""
    found = User.objects.filter(pk=user_id).first()
    if found is None or not may(found, action):
        raise NotAllowed(f"Your role does not allow you to {action}.")
    return found
