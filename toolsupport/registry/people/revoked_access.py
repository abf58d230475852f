"""Finds the programs of running answers whose person or key lost access, all at once."""

from __future__ import annotations

from collections.abc import Collection

from django.db.models.functions import Now

from toolsupport.models import ApiKey
from toolsupport.registry.people.permissions import Action, actions_of_each

Access = tuple[int, int]  # a person, and the id of their key, 0 for a session


def refused(held: Collection[Access], action: Action) -> set[Access]:
    """Return those whose person may not do this any more, or whose key was revoked or has expired: two queries."""
    allowed = actions_of_each({person for person, _ in held})
    keys = ApiKey.objects.filter(pk__in={key for _, key in held}, revoked_at=None).exclude(expires_at__lte=Now())
    valid = {0, *keys.values_list("pk", flat=True)}
    return {(person, key) for person, key in held if key not in valid or action not in allowed.get(person, ())}
