"""Checks for all open sockets at once whether their people still have access."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import islice

from django.contrib.auth.models import User
from django.utils import timezone

from toolsupport.models import Session
from toolsupport.registry.people import session_store
from toolsupport.registry.people.permissions import Action, actions_of_each

AT_ONCE = 500
SIGNED_OUT, FORBIDDEN = "signed_out", "forbidden"


@dataclass(frozen=True, slots=True)
class SocketAccess:
    """The basis of a socket's access: the person, the browser's session, the password's hash at that time."""

    person: int
    session: str
    mark: str


def refused(passes: Collection[SocketAccess], action: Action) -> dict[SocketAccess, str]:
    """Return the sockets to close, and why: SIGNED_OUT (session, password, person) or FORBIDDEN (the role)."""
    found: dict[SocketAccess, str] = {}
    waiting = iter(passes)
    while some := list(islice(waiting, AT_ONCE)):
        found.update(_refused(some, action))
    return found


def _refused(passes: Collection[SocketAccess], action: Action) -> Iterator[tuple[SocketAccess, str]]:
    """Run four queries, for any number of sockets."""
    people = {one.person for one in passes}
    rows = Session.objects.filter(session_key__in={one.session for one in passes}, expire_date__gt=timezone.now())
    living = set(rows.values_list("session_key", flat=True))
    living -= session_store.confined_keys(living)
    marks = {user.pk: _marks(user) for user in User.objects.filter(pk__in=people, is_active=True)}
    allowed = actions_of_each(people)
    for one in passes:
        if one.session not in living or one.mark not in marks.get(one.person, ()):
            yield one, SIGNED_OUT
        elif action not in allowed.get(one.person, ()):
            yield one, FORBIDDEN


def _marks(user: User) -> tuple[str, ...]:
    """Return the valid session hashes: by the current signing key, or by an old one during its rotation."""
    return (user.get_session_auth_hash(), *user.get_session_auth_fallback_hash())
