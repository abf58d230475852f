"""Checks for all open sockets at once whether their people still have access."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice

from django.contrib.auth.models import User
from django.utils import timezone

from toolsupport.models import Session
from toolsupport.registry import row_cache
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
    checked = row_cache.read_newest(_checked, frozenset(passes), action)
    if checked.until is not None and checked.until <= timezone.now():
        checked = _checked(passes, action)
    return checked.refused


@dataclass(slots=True)
class _CheckedSockets:
    """The sockets to close, by the rows alone `until` a session expires."""

    refused: dict[SocketAccess, str] = field(default_factory=dict)
    until: datetime | None = None


def _checked(passes: Collection[SocketAccess], action: Action) -> _CheckedSockets:
    found = _CheckedSockets()
    waiting = iter(passes)
    while some := list(islice(waiting, AT_ONCE)):
        sessions = {one.session for one in some}
        rows = Session.objects.filter(session_key__in=sessions, expire_date__gt=timezone.now())
        living = dict(rows.values_list("session_key", "expire_date"))
        found.until = min((*living.values(), *([found.until] if found.until else ())), default=None)
        found.refused.update(_refused(some, action, set(living)))
    return found


def _refused(passes: Collection[SocketAccess], action: Action, living: set[str]) -> Iterator[tuple[SocketAccess, str]]:
    """Run three queries, for any number of sockets; `living` are their sessions that have not expired."""
    people = {one.person for one in passes}
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
